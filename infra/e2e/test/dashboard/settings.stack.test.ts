import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readStack } from '@pf/testing';
import type { Browser } from 'playwright-core';
import { openBrowser, signIn, visit } from './browser.ts';
import { type Clerk, clerkOf, newMember, newShop, type Shop } from './shop.ts';

const { dashboard } = readStack();
const { url } = dashboard;
const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let browser: Browser;
let owner: Clerk;
let shop: Shop;
beforeAll(async () => {
  [browser, owner] = await Promise.all([openBrowser(), clerkOf(dashboard)]);
  shop = await newShop(owner, 'Settings Ltd.');
});
afterAll(() => browser.close());

describe('the settings in the browser', () => {
  it('are saved, show errors at their fields, and prefill new payments', async () => {
    const { context, page, complaints } = await visit(browser);
    await signIn(page, dashboard);
    const inAccount = `${url}/accounts/${shop.accountId}/test`;
    await page.goto(`${inAccount}/settings`);
    await page.getByLabel('Accent color optional').fill('#ffff00');
    await page.getByRole('button', { name: 'Save branding' }).click();
    await page.locator('.field-error').getByText('must be darker', { exact: false }).waitFor();
    await page.getByLabel('Accent color optional').fill('#1d4ed8');
    await page.getByLabel('Support link').fill('https://shop.example/help');
    await page.getByRole('button', { name: 'Save branding' }).click();
    await page.getByText('The settings are saved.').first().waitFor();
    await page.getByLabel('Base optional').fill(WALLET);
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await page.getByRole('button', { name: 'Save wallets' }).click();
    expect((await saved).status()).toBe(200);
    await page.getByLabel('Origins').fill('https://shop.example\nhttps://shop.example/path');
    await page.getByRole('button', { name: 'Save origins' }).click();
    await page.locator('.field-error').getByText('an origin as browsers send it', { exact: false }).waitFor();

    await page.goto(`${inAccount}/payments?new`);
    await page.getByText('The wallet of your settings.').waitFor();
    expect(await page.getByLabel('To wallet').inputValue()).toBe(WALLET);
    await context.close();
    expect(complaints).toEqual([]);
  });

  it('can be read by every role', async () => {
    const { context, page } = await visit(browser);
    await signIn(page, { url, ...(await newMember(url, owner, shop, 'viewer')) });
    await page.goto(`${url}/accounts/${shop.accountId}/test/settings`);
    await page.getByText('Your role is viewer. Only owners and developers can change these settings.').waitFor();
    await page.getByText('https://shop.example/help').waitFor();
    await context.close();
  });
});
