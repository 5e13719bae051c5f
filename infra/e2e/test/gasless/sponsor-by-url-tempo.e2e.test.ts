import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PaymentClient } from '@pf/client';
import { type BuildBody, type StackWallet, until } from '@pf/testing';
import { startTempo, type Tempo } from '@pf/testing/chains';
import { type FeePayer, type FeePayerWay, startFeePayer } from './relayer.ts';
import { type Order, PACE_MS, Shop, TEST_MS, UNITS } from './shop.ts';
import { held, penniless, signedForFeePayer } from './tempo-payer.ts';
import { summaryOf, whileBusy } from '../responses.ts';

let chain: Tempo;
let shop: Shop;
let feePayer: FeePayer;
let client: PaymentClient;
let usdc: string;

beforeAll(async () => {
  chain = await startTempo({ blockMs: PACE_MS });
  usdc = chain.tokens['USDC'] ?? '';
  feePayer = await startFeePayer(chain, chain.wallets[3] as StackWallet);
  shop = await Shop.open(chain);
  client = new PaymentClient({ baseUrl: shop.baseUrl, apiKey: shop.cluster.apiKeys.test });
}, TEST_MS);
afterAll(async () => {
  await shop.close();
  await Promise.all([feePayer.stop(), chain.stop()]);
});

const use = (way: FeePayerWay) => client.sponsors.set(chain.caip2, { url: feePayer.at(way) });
/** What the payer has signed for a fee payer. */
async function sign({ id, payer: app }: Order, payer: StackWallet): Promise<string> {
  const body = { fulfiller: payer.address, sponsored: true };
  const built = await whileBusy('a transaction', () => app.request<BuildBody>('POST', `/intents/${id}/build`, body));
  expect([built.status, built.body.error]).toEqual([200, undefined]);
  return signedForFeePayer(built.body.transaction.blob, payer);
}
const submit = ({ id, payer }: Order, text: string, { address }: StackWallet) => payer.submit(id, text, address);
async function expectPaidOnce(what: Order, by: StackWallet): Promise<void> {
  const paid = await shop.reached(what, 'finalized');
  expect(paid).toMatchObject({ fulfiller: by.address, retryRequired: false });
  expect(await what.merchant.tokenBalance(usdc)).toBe(UNITS);
  expect(await held(chain, by)).toBe(0n);
}

it(
  'a payer with nothing for the fee pays with a signature alone, by a relay of viem',
  async () => {
    await use('relay');
    const [what, account] = [await shop.order(), await penniless(chain)];
    const signed = await sign(what, account);
    const paid = await whileBusy('the broadcast', () => submit(what, signed, account));
    expect(summaryOf(paid)).toEqual([200, undefined]);
    await use('refuses');
    const again = await submit(what, signed, account);
    expect([again.status, again.body.txSignature]).toEqual([200, paid.body.txSignature]);
    await expectPaidOnce(what, account);
  },
  TEST_MS,
);

describe.each([
  ['alters', 422, 'sponsor.refused'],
  ['refuses', 422, 'sponsor.refused'],
  ['lies', 422, 'sponsor.refused'],
  ['stalls', 422, 'sponsor.refused'],
  ['hangs', 503, 'sponsor.unavailable'],
] as const)('a sponsor of Tempo that %s', (way, status, code) => {
  it(
    'costs no one money, and an honest one pays for the same bytes',
    async () => {
      const [what, account] = [await shop.order(), await penniless(chain)];
      const signed = await sign(what, account);
      await use(way);
      expect(summaryOf(await submit(what, signed, account))).toEqual([status, code]);
      expect((await shop.api.get(what.id)).body.intent.state).toBe('created');
      expect(await held(chain, account)).toBe(UNITS);
      await use('honest');
      expect(await sign(what, account)).toBe(signed);
      await whileBusy('the broadcast', () => submit(what, signed, account));
      await expectPaidOnce(what, account);
    },
    TEST_MS,
  );
});

describe('a sponsor of Tempo', () => {
  it(
    'counts as its account’s failure while it hangs, and pages no one',
    async () => {
      const [what, account] = [await shop.order(), await penniless(chain)];
      const signed = await sign(what, account);
      await use('hangs');
      const before = await shop.failures();
      expect(summaryOf(await submit(what, signed, account))).toEqual([503, 'sponsor.unavailable']);
      // It is counted when the connection knows that the response has ended.
      await until('it to be counted', async () => (await shop.failures()).caller > before.caller);
      expect(await shop.failures()).toEqual({ caller: before.caller + 1, service: before.service });
    },
    TEST_MS,
  );

  it(
    'has paid the intent when it sends the transaction and says that it has refused',
    async () => {
      await use('sends-and-says-it-refused');
      const [what, account] = [await shop.order(), await penniless(chain)];
      expect(summaryOf(await submit(what, await sign(what, account), account))).toEqual([422, 'sponsor.refused']);
      await expectPaidOnce(what, account);
    },
    TEST_MS,
  );

  it(
    'is handed nothing but a payment of the intent',
    async () => {
      await use('sends-and-says-it-refused');
      const [what, other, account] = [await shop.order(), await shop.order(), await penniless(chain)];
      const signed = await sign(what, account);
      expect(summaryOf(await submit(other, signed, account))).toEqual([422, 'transaction.mismatch']);
      expect(await held(chain, account)).toBe(UNITS);
      await client.sponsors.remove(chain.caip2);
      expect(summaryOf(await submit(what, signed, account))).toEqual([422, 'transaction.malformed']);
    },
    TEST_MS,
  );
});
