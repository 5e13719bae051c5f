import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PaymentClient } from '@pf/client';
import { openAccount } from '@pf/database';
import { type ApiClient, apiClient, type BuildBody, type StackWallet } from '@pf/testing';
import { type LocalSolana, startSolana } from '@pf/testing/chains';
import { newWallet, walletOn } from '@pf/testing/wallets';
import { type Kora, type KoraWay, startKora } from './relayer.ts';
import { type Order, PACE_MS, Shop, TEST_MS, UNITS } from './shop.ts';
import { summaryOf, whileBusy } from '../responses.ts';

const LAMPORTS = 1_000_000_000n;
/** More than a gateway has under way of a test account. */
const MANY = 10;

let chain: LocalSolana;
let shop: Shop;
let sponsor: StackWallet;
let kora: Kora;
let usdc: string;
let client: PaymentClient;

beforeAll(async () => {
  chain = await startSolana({ slotMs: PACE_MS });
  usdc = chain.tokens['USDC'] ?? '';
  sponsor = newWallet(chain);
  await chain.airdrop(sponsor.address, LAMPORTS);
  await chain.finalize();
  kora = await startKora(chain, sponsor);
  shop = await Shop.open(chain);
  client = new PaymentClient({ baseUrl: shop.baseUrl, apiKey: shop.cluster.apiKeys.test });
}, TEST_MS);
afterAll(async () => {
  await shop.close();
  await Promise.all([kora.stop(), chain.stop()]);
});

const use = (way: KoraWay, headers: Readonly<Record<string, string>> = {}) =>
  client.sponsors.set(chain.caip2, { url: kora.at(way), headers });
/** An intent whose requestor has a token account. */
async function order(): Promise<Order> {
  const merchant = walletOn(chain, newWallet(chain));
  await chain.mint(merchant.address, usdc, 1n);
  await chain.finalize();
  return shop.order(merchant);
}
/** Someone with exactly the amount, and no SOL at all. */
async function penniless(): Promise<StackWallet> {
  const payer = newWallet(chain);
  await chain.mint(payer.address, usdc, UNITS);
  await chain.finalize();
  return payer;
}
const held = (wallet: StackWallet): Promise<bigint> => walletOn(chain, wallet).tokenBalance(usdc);
const build = ({ id }: Order, { address }: StackWallet, payer: ApiClient) =>
  payer.request<BuildBody>('POST', `/intents/${id}/build`, { fulfiller: address, sponsored: true });
/** What the payer has signed. No one has signed for the fee. */
async function sign(what: Order, payer: StackWallet): Promise<string> {
  const { status, body } = await whileBusy('a transaction', () => build(what, payer, what.payer));
  expect([status, body.error]).toEqual([200, undefined]);
  expect(body.transaction.estimatedFeeLamports).toBeNull();
  return walletOn(chain, payer).sign(body.transaction.blob);
}
const submit = ({ id, payer }: Order, text: string, { address }: StackWallet) => payer.submit(id, text, address);
async function expectPaidOnce(what: Order, by: StackWallet): Promise<void> {
  const paid = await shop.reached(what, 'finalized');
  expect(paid).toMatchObject({ fulfiller: by.address, retryRequired: false });
  expect(await what.merchant.tokenBalance(usdc)).toBe(1n + UNITS);
  expect(await held(by)).toBe(0n);
}
const timesAsked = async (): Promise<number | undefined> => (await kora.ask('asked')).result?.asked;

describe('a payer without SOL, of an account with a sponsor', () => {
  it(
    'pays with a signature alone, and a repeat asks the sponsor for nothing',
    async () => {
      await use('asks-for-a-key', { 'x-api-key': 'kora-secret' });
      const [what, account] = [await order(), await penniless()];
      const signed = await sign(what, account);
      const paid = await whileBusy('the broadcast', () => submit(what, signed, account));
      expect(summaryOf(paid)).toEqual([200, undefined]);
      const asked = await timesAsked();
      await use('refuses');
      const again = await submit(what, signed, account);
      expect([again.status, again.body.txSignature]).toEqual([200, paid.body.txSignature]);
      await expectPaidOnce(what, account);
      expect((await submit(what, signed, account)).body.txSignature).toBe(paid.body.txSignature);
      expect(await timesAsked()).toBe(asked);
    },
    TEST_MS,
  );

  it(
    'hands the sponsor nothing but a payment of the intent',
    async () => {
      await use('honest');
      const [what, other, account] = [await order(), await order(), await penniless()];
      const [signed, asked] = [await sign(what, account), await timesAsked()];
      expect(summaryOf(await submit(other, signed, account))).toEqual([422, 'transaction.mismatch']);
      const stranger = newWallet(chain);
      expect(summaryOf(await submit(what, signed, stranger))).toEqual([422, 'transaction.mismatch']);
      expect(await timesAsked()).toBe(asked);
      await whileBusy('the broadcast', () => submit(what, signed, account));
      await expectPaidOnce(what, account);
    },
    TEST_MS,
  );

  it(
    'needs a fee payer of their own once the sponsor is removed',
    async () => {
      await use('honest');
      const [what, account] = [await order(), await penniless()];
      const signed = await sign(what, account);
      await client.sponsors.remove(chain.caip2);
      expect(summaryOf(await submit(what, signed, account))).toEqual([422, 'transaction.malformed']);
      const { body } = await build(await order(), account, what.payer);
      expect(body.error).toMatchObject({ code: 'intent.not_found' });
      const fresh = await order();
      expect((await build(fresh, account, fresh.payer)).body.error).toMatchObject({ param: 'feePayer' });
    },
    TEST_MS,
  );
});

