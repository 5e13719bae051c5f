import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BuildBody, type StackWallet, until } from '@pf/testing';
import { type LocalSolana, startSolana } from '@pf/testing/chains';
import { newWallet, walletOn } from '@pf/testing/wallets';
import { type Kora, startKora } from './relayer.ts';
import { type Order, PACE_MS, Shop, TEST_MS, UNITS } from './shop.ts';
import { summaryOf, whileBusy } from '../responses.ts';

const LAMPORTS = 1_000_000_000n;

interface SolanaOrder extends Order {
  readonly had: bigint;
}

let chain: LocalSolana;
let shop: Shop;
let sponsor: StackWallet;
let kora: Kora;
let usdc: string;

beforeAll(async () => {
  chain = await startSolana({ slotMs: PACE_MS });
  usdc = chain.tokens['USDC'] ?? '';
  sponsor = newWallet(chain);
  await giveSol(sponsor.address, LAMPORTS);
  kora = await startKora(chain, sponsor);
  shop = await Shop.open(chain);
}, TEST_MS);
afterAll(async () => {
  await shop.close();
  await Promise.all([kora.stop(), chain.stop()]);
});

/** Mints to a wallet, and waits until the service sees it. */
async function give(address: string, units: bigint): Promise<void> {
  await chain.mint(address, usdc, units);
  await chain.finalize();
}
async function giveSol(address: string, lamports: bigint): Promise<void> {
  await chain.airdrop(address, lamports);
  await chain.finalize();
}
/** An intent whose requestor has a token account, unless it is `bare`. */
async function order(bare = false): Promise<SolanaOrder> {
  const merchant = walletOn(chain, newWallet(chain));
  const had = bare ? 0n : 1n;
  if (had > 0n) await give(merchant.address, had);
  return { ...(await shop.order(merchant)), had };
}
/** Someone with exactly the amount, and no SOL at all. */
async function penniless(): Promise<StackWallet> {
  const payer = newWallet(chain);
  await give(payer.address, UNITS);
  return payer;
}
const held = (wallet: StackWallet): Promise<bigint> => walletOn(chain, wallet).tokenBalance(usdc);
const build = ({ id, payer }: Order, { address }: StackWallet, more: object = { feePayer: sponsor.address }) =>
  whileBusy('a transaction', () =>
    payer.request<BuildBody>('POST', `/intents/${id}/build`, { fulfiller: address, sponsored: true, ...more }),
  );
/** What the payer signs and hands to whoever pays the fee, as Kora takes it. */
async function sign(what: Order, payer: StackWallet) {
  const { status, body } = await build(what, payer);
  expect([status, body.error]).toEqual([200, undefined]);
  expect(body.transaction.estimatedFeeLamports).toBeNull();
  const transaction = await walletOn(chain, payer).sign(body.transaction.blob);
  return { method: 'signTransaction', params: { transaction, signer_key: sponsor.address } } as const;
}
const submit = ({ id, payer }: Order, text: string | undefined, { address }: { readonly address: string }) =>
  whileBusy('the broadcast', () => payer.submit(id, text ?? '', address));
async function expectPaidOnce(what: SolanaOrder, by: string): Promise<void> {
  const paid = await shop.reached(what, 'finalized');
  expect(paid).toMatchObject({ fulfiller: by, retryRequired: false });
  expect(await what.merchant.tokenBalance(usdc)).toBe(what.had + UNITS);
}
/** The payer's money goes through an honest sponsor in the end. */
async function paidHonestly(what: SolanaOrder, account: StackWallet): Promise<void> {
  const { result } = await kora.ask('honest', await sign(what, account));
  expect(summaryOf(await submit(what, result?.signed_transaction, account))).toEqual([200, undefined]);
  await expectPaidOnce(what, account.address);
  expect(await held(account)).toBe(0n);
}

