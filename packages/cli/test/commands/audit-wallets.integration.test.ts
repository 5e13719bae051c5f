import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { networkOf } from '@pf/chains/networks';
import { CHAIN_FAMILIES as NAMES, type ChainFamily as Name, type ChainId, type Reference } from '@pf/domain';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  readBackingStack,
  type StackChain,
  type StackWallet,
  startCluster,
  until,
} from '@pf/testing';
import { type Anvil, type LocalSolana, startAnvil, startSolana, startTempo, type Tempo } from '@pf/testing/chains';
import { evmWallet, solanaWallet, tempoWallet, walletOn } from '@pf/testing/wallets';
import { type Pf, pfOn } from '../pf-on.ts';

const BLOCK_MS = 200;
const WITHIN_MS = 120_000;
const PAID = 2_000_000n;
const SHORT = 1_500_000n;
const PLAIN = 700_000n;
const OUT = 300_000n;

interface Answer {
  readonly tokens: readonly Readonly<Record<string, unknown>>[];
  readonly differences: readonly unknown[];
}

describe('pf audit wallets', () => {
  let chains: { readonly base: Anvil; readonly solana: LocalSolana; readonly tempo: Tempo };
  let cluster: Cluster;
  let api: ApiClient;
  let pf: Pf;

  beforeAll(async () => {
    const [base, solana, tempo] = await Promise.all([
      startAnvil({ blockMs: BLOCK_MS }),
      startSolana({ slotMs: BLOCK_MS }),
      startTempo({ blockMs: BLOCK_MS }),
    ]);
    chains = { base, solana, tempo };
    cluster = await startCluster(readBackingStack(), Object.values(chains));
    const [gateway] = await Promise.all([
      cluster.start('gateway'),
      cluster.start('intent'),
      cluster.start('archive'),
      cluster.start('watcher', { env: { DEPOSITS: 'true' } }),
    ]);
    api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    pf = await pfOn(cluster);
  });
  afterAll(async () => {
    await pf.close();
    await cluster.close();
    await Promise.all(Object.values(chains).map((chain) => chain.stop()));
  });

  const usdcOn = (name: Name): string => chains[name].tokens['USDC'] ?? '';
  const walletsOn = (name: Name): readonly [payer: StackWallet, merchant: StackWallet] => {
    const [payer, merchant] = chains[name].wallets;
    if (payer === undefined || merchant === undefined) throw new Error(`${name} has wallets`);
    return [payer, merchant];
  };
  /** A transfer that names nothing. */
  async function transfer(name: Name, by: StackWallet, to: string, amount: bigint): Promise<string> {
    const chain: StackChain = chains[name];
    const wallet = { base: evmWallet, solana: solanaWallet, tempo: tempoWallet }[name](chain, by);
    return wallet.transfer(usdcOn(name), to, amount);
  }
  async function headOf(name: Name): Promise<bigint> {
    const method = name === 'solana' ? 'getSlot' : 'eth_blockNumber';
    return BigInt(await chains[name].rpc<string | number>(method));
  }
  const rows = async (sql: string, ...values: readonly unknown[]): Promise<readonly Record<string, unknown>[]> =>
    (await cluster.database.sql.query<Record<string, unknown>>(sql, [...values])).rows;

  const audit = async (
    name: Name,
    from: bigint,
    ...args: readonly string[]
  ): Promise<{ code: number; errors: string } & Answer> => {
    const [, merchant] = walletsOn(name);
    const network = networkOf(chains[name].caip2 as ChainId).name;
    const { code, errors, answer } = await pf.run(
      ...['audit', 'wallets', '--network', network, '--wallet', merchant.address, '--from', String(from)],
      ...['--rpc', chains[name].rpcUrl, ...args],
    );
    return { code, errors, ...(answer as Answer) };
  };

  it.each(NAMES)(
    'agrees with %s to the unit, and finds what is taken from the ledger, or made up',
    async (name) => {
      const [payer, merchant] = walletsOn(name);
      const from = (await headOf(name)) + 1n;
      const created = await api.create({
        chain: chains[name].caip2,
        token: 'USDC',
        amount: '2',
        requestor: merchant.address,
      });
      expect(created.status).toBe(201);
      const { id, reference } = created.body.intent;
      const pays = walletOn(chains[name], payer);
      const paid = await pays.pay(usdcOn(name), merchant.address, PAID, reference as Reference);
      const short = await pays.pay(usdcOn(name), merchant.address, SHORT, reference as Reference);
      const plain = await transfer(name, payer, merchant.address, PLAIN);
      await transfer(name, merchant, payer.address, OUT);
      await until(
        'all of it to be final in the ledger',
        async () => {
          const [found] = await rows(
            `SELECT (SELECT status FROM ledger.intents WHERE id = $1) AS status,
               (SELECT count(*)::int FROM ledger.intent_events
                 WHERE intent_id = $1 AND type = 'intent.mismatched_payment') AS mismatched,
               (SELECT level FROM ledger.deposits WHERE tx_signature = $2) AS level`,
            id,
            plain,
          );
          return found?.['status'] === 'finalized' && found['level'] === 'finalized' && found['mismatched'] === 1;
        },
        WITHIN_MS,
      );

      const agreeing = await audit(name, from);
      expect([agreeing.code, agreeing.errors, agreeing.differences]).toEqual([0, '', []]);
      const usdc = agreeing.tokens.find(({ tokenAddress }) => tokenAddress === usdcOn(name));
      expect(usdc).toMatchObject({
        came: String(PAID + SHORT + PLAIN),
        ledger: { settlements: String(PAID), extra: '0', mismatched: String(SHORT), deposits: String(PLAIN) },
        difference: '0',
        unexplained: '0',
      });
      // On Tempo also the fee.
      expect(BigInt(String(usdc?.['went']))).toBeGreaterThanOrEqual(OUT);
      if (name !== 'tempo') expect(usdc?.['went']).toBe(String(OUT));

      // An accountant's sum is the chain's.
      await until('the journal to have all of it', async () => {
        const { answer } = await pf.run(
          ...['ledger', 'query'],
          `SELECT sum(base_units) AS units FROM journal WHERE wallet = '${merchant.address}' AND entry <> 'fee'
             AND tx_signature IN ('${paid}', '${short}', '${plain}')`,
        );
        return JSON.stringify(answer) === JSON.stringify([{ units: String(PAID + SHORT + PLAIN) }]);
      });

      const [kept] = await rows('SELECT id, document FROM ledger.deposits WHERE tx_signature = $1', plain);
      const other = `${plain.slice(0, 20)}${plain[20] === '2' ? '3' : '2'}${plain.slice(21)}`;
      await rows(
        'UPDATE ledger.deposits SET document = replace(document, $2, $3) WHERE id = $1',
        kept?.['id'],
        plain,
        other,
      );
      const differing = await audit(name, from);
      expect([differing.code, differing.differences]).toEqual([
        1,
        [
          expect.objectContaining({
            kind: 'missing',
            txSignature: plain,
            arrived: String(PLAIN),
            told: '0',
            sender: payer.address,
            toldBy: [],
          }),
          expect.objectContaining({
            kind: 'beyond',
            txSignature: other,
            block: null,
            arrived: '0',
            told: String(PLAIN),
            toldBy: [kept?.['id']],
          }),
        ],
      ]);
      expect(differing.errors).toContain('docs/operations/runbooks/audit-wallets.md');

      await rows('DELETE FROM ledger.deposits WHERE id = $1', kept?.['id']);
      const lacking = await audit(name, from, '--account', cluster.accountId);
      expect([lacking.code, lacking.differences]).toMatchObject([1, [{ kind: 'missing', txSignature: plain }]]);
      expect(lacking.tokens.find(({ tokenAddress }) => tokenAddress === usdcOn(name))).toMatchObject({
        difference: String(-PLAIN),
      });
    },
    2 * WITHIN_MS,
  );

  it('refuses what is not final, an empty range, and what is no wallet', async () => {
    const [, { address }] = walletsOn('base');
    const run = (...args: readonly string[]): ReturnType<Pf['run']> =>
      pf.run('audit', 'wallets', '--network', 'base-sepolia', '--rpc', chains.base.rpcUrl, ...args);
    expect((await run('--wallet', address, '--from', '1', '--to', '99999999')).errors).toContain('is not final yet');
    expect((await run('--wallet', address, '--from', '2', '--to', '1')).errors).toContain('There is no block');
    expect((await run('--wallet', '0x1', '--from', '1')).code).toBe(1);
    expect((await run('--wallet', address)).code).toBe(2);
  });
});
