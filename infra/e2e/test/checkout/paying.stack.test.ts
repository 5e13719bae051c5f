import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { PaymentClient } from '@pf/client';
import { apiClient, chainOf, readStack, type StackChain, type StackWallet, until } from '@pf/testing';
import { newWallet, signSolanaPay, solanaWallet, tempoWallet, walletOn } from '@pf/testing/wallets';
import type { Browser, Page } from 'playwright-core';
import { barriers, openBrowser, PHONE, scanned, visit, type Visitor } from '../dashboard/browser.ts';
import { startFeePayer, startKora, startPaymaster } from '../gasless/relayer.ts';
import {
  evmPayer,
  newPaymaster,
  type Payer,
  slowPayer,
  smartPayer,
  solanaLoser,
  solanaPayer,
  solanaSigner,
  tempoPayer,
} from './payers.ts';

const stack = readStack();
const api = apiClient(stack.baseUrl, stack.apiKeys.test);
const [base, solana, tempo] = ['base', 'solana', 'tempo'].map((name) => chainOf(stack, name)) as [
  StackChain,
  StackChain,
  StackChain,
];
/** The first two are no other test's. */
const PLACES = { payer: 5, shop: 4, sponsor: 3 } as const;
const walletOf = ({ wallets }: StackChain, who: keyof typeof PLACES): StackWallet => {
  const wallet = wallets[PLACES[who]];
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
/** Its guards assert the balance of whoever pays the fee. */
const phantomPayer = (keys: StackWallet): Payer => solanaPayer(solana, keys, /Phantom/);
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
    ['Solana, by a wallet whose transaction is lost', solana, () => solanaLoser(solana, payerOn.solana)],
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

  it('is paid after the wallet declined and then used another account, and stays accessible', async () => {
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
    await page.getByRole('alert').filter({ hasText: 'Nothing was sent from this page' }).waitFor();
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

describe('the payment page of a merchant who pays the network fee', () => {
  const UNITS = 1_250_000n;
  const { sponsors } = new PaymentClient({ baseUrl: stack.baseUrl, apiKey: stack.apiKeys.test });
  const rich = {
    solana: solanaWallet(solana, walletOf(solana, 'payer')),
    tempo: tempoWallet(tempo, walletOf(tempo, 'payer')),
  };
  const held = (chain: StackChain, who: StackWallet) => walletOn(chain, who).tokenBalance(chain.tokens['USDC'] ?? '');
  /** Someone with exactly the amount, and nothing for a fee. */
  async function penniless(chain: 'solana' | 'tempo'): Promise<StackWallet> {
    const on = { solana, tempo }[chain];
    const who = newWallet(on);
    const usdc = on.tokens['USDC'] ?? '';
    // The shop has its account then, too: no sponsor pays for one.
    await rich[chain].transfer(usdc, walletOf(on, 'shop').address, 1n);
    await rich[chain].transfer(usdc, who.address, UNITS);
    await until('the payer to have the amount', async () => (await held(on, who)) === UNITS);
    return who;
  }
  let kora: Awaited<ReturnType<typeof startKora>>;
  let feePayer: Awaited<ReturnType<typeof startFeePayer>>;
  beforeAll(async () => {
    [kora, feePayer] = await Promise.all([
      startKora(solana, walletOf(solana, 'sponsor')),
      startFeePayer(tempo, walletOf(tempo, 'sponsor')),
    ]);
  });
  afterAll(() => Promise.all([kora.stop(), feePayer.stop()]));
  afterEach(async () => {
    for (const { chain } of await sponsors.list()) await sponsors.remove(chain);
  });
  const fee = (page: Page) => page.locator('.facts.boxed div', { hasText: 'Network fee' });
  const ownFee = (page: Page) => page.getByRole('button', { name: 'Pay the network fee myself' });

  it.each([
    ['Solana', 'solana', () => kora.at('honest'), (who: StackWallet) => solanaSigner(solana, who)],
    ['Solana, with guards of the sponsor', 'solana', () => kora.at('honest'), phantomPayer],
    ['Tempo', 'tempo', () => feePayer.at('relay'), tempoPayer],
  ] as const)('is paid by someone who has nothing for the fee, on %s', async (_, name, sponsor, payerOf) => {
    const chain = { solana, tempo }[name];
    const who = await penniless(name);
    await sponsors.set(chain.caip2, { url: sponsor() });
    const { id, paymentUrl } = await newIntent(chain);
    const payer = payerOf(who);
    const page = await open(paymentUrl, payer);
    await wallet(page).click();
    await fee(page).waitFor();
    expect(await fee(page).textContent()).toMatch(/^Network fee.* pays it$/);
    await payButton(page).click();
    await status(page, 'Paid').waitFor();
    expect([payer.asked, await isPaid(id), await held(chain, who)]).toEqual([1, true, 0n]);
    expect((await api.get(id)).body.intent.fulfiller).toBe(who.address);
  });

  it('is paid by a smart wallet without ETH, whose gas the paymaster pays', async () => {
    const signer = walletOf(base, 'sponsor');
    const contract = await newPaymaster(base, walletOf(base, 'payer'), signer.address);
    const paymaster = await startPaymaster(base, signer, { '0.6': contract });
    try {
      await sponsors.set(base.caip2, { url: paymaster.at('honest') });
      const { id, paymentUrl } = await newIntent(base);
      const payer = await smartPayer(base, walletOf(base, 'payer'));
      const page = await open(paymentUrl, payer);
      await wallet(page).click();
      await fee(page).waitFor();
      expect(await fee(page).textContent()).toMatch(/^Network fee.* pays it$/);
      await payButton(page).click();
      await status(page, 'Paid').waitFor();
      expect([payer.asked, await isPaid(id), (await paymaster.ask('asked')).result]).toEqual([1, true, 2]);
    } finally {
      await paymaster.stop();
    }
  });

  it('is paid with a fee of the payer where the sponsor refuses', async () => {
    const payer = solanaSigner(solana, walletOf(solana, 'payer'));
    const before = await held(solana, walletOf(solana, 'payer'));
    await sponsors.set(solana.caip2, { url: kora.at('refuses') });
    const { id, paymentUrl } = await newIntent(solana);
    const page = await open(paymentUrl, payer);
    await pay(page);
    await page.getByRole('alert').filter({ hasText: 'cannot pay the network fee' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await ownFee(page).click();
    await status(page, 'A moment before you pay the fee yourself').waitFor();
    expect((await api.get(id)).body.intent.state).toBe('created');
    await fee(page).filter({ hasText: 'SOL' }).waitFor({ timeout: 100_000 });
    await payButton(page).click();
    await status(page, 'Paid').waitFor();
    expect(await isPaid(id)).toBe(true);
    expect(before - (await held(solana, walletOf(solana, 'payer')))).toBe(UNITS);
  });

  it('is paid when a sponsor sends the transaction and says that it has refused', async () => {
    const who = await penniless('solana');
    await sponsors.set(solana.caip2, { url: kora.at('sends-and-says-it-refused') });
    const { id, paymentUrl } = await newIntent(solana);
    const page = await open(paymentUrl, solanaSigner(solana, who));
    await pay(page);
    await status(page, 'Paid').waitFor();
    expect([await isPaid(id), await held(solana, who)]).toEqual([true, 0n]);
  });
});
