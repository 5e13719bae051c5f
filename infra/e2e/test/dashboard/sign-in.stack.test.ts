import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readStack, until } from '@pf/testing';
import type { Browser } from 'playwright-core';
import { openBrowser, signIn, signUp, visit, type Visitor } from './browser.ts';

const { dashboard, accountId } = readStack();
const { url } = dashboard;
const newAddress = (): string => `visitor-${Date.now()}-${Math.floor(Math.random() * 1e6)}@shop.example`;

let browser: Browser;
let visitor: Visitor;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
afterEach(async () => {
  await visitor.context.close();
  expect(visitor.complaints).toEqual([]);
});

describe('a newcomer in the browser', () => {
  it('signs up, confirms the address, names a business and creates a key', async () => {
    visitor = await visit(browser);
    const { page } = visitor;
    const email = newAddress();
    await page.goto(`${url}/`);
    await page.getByRole('link', { name: 'Create an account' }).click();
    await signUp(page, { email, business: "Nora's Bikes" });
    await page.waitForURL('**/test/home');

    await page.getByRole('link', { name: 'API keys' }).first().click();
    await page.getByRole('button', { name: 'New test key' }).first().click();
    await page.getByLabel('Name').fill('Checkout server');
    await page.getByRole('button', { name: 'Create key' }).click();
    const secret = await page.getByRole('dialog').locator('code').textContent();
    expect(secret).toMatch(/^pk_test_\w{32}$/);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('row', { name: /Checkout server/ }).waitFor();
    expect(await page.content()).not.toContain(secret);

    await page.getByRole('button', { name: 'Revoke Checkout server' }).click();
    const asked = page.getByRole('dialog');
    expect(await asked.textContent()).toContain('This cannot be undone.');
    await asked.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('Revoked', { exact: true }).waitFor();
  });
});

describe('sign-in in the browser', () => {
  it('says what is wrong, and leads to the page that was asked for', async () => {
    visitor = await visit(browser);
    const { page } = visitor;
    await page.goto(`${url}/accounts/${accountId}/live/team`);
    await page.waitForURL('**/sign-in?next=*');
    await page.getByLabel('E-mail').fill(dashboard.email);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    expect(await page.getByRole('alert').textContent()).toContain('The e-mail address or the password is wrong.');
    await page.getByLabel('Password').fill(dashboard.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(`**/accounts/${accountId}/live/team`);
    await page.getByRole('row', { name: new RegExp(dashboard.email) }).waitFor();
  });

  it('does not follow a link to another site', async () => {
    visitor = await visit(browser);
    const { page } = visitor;
    await page.goto(`${url}/sign-in?next=${encodeURIComponent('//evil.example/')}`);
    await page.getByLabel('E-mail').fill(dashboard.email);
    await page.getByLabel('Password').fill(dashboard.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(`${url}/accounts/**`);
  });

  it('ends in every tab with the session, and shows nothing of it afterwards', async () => {
    visitor = await visit(browser);
    const { page, context } = visitor;
    await signIn(page, dashboard);
    await page.goto(`${url}/accounts/${accountId}/test/team`);
    await page.getByRole('row', { name: new RegExp(dashboard.email) }).waitFor();
    const other = await context.newPage();
    await other.goto(`${url}/accounts/${accountId}/test/developers/keys`);
    await other.getByRole('button', { name: /^You:/ }).click();
    await other.getByRole('menuitem', { name: 'Sign out' }).click();
    await other.waitForURL('**/sign-in');
    await page.reload();
    await page.waitForURL('**/sign-in?next=*');
    expect(await page.content()).not.toContain('Olivia');
  });
});

describe('the modes in the browser', () => {
  it('are distinguished on every page, by words and by color', async () => {
    visitor = await visit(browser);
    const { page } = visitor;
    await signIn(page, dashboard);
    await page.goto(`${url}/accounts/${accountId}/test/developers/keys`);
    await page.getByText('No real money moves here.').waitFor();
    const color = async (): Promise<string> => {
      await page.locator('.button.main').first().waitFor();
      return page.evaluate("getComputedStyle(document.querySelector('.button.main')).backgroundColor");
    };
    const ofTest = await color();
    await page.getByRole('radio', { name: 'Live' }).check({ force: true });
    await page.waitForURL(`**/accounts/${accountId}/live/developers/keys`);
    await page.getByRole('button', { name: 'New live key' }).first().waitFor();
    expect(await page.getByText('No real money moves here.').count()).toBe(0);
    // The color changes in a transition.
    await until('another color', async () => (await color()) !== ofTest);
  });
});
