import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chainOf, readStack, type StackChain, type StackWallet } from '@pf/testing';
import { signSolanaPay, solanaWallet } from '@pf/testing/wallets';
import type { Browser, Page } from 'playwright-core';
import { barriers, openBrowser, PHONE, scanned, visit, type Visitor } from '../dashboard/browser.ts';
import { evmPayer, type Payer, slowPayer, smartPayer, solanaPayer, tempoPayer } from './payers.ts';

const stack = readStack();
const api = apiClient(stack.baseUrl, stack.apiKeys.test);
const [base, solana, tempo] = ['base', 'solana', 'tempo'].map((name) => chainOf(stack, name)) as [
  StackChain,
  StackChain,
  StackChain,
];
/** Wallets that no other test uses. */
const walletOf = ({ wallets }: StackChain, who: 'payer' | 'shop'): StackWallet => {
  const wallet = wallets[who === 'payer' ? 5 : 4];
  if (wallet === undefined) throw new Error('The stack has too few wallets.');
  return wallet;
};

let browser: Browser;
/** One for all payments: scripts are loaded and compiled once. */
let person: Visitor;
beforeAll(async () => {
  browser = await openBrowser();
  person = await visit(browser, { viewport: PHONE });
});
let complaints = 0;
afterEach(async () => {
  for (const page of person.context.pages()) await page.close();
  // Scripts that failed, and whatever the policy has refused.
  const before = complaints;
  complaints = person.complaints.length;
  expect(person.complaints.slice(before)).toEqual([]);
});
afterAll(() => browser.close());

/** An intent of the stack's account. @returns its id and the link for the payer */
async function newIntent(chain: StackChain, more: Readonly<Record<string, string>> = {}) {
  const requestor = walletOf(chain, 'shop').address;
  const { body } = await api.create({ chain: chain.caip2, token: 'USDC', amount: '1.25', requestor, ...more });
  const { paymentUrl, intent } = body;
  if (typeof paymentUrl !== 'string') throw new Error('The stack has no payment page.');
  return { id: intent.id, paymentUrl };
}

/** Opens the page on a phone with the payer's wallet in it. */
async function open(paymentUrl: string, payer?: Payer): Promise<Page> {
  const page = await person.context.newPage();
  await payer?.install(page);
  await page.goto(paymentUrl);
  return page;
}

const status = (page: Page, title: string) =>
  page.locator('.status strong').filter({ hasText: new RegExp(`^${title}`) });
const wallet = (page: Page) => page.locator('.wallets button').first();
const payButton = (page: Page) => page.getByRole('button', { name: /^Pay 1\.25/ });
async function pay(page: Page): Promise<void> {
  await wallet(page).click();
  await payButton(page).click();
}
const isPaid = async (id: string): Promise<boolean> =>
  ['confirmed', 'finalized'].includes((await api.get(id)).body.intent.state);

describe('the payment page', () => {
  const payerOn = { base: walletOf(base, 'payer'), solana: walletOf(solana, 'payer'), tempo: walletOf(tempo, 'payer') };
  it.each<readonly [string, StackChain, () => Payer | Promise<Payer>]>([
    ['Base, by a wallet that sends', base, () => evmPayer(base, payerOn.base)],
    ['Base, by a smart wallet', base, () => smartPayer(base, payerOn.base)],
    ['Solana, by a wallet that signs', solana, () => solanaPayer(solana, payerOn.solana, /Ledger/)],
    ['Solana, by a wallet that adds guards', solana, () => solanaPayer(solana, payerOn.solana, /Phantom/)],
    ['Solana, by a wallet that sends', solana, () => solanaPayer(solana, payerOn.solana, /sends itself/)],
    ['Tempo, by a wallet that signs', tempo, () => tempoPayer(payerOn.tempo)],
    ['Tempo, by a wallet that sends', tempo, () => evmPayer(tempo, payerOn.tempo)],
  ])('is paid on %s', async (_, chain, makePayer) => {
    const [{ id, paymentUrl }, payer] = await Promise.all([newIntent(chain), makePayer()]);
    const page = await open(paymentUrl, payer);
    await pay(page);
    await status(page, 'Paid').waitFor();
    expect([payer.asked, await isPaid(id)]).toEqual([1, true]);
    const { txSignature, fulfiller } = (await api.get(id)).body.intent;
    expect(fulfiller).toBe(payer.address);
    expect(await page.locator('.receipt').textContent()).toContain(txSignature);
  });

  it('is paid after a decline in the wallet and one with another account, and is accessible meanwhile', async () => {
    const { address } = payerOn.base;
    const { id, paymentUrl } = await newIntent(base, { direction: 'send', fulfiller: address });
    const payer = evmPayer(base, payerOn.base);
    payer.mood = 'has another account';
    const page = await open(paymentUrl, payer);
    await wallet(page).click();
    await page.getByRole('alert').filter({ hasText: address }).waitFor();
    expect(await barriers(page)).toEqual([]);
    payer.mood = 'declines';
    await pay(page);
    await page.getByRole('alert').filter({ hasText: 'No money has moved' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    expect((await api.get(id)).body.intent).toMatchObject({ state: 'created', txSignature: null });
    payer.mood = 'pays';
    await payButton(page).click();
    await status(page, 'Paid').waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  it('knows after a reload what the wallet has sent', async () => {
    const { id, paymentUrl } = await newIntent(base);
    const { payer, send } = slowPayer(base, payerOn.base);
    const page = await open(paymentUrl, payer);
    await pay(page);
    await status(page, 'Your wallet has sent it').waitFor();
    await page.reload();
    await status(page, 'Your wallet has sent it').waitFor();
    await send();
    await status(page, 'Paid').waitFor();
    expect([payer.asked, await isPaid(id)]).toEqual([1, true]);
  });

  it('is paid by a wallet that scans its code, on Solana', async () => {
    const { id, paymentUrl } = await newIntent(solana);
    const page = await open(paymentUrl);
    const code = await scanned(page.locator('.qr-image'));
    expect(code.startsWith(`solana:${stack.checkout.url}/s/${id}_spl_`)).toBe(true);
    const phone = solanaWallet(solana, payerOn.solana);
    const signed = await signSolanaPay(phone, code.slice('solana:'.length));
    const signature = await phone.connection.sendRawTransaction(Buffer.from(signed, 'base64'));
    await status(page, 'Paid').waitFor();
    expect(await page.locator('.receipt').textContent()).toContain(signature);
  });

  it.each([
    ['Base', base, payerOn.base],
    ['Tempo', tempo, payerOn.tempo],
  ])('is paid on the phone that scans its code, on %s', async (_, chain, keys) => {
    const { paymentUrl } = await newIntent(chain);
    const page = await open(paymentUrl);
    const code = await scanned(page.locator('.qr-image'));
    expect(code).toBe(paymentUrl);
    await pay(await open(code, evmPayer(chain, keys)));
    await status(page, 'Paid').waitFor();
  });

  it('shows nothing without its secret, nor with another', async () => {
    const [{ paymentUrl }, other] = await Promise.all([newIntent(base), newIntent(base)]);
    const bare = paymentUrl.replace(/#.*/, '');
    const page = await open(bare);
    await status(page, 'This link cannot be opened').waitFor();
    await page.goto(`${bare}?again${new URL(other.paymentUrl).hash}`);
    await status(page, 'This link cannot be opened').waitFor();
    expect(await barriers(page)).toEqual([]);
  });
});