describe('a payer without SOL', () => {
  it(
    'pays with the signature of the fee payer that the request names',
    async () => {
      const [what, account] = [await order(), await penniless()];
      const { result } = await kora.ask('honest', { method: 'getPayerSigner' });
      expect(result?.signer_address).toBe(sponsor.address);
      expect(summaryOf(await build(what, account, { sponsored: false }))).toEqual([422, 'transaction.rejected']);
      const handed = await sign(what, account);
      expect(summaryOf(await submit(what, handed.params.transaction, account))).toEqual([422, 'transaction.malformed']);
      await paidHonestly(what, account);
    },
    TEST_MS,
  );

  it(
    'needs SOL for the rent of a new token account, which no fee payer pays',
    async () => {
      const [what, account] = [await order(true), await penniless()];
      const refused = await build(what, account);
      expect(summaryOf(refused)).toEqual([422, 'transaction.rejected']);
      expect(refused.body.error?.message).toContain('the payer has 0 SOL');
      await giveSol(account.address, LAMPORTS / 100n);
      await paidHonestly(what, account);
    },
    TEST_MS,
  );

  it(
    'is told which fee payer cannot be named',
    async () => {
      const [what, account] = [await order(true), await penniless()];
      await giveSol(account.address, LAMPORTS / 100n);
      const missing = await build(what, account, {});
      expect(missing.body.error).toMatchObject({ code: 'request.validation_failed', param: 'feePayer' });
      const alone = await build(what, account, { sponsored: false, feePayer: sponsor.address });
      expect(alone.body.error).toMatchObject({ code: 'request.validation_failed', param: 'feePayer' });
      await giveSol(what.merchant.address, LAMPORTS);
      for (const feePayer of [account.address, what.merchant.address]) {
        const { body } = await build(what, account, { feePayer });
        expect(body.error).toMatchObject({ code: 'address.not_payable', param: 'feePayer' });
      }
      const broke = await build(what, account, { feePayer: newWallet(chain).address });
      expect(broke.body.error).toMatchObject({
        code: 'transaction.rejected',
        message: expect.stringContaining('the fee payer has 0 SOL'),
      });
    },
    TEST_MS,
  );
});

describe.each(['alters', 'redirects'] as const)('a fee payer that %s', (way) => {
  it(
    'is refused, and another one pays for the same bytes',
    async () => {
      const [what, account] = [await order(), await penniless()];
      const { result } = await kora.ask(way, await sign(what, account));
      expect(summaryOf(await submit(what, result?.signed_transaction, account))).toEqual([422, 'transaction.mismatch']);
      await paidHonestly(what, account);
    },
    TEST_MS,
  );
});

describe('a sponsored payment', () => {
  it(
    'claims nothing when the fee payer refuses or lies, so that another payer pays',
    async () => {
      const [what, account] = [await order(), await penniless()];
      const handed = await sign(what, account);
      expect(await kora.ask('refuses', handed)).toMatchObject({ status: 403 });
      const { result } = await kora.ask('lies', handed);
      await until('the service to miss what it was told of', async () => {
        const [, code] = summaryOf(await what.payer.submit(what.id, result?.signed_transaction ?? '', account.address));
        return code === 'transaction.not_visible';
      });
      await paidHonestly(what, await penniless());
      expect(await held(account)).toBe(UNITS);
    },
    TEST_MS,
  );

  it(
    'is paid once when the fee payer stalls and the payer signs again',
    async () => {
      const [what, account] = [await order(), await penniless()];
      await give(account.address, UNITS);
      const handed = await sign(what, account);
      expect(await kora.ask('stalls', handed)).toMatchObject({ status: 202 });
      expect((await sign(what, account)).params.transaction).toBe(handed.params.transaction);
      await chain.expire();
      // A node that lags takes the old one for alive.
      const again = await until('another transaction', async () => {
        const signed = await sign(what, account);
        return signed.params.transaction !== handed.params.transaction && signed;
      });
      const { result: late } = await kora.ask('wakes-up');
      expect(summaryOf(await submit(what, late?.signed_transaction, account))).toEqual([422, 'transaction.rejected']);
      const { result } = await kora.ask('honest', again);
      expect(summaryOf(await submit(what, result?.signed_transaction, account))).toEqual([200, undefined]);
      await expectPaidOnce(what, account.address);
      expect(summaryOf(await submit(what, late?.signed_transaction, account))).toEqual([
        409,
        'intent.already_fulfilled',
      ]);
      expect(await held(account)).toBe(UNITS);
    },
    TEST_MS,
  );

  it(
    'is found when the fee payer sends it and says that it has refused',
    async () => {
      const [what, account] = [await order(), await penniless()];
      await give(account.address, UNITS);
      const handed = await sign(what, account);
      expect(await kora.ask('sends-and-says-it-refused', handed)).toMatchObject({ status: 403 });
      await expectPaidOnce(what, account.address);
      expect(await held(account)).toBe(UNITS);
    },
    TEST_MS,
  );
});
