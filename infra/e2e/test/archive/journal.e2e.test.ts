import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, Ledger, openStore } from '@pf/archive';
import { type StackWallet, until } from '@pf/testing';
import { walletOn } from '@pf/testing/wallets';
import { z } from 'zod';
import { type Name, NAMES } from '../chain-names.ts';
import { SubmittingHarness } from '../submitting/harness.ts';

const UNITS = 3_000_000n;
/** Rows of a transfer that have a wallet; of a fee one has. */
const SIDES = 2;
const TEST_MS = 300_000;
/** What the airdrop has given is there before it is final. */
const CONFIRMED = { commitment: 'confirmed' };
const lamports = z.object({ value: z.number() });

describe('the journal of the ledger', () => {
  let harness: SubmittingHarness;

  beforeAll(async () => {
    harness = await SubmittingHarness.open();
    await harness.cluster.start('archive');
    for (const name of NAMES) harness.flows[name].start();
  }, TEST_MS);
  afterAll(() => harness.close());

  /** What the journal says of each query's time: the archive follows within seconds. */
  async function journal(sql: string): Promise<Answer['rows']> {
    const ledger = await Ledger.open(openStore(pathToFileURL(harness.cluster.archive)));
    const { rows } = await ledger.query(sql).finally(() => ledger.close());
    return rows;
  }

  async function pay(name: Name, id: string, payer: StackWallet): Promise<string> {
    const merchant = walletOn(harness.chains[name], payer);
    const signed = await harness.sign({ name, id, merchant }, payer);
    expect(await harness.submit(harness.api, signed)).toMatchObject({ status: 200 });
    await harness.reach(id, 'finalized');
    return signed.hash;
  }

  /** What a wallet has of the chain's own coin. Tempo has none: its accounts pay fees in stablecoins. */
  async function coins(name: Name, address: string): Promise<bigint> {
    switch (name) {
      case 'base':
        return BigInt(await harness.chains.base.rpc<string>('eth_getBalance', address, 'latest'));
      case 'solana':
        return BigInt(lamports.parse(await harness.chains.solana.rpc('getBalance', address, CONFIRMED)).value);
      case 'tempo':
        return 0n;
    }
  }

  it.each(NAMES)(
    'agrees with the balances of payer and requestor on %s, after payments and a refund, with what they cost',
    async (name) => {
      const wallets = await harness.funded(name, 2);
      const [payer, shop] = wallets as [StackWallet, StackWallet];
      const usdc = harness.usdcOn(name);
      /** Of both wallets the token and the coin. */
      const balances = async (): Promise<bigint[]> => [
        ...(await Promise.all(wallets.map((wallet) => walletOn(harness.chains[name], wallet).tokenBalance(usdc)))),
        ...(await Promise.all(wallets.map(({ address }) => coins(name, address)))),
      ];
      const before = await balances();

      const { id: first } = await harness.create(name, { requestor: shop.address });
      const { id: second } = await harness.create(name, { requestor: shop.address });
      await pay(name, first, payer);
      await pay(name, second, payer);
      const refund = await harness.api.refund(first);
      expect(refund.status).toBe(201);
      await pay(name, refund.body.intent.id, shop);

      const after = await balances();
      const moved = after.map((balance, n) => balance - (before[n] ?? 0n));
      const rows = await until('the journal to have all', async () => {
        const all = await journal(
          `SELECT entry, lower(wallet) AS wallet, token, token_address IS NULL AS is_coin, base_units
           FROM journal
           WHERE chain = '${harness.chains[name].caip2}' AND wallet IS NOT NULL`,
        );
        return all.length === 3 * (SIDES + 1) && all;
      });
      const booked = (isCoin: boolean, wallet: StackWallet, isFee?: boolean): bigint =>
        rows
          .filter((row) => row['wallet'] === wallet.address.toLowerCase() && row['is_coin'] === isCoin)
          .filter((row) => isFee === undefined || (row['entry'] === 'fee') === isFee)
          .reduce((sum, row) => sum + BigInt(String(row['base_units'])), 0n);
      expect(wallets.map((wallet) => booked(false, wallet, false))).toEqual([-UNITS, UNITS]);
      expect([false, true].flatMap((isCoin) => wallets.map((wallet) => booked(isCoin, wallet)))).toEqual(moved);
      // Both have paid fees: the payer two, the shop one for its refund.
      const fees = rows.filter(({ entry }) => entry === 'fee');
      const coin = { base: 'ETH', solana: 'SOL', tempo: 'USDC.e' }[name];
      expect(fees.map(({ token }) => token)).toEqual([coin, coin, coin]);
    },
    TEST_MS,
  );

  it('sums to zero in each transaction', async () => {
    const rows = await journal(
      `SELECT sum(base_units) AS rest, count(*) AS transactions FROM (
         SELECT sum(base_units) AS base_units FROM journal GROUP BY chain, token_address, tx_signature)`,
    );
    // Those of Base and Solana have a fee in another token than the payment.
    expect(rows).toEqual([{ rest: '0', transactions: '15' }]);
    const unbalanced = await journal(
      'SELECT tx_signature FROM journal GROUP BY chain, token_address, tx_signature HAVING sum(base_units) <> 0',
    );
    expect(unbalanced).toEqual([]);
  });
});
