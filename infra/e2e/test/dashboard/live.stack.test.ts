import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, readStack, until } from '@pf/testing';
import type { Browser } from 'playwright-core';
import { openBrowser, signIn, visit, type Visitor } from './browser.ts';
import { clerkOf, newShop, type Shop } from './shop.ts';

const stack = readStack();
const { dashboard } = stack;
/** Longer than the 10 s after which pages without a stream are read again. */
const QUIET_MS = 12_000;

let browser: Browser;
let shop: Shop;
let visitor: Visitor;
beforeAll(async () => {
  browser = await openBrowser();
  shop = await newShop(await clerkOf(dashboard), 'Live');
});
afterAll(() => browser.close());
afterEach(async () => {
  await visitor.context.close();
  expect(visitor.complaints).toEqual([]);
});

const pay = async (amount: string): Promise<void> => {
  const api = apiClient(stack.baseUrl, shop.key);
  const { body } = await api.create({
    chain: 'eip155:84532',
    token: 'USDC',
    amount,
    requestor: '0x1111111111111111111111111111111111111111',
  });
  await api.simulate(body.intent.id, 'confirmed');
};
const pageOf = (page: string): string => `${dashboard.url}/accounts/${shop.accountId}/test/${page}`;

describe('the pages of an account in the browser', () => {
  it('update by a stream, and request nothing while nothing happens', async () => {
    await pay('1.01');
    visitor = await visit(browser);
    const { page } = visitor;
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().includes('/summary')) asked += 1;
    });
    await signIn(page, dashboard);
    const followed = page.waitForResponse((response) => response.url().endsWith('/stream') && response.ok());
    await page.goto(pageOf('home'));
    await followed;
    await page.getByRole('row', { name: /1\.01 USDC Paid/ }).waitFor();
    // What was read before the stream began is read once more.
    await until(
      'a while without a question',
      async () => {
        const before = asked;
        await page.waitForTimeout(QUIET_MS);
        return asked === before;
      },
      4 * QUIET_MS,
    );
    await pay('2.02');
    await page.getByRole('row', { name: /2\.02 USDC Paid/ }).waitFor();
    await until('the numbers', async () => (await page.locator('.tiles').textContent())?.includes('3.03') ?? false);
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page.getByRole('row', { name: /intent\.confirmed .*2\.02/ }).waitFor();
    await pay('3.03');
    await page.getByRole('row', { name: /intent\.confirmed .*3\.03/ }).waitFor();
    expect(await page.getByText('not live just now').count()).toBe(0);
  });

  it('say when there is no stream, and reload every 10 s', async () => {
    visitor = await visit(browser);
    const { context, page } = visitor;
    await context.route('**/stream', (route) => route.fulfill({ status: 503, body: '{}' }));
    await signIn(page, dashboard);
    await page.goto(pageOf('home'));
    await page.getByText('not live just now').waitFor();
    await pay('4.04');
    await page.getByRole('row', { name: /4\.04 USDC Paid/ }).waitFor();
    await context.unroute('**/stream');
    await page.getByText('not live just now').waitFor({ state: 'detached' });
  });
});
