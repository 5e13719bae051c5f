import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ApiClient, type BuildBody, type StackWallet, until } from '@pf/testing';
import { startTempo, type Tempo } from '@pf/testing/chains';
import { walletOn } from '@pf/testing/wallets';
import { type FeePayer, type FeePayerRequest, startFeePayer } from './relayer.ts';
import { type Order, PACE_MS, Shop, TEST_MS, UNITS } from './shop.ts';
import { held, penniless, signedForFeePayer } from './tempo-payer.ts';
import { summaryOf, whileBusy } from '../responses.ts';

let chain: Tempo;
let shop: Shop;
let feePayer: FeePayer;
let api: ApiClient;
let usdc: string;

beforeAll(async () => {
  chain = await startTempo({ blockMs: PACE_MS });
  usdc = chain.tokens['USDC'] ?? '';
  feePayer = await startFeePayer(chain, chain.wallets[3] as StackWallet);
  shop = await Shop.open(chain);
  ({ api } = shop);
}, TEST_MS);
afterAll(async () => {
  await shop.close();
  await Promise.all([feePayer.stop(), chain.stop()]);
});

const build = ({ id, payer }: Order, { address }: StackWallet, sponsored: boolean) =>
  whileBusy('a transaction', () =>
    payer.request<BuildBody>('POST', `/intents/${id}/build`, { fulfiller: address, sponsored }),
  );
/** What the payer signs and hands to whoever pays the fee. */
async function sign(what: Order, payer: StackWallet): Promise<FeePayerRequest> {
  const { status, body } = await build(what, payer, true);
  expect([status, body.error]).toEqual([200, undefined]);
  expect(body.transaction.estimatedFeeUsdc).toBeNull();
  const handed = await signedForFeePayer(body.transaction.blob, payer);
  return { method: 'eth_signRawTransaction', params: [handed] };
}
const submit = ({ id, payer }: Order, text: string | undefined, { address }: { readonly address: string }) =>
  whileBusy('the broadcast', () => payer.submit(id, text ?? '', address));
async function expectPaidOnce(what: Order, by: string): Promise<void> {
  const paid = await shop.reached(what, 'finalized');
  expect(paid).toMatchObject({ fulfiller: by, retryRequired: false });
  expect(await what.merchant.tokenBalance(usdc)).toBe(UNITS);
}
/** Another payer, with a transaction of its own. */
async function paidByAnother(what: Order, place: number): Promise<void> {
  const wallet = walletOn(chain, chain.wallets[place] as StackWallet);
  const { body } = await whileBusy('a transaction', () => api.build(what.id, wallet.address));
  expect((await submit(what, await wallet.sign(body.transaction.blob), wallet)).status).toBe(200);
  await expectPaidOnce(what, wallet.address);
}

it(
  'a payer with nothing for the fee pays with the signature of a fee payer behind its own',
  async () => {
    const [what, account] = [await shop.order(), await penniless(chain)];
    expect(summaryOf(await build(what, account, false))).toEqual([422, 'transaction.rejected']);
    const handed = await sign(what, account);
    expect(summaryOf(await submit(what, handed.params[0], account))).toEqual([422, 'transaction.malformed']);
    const { result: transaction } = await feePayer.ask('honest', handed);
    expect(summaryOf(await submit(what, transaction, account))).toEqual([200, undefined]);
    await expectPaidOnce(what, account.address);
    expect(await held(chain, account)).toBe(0n);
  },
  TEST_MS,
);

it(
  'the bytes of a sponsored build stay the same while they can land, whatever is asked for then',
  async () => {
    const [what, account] = [await shop.order(), await penniless(chain)];
    const first = await build(what, account, true);
    for (const sponsored of [true, false])
      expect((await build(what, account, sponsored)).body.transaction).toEqual(first.body.transaction);
  },
  TEST_MS,
);

it(
  'a fee payer that alters what the payer signed is refused, and another one pays',
  async () => {
    const [what, account] = [await shop.order(), await penniless(chain)];
    const handed = await sign(what, account);
    const altered = await feePayer.ask('alters', handed);
    expect(summaryOf(await submit(what, altered.result, account))).toEqual([422, 'transaction.mismatch']);
    const { result: transaction } = await feePayer.ask('honest', handed);
    expect(summaryOf(await submit(what, transaction, account))).toEqual([200, undefined]);
    await expectPaidOnce(what, account.address);
  },
  TEST_MS,
);

it(
  'a fee payer that refuses or lies claims nothing, and another payer pays',
  async () => {
    const [what, account] = [await shop.order(), await penniless(chain)];
    const handed = await sign(what, account);
    expect(await feePayer.ask('refuses', handed)).toMatchObject({ status: 403 });
    const { result: lie } = await feePayer.ask('lies', handed);
    await until('the service to miss what it was told of', async () => {
      const [, code] = summaryOf(await what.payer.submit(what.id, lie ?? '', account.address));
      return code === 'transaction.not_visible';
    });
    await paidByAnother(what, 1);
  },
  TEST_MS,
);

it(
  'a fee payer that stalls claims nothing, and comes too late for an intent that is paid',
  async () => {
    const [what, account] = [await shop.order(), await penniless(chain)];
    expect(await feePayer.ask('stalls', await sign(what, account))).toMatchObject({ status: 202 });
    await paidByAnother(what, 2);
    const { result: transaction } = await feePayer.ask('wakes-up');
    expect(summaryOf(await submit(what, transaction, account))).toEqual([409, 'intent.already_fulfilled']);
    expect(await what.merchant.tokenBalance(usdc)).toBe(UNITS);
  },
  TEST_MS,
);
