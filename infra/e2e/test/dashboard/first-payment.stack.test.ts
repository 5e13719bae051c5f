import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, readStack, type WebhookReceiver, webhookReceiver } from '@pf/testing';
import type { Browser } from 'playwright-core';
import { openBrowser, signUp, visit } from './browser.ts';

const {
  baseUrl,
  dashboard: { url },
} = readStack();

let browser: Browser;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [browser, receiver] = await Promise.all([openBrowser(), webhookReceiver()]);
});
afterAll(() => Promise.all([browser.close(), receiver.close()]));

describe('a newcomer in the browser', () => {
  it('gets from sign-up to a paid test payment, its webhook and its events, without reloading', async () => {
    const { context, page, complaints } = await visit(browser);
    const email = `newcomer-${Date.now()}@shop.example`;
    await page.goto(`${url}/sign-up`);
    await signUp(page, { email, business: "Nora's Bikes" });
    await page.getByRole('heading', { name: 'Your first test payment' }).waitFor();
    // From here on nothing is loaded again: a reload would take this away.
    await page.evaluate('window.isSamePage = true');

    await page.getByRole('link', { name: 'Add a webhook' }).click();
    await page.getByRole('button', { name: 'Add endpoint' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Add endpoint' }).click();
    expect(await dialog.locator('code').textContent()).toMatch(/^whsec_/);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();

    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'New test key' }).first().click();
    await dialog.getByLabel('Name').fill('Checkout server');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const key = (await dialog.locator('code').textContent()) ?? '';
    expect(key).toMatch(/^pk_test_/);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();

    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByRole('link', { name: 'New payment' }).click();
    await dialog.getByLabel('Order').fill('A-1001');
    await dialog.getByRole('button', { name: 'Create payment' }).click();
    await page.getByRole('heading', { level: 1, name: /12\.50/ }).waitFor();
    await page.getByRole('button', { name: 'Simulate' }).click();
    await page.getByRole('menuitem', { name: /^Paid/ }).click();

    const paid = page.locator('.timeline > li').filter({ hasText: 'The payer saw: Paid.' });
    await paid.getByText('Delivered').waitFor();
    expect(await paid.textContent()).toContain(receiver.url);
    expect(receiver.received.map(({ body }) => body.type)).toContain('intent.confirmed');

    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page.getByRole('button', { name: 'intent.confirmed' }).click();
    await dialog.getByText('"order": "A-1001"').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.getByRole('row', { name: /12\.50 USDC Paid order: A-1001/ }).waitFor();

    // What a program does with the key appears by itself.
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByRole('row', { name: /12\.50 USDC Paid/ }).waitFor();
    const api = apiClient(baseUrl, key);
    const { body } = await api.create({
      chain: 'eip155:84532',
      token: 'USDC',
      amount: '7.25',
      requestor: '0x1111111111111111111111111111111111111111',
    });
    await page.getByRole('row', { name: /7\.25 USDC Waiting/ }).waitFor();
    await api.simulate(body.intent.id, 'confirmed');
    await page.getByRole('row', { name: /7\.25 USDC Paid/ }).waitFor();
    expect(await page.evaluate('window.isSamePage')).toBe(true);
    await context.close();
    expect(complaints).toEqual([]);
  });
});
