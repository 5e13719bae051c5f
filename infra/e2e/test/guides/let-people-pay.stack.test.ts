import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chainOf, freePorts, readStack, until } from '@pf/testing';
import type { Browser } from 'playwright-core';
import { evmPayer } from '../checkout/payers.ts';
import { openBrowser, visit } from '../dashboard/browser.ts';
import { clerkOf, newShop } from '../dashboard/shop.ts';
import { Guide } from './guide.ts';

const stack = readStack();
const base = chainOf(stack, 'base');
const [, , , , wallet] = base.wallets;
if (!wallet) throw new Error('The stack has too few wallets.');

describe('the guide to the payment page', () => {
  let browser: Browser;
  let guide: Guide;
  let shop: string;
  beforeAll(async () => {
    const [port] = await freePorts(1);
    shop = `http://127.0.0.1:${port}`;
    [browser, guide] = await Promise.all([
      openBrowser(),
      Guide.open('docs/guide/let-people-pay.md', { 3000: `${port}` }),
    ]);
  });
  afterAll(() => Promise.all([browser.close(), guide.close()]));

  it('leads from the button of a shop to the paid order and back, when it is followed word by word', async () => {
    await guide.run('export PF_API_KEY');
    // An account with the name and the return origin that the guide's next part sets in the dashboard.
    const owner = await clerkOf(stack.dashboard);
    const { accountId, key } = await newShop(owner, 'Corner Coffee');
    await owner.call('PATCH', `/accounts/${accountId}/settings`, { returnOrigins: [shop] });
    await guide.terminal.run(`export PF_API_KEY=${key}`);
    await guide.save('createServer');
    await guide.start('node', { name: 'shop' });
    await until('the shop', async () => (await fetch(`${shop}/pay?order=1`, { redirect: 'manual' })).status === 303);
    expect(guide.left).toEqual([]);

    const { page, context, complaints } = await visit(browser);
    await evmPayer(base, wallet).install(page);
    await page.goto(`${shop}/pay?order=1042`);
    await page.getByText('Pay Corner Coffee').waitFor({ state: 'attached' });
    const { searchParams, pathname } = new URL(page.url());
    expect(searchParams.get('return')).toBe(`${shop}/orders/1042`);
    await page.locator('.wallets button').click();
    await page.getByRole('button', { name: /^Pay 12\.50/ }).click();
    await page.locator('.status strong', { hasText: /^Paid/ }).waitFor();
    const back = page.getByRole('link', { name: 'Back to Corner Coffee' });
    expect(await back.getAttribute('href')).toBe(`${shop}/orders/1042`);

    // The button leads to the same payment, which needs no second one; the page speaks what the link asks for.
    await page.goto(`${shop}/pay?order=1042`);
    expect(new URL(page.url()).pathname).toBe(pathname);
    await page.goto(`${page.url()}&lang=de`);
    await page.locator('.status strong', { hasText: /^Bezahlt/ }).waitFor();
    await context.close();
    expect(complaints).toEqual([]);
  });
});
