import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, Ledger, openStore } from '@pf/archive';
import { type StackWallet, until } from '@pf/testing';
import { walletOn } from '@pf/testing/wallets';
import { z } from 'zod';
import { type Name, NAMES } from '../chain-names.ts';
import { SubmittingHarness } from '../submitting/harness.ts';

const UNITS = 3_000_000n;
/** Tempo counts fees in 18 decimals and takes them from a token of 6. */
const TEMPO_FEE_SCALE = 10n ** 12n;
const TEST_MS = 300_000;
const receipt = z.object({ gasUsed: z.string(), effectiveGasPrice: z.string() });

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

  /** The fees that a wallet has paid in the token: only Tempo takes them there. */
  async function feesOf(name: Name, hashes: readonly string[]): Promise<bigint> {
    if (name !== 'tempo') return 0n;
    let fees = 0n;
    for (const hash of hashes) {
      const { gasUsed, effectiveGasPrice } = receipt.parse(
        await harness.chains.tempo.rpc('eth_getTransactionReceipt', hash),
      );
      fees += (BigInt(gasUsed) * BigInt(effectiveGasPrice) + TEMPO_FEE_SCALE - 1n) / TEMPO_FEE_SCALE;
    }
    return fees;
  }

  it.each(NAMES)(
    'agrees with the balances of payer and requestor on %s, after payments and a refund',
    async (name) => {
      const wallets = await harness.funded(name, 2);
      const [payer, shop] = wallets as [StackWallet, StackWallet];
      const usdc = harness.usdcOn(name);
      const balances = (): Promise<bigint[]> =>
        Promise.all(wallets.map((wallet) => walletOn(harness.chains[name], wallet).tokenBalance(usdc)));
      const before = await balances();

      const { id: first } = await harness.create(name, { requestor: shop.address });
      const { id: second } = await harness.create(name, { requestor: shop.address });
      const paid = [await pay(name, first, payer), await pay(name, second, payer)];
      const refund = await harness.api.refund(first);
      expect(refund.status).toBe(201);
      const returned = [await pay(name, refund.body.intent.id, shop)];

      const after = await balances();
      const moved = after.map((balance, n) => balance - (before[n] ?? 0n));
      const sums = await until('the journal to have all', async () => {
        const rows = await journal(
          `SELECT wallet, sum(base_units) AS units, count(*) AS transfers FROM journal
           WHERE chain = '${harness.chains[name].caip2}' GROUP BY wallet`,
        );
        return rows.every(({ transfers }) => transfers === '3') && rows.length === 2 && rows;
      });
      const booked = wallets.map(({ address }) =>
        BigInt(String(sums.find(({ wallet }) => String(wallet).toLowerCase() === address.toLowerCase())?.['units'])),
      );
      expect(booked).toEqual([-UNITS, UNITS]);
      const fees = [await feesOf(name, paid), await feesOf(name, returned)];
      expect(moved.map((units, n) => units + (fees[n] ?? 0n))).toEqual(booked);
    },
    TEST_MS,
  );

  it('sums to zero in each transaction', async () => {
    const rows = await journal(
      `SELECT sum(base_units) AS rest, count(*) AS transactions FROM (
         SELECT sum(base_units) AS base_units FROM journal GROUP BY chain, token_address, tx_signature)`,
    );
    expect(rows).toEqual([{ rest: '0', transactions: '9' }]);
    const unbalanced = await journal(
      'SELECT tx_signature FROM journal GROUP BY chain, token_address, tx_signature HAVING sum(base_units) <> 0',
    );
    expect(unbalanced).toEqual([]);
  });
});
