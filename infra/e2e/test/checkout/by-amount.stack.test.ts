import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ShownPaymentLink } from '@pf/contracts';
import { type ApiClient, apiClient, chainOf, readStack, type StackChain, type StackWallet, until } from '@pf/testing';
import { newWallet } from '@pf/testing/wallets';
import type { Browser, Locator, Page } from 'playwright-core';
import { barriers, openBrowser, overflow, PHONE, scanned, visit, type Visitor } from '../dashboard/browser.ts';
import { plainTransfers } from '../plain-transfer.ts';

const stack = readStack();
const api: ApiClient = apiClient(stack.baseUrl, stack.apiKeys.test);
const DECIMALS = 6;

/** What a person types or pastes, as the wallet takes it. */
const unitsOf = (amount: string): bigint => {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'));
};
const status = (page: Page, title: string): Locator =>
  page.locator('.status strong').filter({ hasText: new RegExp(`^${title}`) });

let browser: Browser;
let person: Visitor;
beforeAll(async () => {
  browser = await openBrowser();
  person = await visit(browser, { viewport: PHONE });
  await person.context.grantPermissions(['clipboard-read', 'clipboard-write']);
});
afterEach(async () => {
  for (const page of person.context.pages()) await page.close();
  expect(person.complaints).toEqual([]);
});
afterAll(() => browser.close());

/** What the button copies that stands beside it. */
async function copied(page: Page, what: string): Promise<string> {
  const way = page.locator('.transfer');
  const fact = way.locator('.fact').filter({ has: page.getByRole('button', { name: `Copy ${what}` }) });
  await fact.getByRole('button').click();
  await fact.getByText('Copied').waitFor();
  return page.evaluate('navigator.clipboard.readText()');
}

describe.each([
  ['base', 'Base Sepolia, not Ethereum'],
  ['solana', 'Solana devnet'],
  ['tempo', 'Tempo Moderato, not Ethereum'],
] as const)('the payment page of an intent by amount, on %s', (name, network) => {
  const chain: StackChain = chainOf(stack, name);
  const [, , key] = chain.wallets as [StackWallet, StackWallet, StackWallet];
  const send = plainTransfers[name](chain, key);
  const usdc = chain.tokens['USDC'] ?? '';

  it('ends in “Paid” by a wallet that knows no references', async () => {
    const { address } = newWallet(chain);
    const { body } = await api.create({
      chain: chain.caip2,
      token: 'USDC',
      amount: '1.25',
      requestor: address,
      attribution: 'amount',
    });
    const { intent, paymentUrl } = body;
    const page = await person.context.newPage();
    await page.goto(String(paymentUrl));
    const way = page.locator('.transfer');
    // No wallet is in this browser: the way without one is open.
    const code = await scanned(way.locator('.qr-image'));
    expect(await way.locator('dd').first().textContent()).toBe(network);
    const [amount, to] = [await copied(page, 'Exact amount'), await copied(page, 'Address to send to')];
    expect([amount, to]).toEqual([intent.amount, address]);
    expect(code).toBe(name === 'solana' ? `solana:${address}?amount=${amount}&spl-token=${usdc}` : address);
    expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
    const hash = await send(usdc, to, unitsOf(amount));
    await status(page, 'Paid').waitFor();
    expect(await page.locator('.receipt').textContent()).toContain(hash);
    expect((await api.get(intent.id)).body.intent).toMatchObject({ txSignature: hash, fulfiller: key.address });
  });

  it('pays the payment link whose offer the intent is', async () => {
    const offers = [{ chain: chain.caip2, token: 'USDC', requestor: newWallet(chain).address }];
    const made = { amount: '1.25', attribution: 'amount', offers };
    const { body } = await api.request<{ paymentLink: ShownPaymentLink; url: string }>('POST', '/payment-links', made);
    const page = await person.context.newPage();
    await page.goto(body.url);
    await page.getByRole('button', { name: /^USDC(\.e)? on / }).click();
    await page.locator('.transfer').waitFor();
    const amount = await copied(page, 'Exact amount');
    expect(amount).toBe('1.250001');
    await send(usdc, await copied(page, 'Address to send to'), unitsOf(amount));
    await status(page, 'Paid').waitFor();
    await until('the link to be paid', async () => {
      const path = `/payment-links/${body.paymentLink.id}`;
      return (await api.request<{ paymentLink: ShownPaymentLink }>('GET', path)).body.paymentLink.state === 'paid';
    });
  });
});