describe.each(['alters', 'redirects', 'signs-wrongly', 'refuses', 'lies', 'stalls'] as const)(
  'a sponsor that %s',
  (way) => {
    it(
      'costs no one money, and an honest one pays for the same bytes',
      async () => {
        await use('honest');
        const [what, account] = [await order(), await penniless()];
        const signed = await sign(what, account);
        await use(way);
        const refused = await submit(what, signed, account);
        expect(summaryOf(refused)).toEqual([422, 'sponsor.refused']);
        expect(JSON.stringify(refused.body)).not.toContain('not today');
        expect((await shop.api.get(what.id)).body.intent.state).toBe('created');
        expect(await held(account)).toBe(UNITS);
        await use('honest');
        expect(await sign(what, account)).toBe(signed);
        await whileBusy('the broadcast', () => submit(what, signed, account));
        await expectPaidOnce(what, account);
      },
      TEST_MS,
    );
  },
);

describe('a sponsor', () => {
  it(
    'is unavailable when it hangs or fails, and holds up no other account',
    async () => {
      await use('honest');
      const [what, account] = [await order(), await penniless()];
      const signed = await sign(what, account);
      await use('fails');
      expect(summaryOf(await submit(what, signed, account))).toEqual([503, 'sponsor.unavailable']);
      await use('hangs');
      const waiting = await order();
      const hanging = Promise.all(Array.from({ length: MANY }, () => build(waiting, account, waiting.payer)));
      const { database, secretsKey } = shop.cluster;
      const { apiKeys } = await openAccount(database, secretsKey, { name: 'neighbor' });
      const neighbor = apiClient(shop.baseUrl, apiKeys.test);
      const { body: made } = await neighbor.create({
        chain: chain.caip2,
        token: 'USDC',
        amount: '3',
        requestor: what.merchant.address,
      });
      await new PaymentClient({ baseUrl: shop.baseUrl, apiKey: apiKeys.test }).sponsors.set(chain.caip2, {
        url: kora.at('honest'),
      });
      const served = await whileBusy('a transaction', () =>
        neighbor.request<BuildBody>('POST', `/intents/${made.intent.id}/build`, {
          fulfiller: account.address,
          sponsored: true,
        }),
      );
      expect(summaryOf(served)).toEqual([200, undefined]);
      for (const answer of await hanging) {
        expect(summaryOf(answer)).toEqual([503, 'sponsor.unavailable']);
        expect(answer.body.error?.details).toMatchObject({ retry_after: 2 });
      }
      await use('honest');
      await whileBusy('the broadcast', () => submit(what, signed, account));
      await expectPaidOnce(what, account);
    },
    TEST_MS,
  );

  it(
    'has paid the intent when it sends the transaction and says that it has refused',
    async () => {
      await use('sends-and-says-it-refused');
      const [what, account] = [await order(), await penniless()];
      const signed = await sign(what, account);
      expect(summaryOf(await submit(what, signed, account))).toEqual([422, 'sponsor.refused']);
      await expectPaidOnce(what, account);
    },
    TEST_MS,
  );

  it(
    'is refused when it names no account, with its message shown to the account only',
    async () => {
      const [what, account] = [await order(), await penniless()];
      await use('names-nonsense');
      expect(summaryOf(await build(what, account, what.payer))).toEqual([422, 'sponsor.refused']);
      await use('asks-for-a-key', { 'x-api-key': 'wrong' });
      const shown = await build(what, account, shop.api);
      expect(shown.body.error?.message).toContain('it refused getPayerSigner: not today');
      const toPayer = await build(what, account, what.payer);
      expect(summaryOf(toPayer)).toEqual([422, 'sponsor.refused']);
      expect(toPayer.body.error?.message).not.toContain('not today');
    },
    TEST_MS,
  );

  it(
    'is not connected to at a private address, unless the operator allows it',
    async () => {
      const { url } = await shop.cluster.start('gateway', { env: { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'false' } });
      await use('sends-and-says-it-refused');
      const [what, account] = [await order(), await penniless()];
      const [signed, asked] = [await sign(what, account), await timesAsked()];
      const guarded = apiClient(`${url}/v1`, shop.cluster.apiKeys.test);
      const refused = await guarded.submit(what.id, signed, account.address);
      expect(summaryOf(refused)).toEqual([503, 'sponsor.unavailable']);
      expect(refused.body.error?.details?.['reason']).toBe('the host leads to an address that is not public');
      expect(await timesAsked()).toBe(asked);
    },
    TEST_MS,
  );
});
