import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, Observation, PaymentTerms } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { rewindCursor } from '../../../src/index.ts';
import { SolanaObserver } from '../../../src/solana/observer.ts';
import { tokenAccountOf } from '../../../src/solana/payment.ts';
import { Watcher } from '../../conformance/watching.ts';
import { solanaPool, type SolanaPayer, type SolanaUnderTest, startSolana, termsOn } from '../chain.ts';

/** So often an account is listed in turn. */
const TURN_MS = 6_000;

describe('SolanaObserver, by what it has stored of each recipient', () => {
  let solana: SolanaUnderTest;
  let proxy: RpcProxy;
  let watcher: Watcher;
  let closing: (() => Promise<void>)[];
  beforeAll(async () => {
    solana = await startSolana();
  });
  afterAll(() => solana.stop());
  beforeEach(async () => {
    await solana.node.finalize();
    proxy = await startRpcProxy(solana.node.rpcUrl);
    closing = [() => proxy.stop()];
    watcher = new Watcher(newObserver());
    await watcher.step();
  });
  afterEach(async () => {
    for (const close of closing) await close();
  });

  function newObserver(): SolanaObserver {
    const pool = solanaPool([proxy.url]);
    closing.unshift(() => pool.close());
    return new SolanaObserver(solana.adapter.network, pool, solana.clock.now);
  }
  const newTerms = (symbol?: string, requestor?: Address): PaymentTerms => termsOn(solana, symbol, requestor);
  const payer = (index = 0): SolanaPayer => solana.payers[index] as SolanaPayer;
  type Pay = Parameters<SolanaPayer['transfer']>[3];
  const pay = (
    { tokenAddress, requestor, amount, reference }: PaymentTerms,
    by: Pay = { references: [reference] },
  ): Promise<string> => payer().transfer(tokenAddress, requestor, amount, by);
  /** It exists, and its transactions were read. */
  async function known(...all: readonly PaymentTerms[]): Promise<void> {
    for (const terms of all) await pay({ ...terms, amount: 1n }, {});
    await solana.node.advance();
    await after(1_000);
    await after(TURN_MS);
  }
  async function after(ms: number): Promise<readonly Observation[]> {
    solana.clock.pass(ms);
    return watcher.step();
  }
  /** What is observed while each of so many accounts has its turn. */
  async function inTurns(count: number): Promise<readonly Observation[]> {
    const observations: Observation[] = [];
    for (let turn = 0; turn < count; turn += 1) observations.push(...(await after(TURN_MS)));
    return observations;
  }
  function restart(): void {
    watcher = watcher.restart(newObserver());
  }
  const calls = (method: string): number => proxy.calls.get(method) ?? 0;

  describe.each([
    ['in a watcher that runs', false],
    ['after a restart', true],
  ])('%s', (_when, isRestarted) => {
    const interrupt = (): void => {
      if (isRestarted) restart();
    };
    const kinds: readonly (readonly [what: string, symbol: string, send: (terms: PaymentTerms) => Promise<string>])[] =
      [
        ['with its reference', 'USDC', (terms) => pay(terms)],
        ['of another token program', 'PYUSD', (terms) => pay(terms)],
        ['that the only memo names', 'USDC', (terms) => pay(terms, { memo: terms.reference })],
      ];
    it.each(kinds)('finds a payment %s (%s) by the balance that moved', async (_what, symbol, send) => {
      const terms = newTerms(symbol);
      watcher.watched.add('pi_test', terms);
      await known(terms);
      const hash = await send(terms);
      await solana.node.advance();
      interrupt();
      expect(await after(1_000)).toMatchObject([{ type: 'landed', intentId: 'pi_test', data: { hash } }]);
    });

    it('finds a payment to an account that did not exist', async () => {
      const terms = newTerms();
      watcher.watched.add('pi_test', terms);
      await after(1_000);
      const hash = await pay(terms);
      await solana.node.advance();
      interrupt();
      expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
    });

    it('finds a payment after the last look at its expired intent', async () => {
      const terms = newTerms();
      watcher.watched.add('pi_test', terms);
      await known(terms);
      watcher.watched.expire(terms);
      await after(1_000);
      const hash = await pay(terms);
      await solana.node.advance();
      interrupt();
      expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
    });

    it('finds a payment of which as much went out at once when its account has its turn', async () => {
      const terms = newTerms('USDC', payer(7).address);
      watcher.watched.add('pi_test', terms);
      await known(terms);
      const hash = await pay(terms);
      await payer(7).transfer(terms.tokenAddress, solana.newRecipient(), terms.amount);
      await solana.node.advance();
      interrupt();
      expect(await inTurns(3)).toMatchObject([{ type: 'landed', data: { hash } }]);
    });
  });

  it('lists the accounts that moved after a restart, and no others', async () => {
    const all = Array.from({ length: 300 }, () => newTerms());
    for (const [n, terms] of all.entries()) watcher.watched.add(`pi_${n}`, terms);
    await known(...all.slice(0, 3));
    // Whether a new recipient's first balance is explained is in doubt for 80 s.
    await after(80_000);
    expect(watcher.bookmarks.size).toBe(300);
    const hashes = [await pay(all[2] ?? newTerms()), await pay(all[250] ?? newTerms())];
    await solana.node.advance(2_000);
    restart();
    proxy.calls.clear();
    expect((await after(60_000)).map(({ data }) => data.hash).sort()).toEqual(hashes.sort());
    // Both, and one in turn. 1,200 accounts: of four tokens each.
    expect(calls('getSignaturesForAddress')).toBe(3);
    expect(calls('getMultipleAccounts')).toBeLessThanOrEqual(13);
  });

  it('finds the payment of a new intent while it catches up with thousands of recipients', async () => {
    for (let n = 0; n < 3_000; n += 1) watcher.watched.add(`pi_${n}`, newTerms());
    await after(1_000);
    expect(watcher.bookmarks.size).toBe(3_000);
    restart();
    expect((await watcher.stepOnce()).behind).toBeGreaterThan(0n);
    const terms = newTerms();
    watcher.watched.add('pi_new', terms);
    watcher.watched.await(terms);
    const hash = await pay(terms);
    await solana.node.advance();
    const { observations, behind } = await watcher.stepOnce();
    expect(observations).toMatchObject([{ type: 'landed', intentId: 'pi_new', data: { hash } }]);
    expect(behind).toBeGreaterThan(0n);
  });

  it('continues the turns of the previous watcher', async () => {
    const all = Array.from({ length: 10 }, () => newTerms());
    for (const [n, terms] of all.entries()) watcher.watched.add(`pi_${n}`, terms);
    await after(1_000);
    const listed: unknown[] = [];
    proxy.respond = ({ method, params: [account] }) => {
      if (method === 'getSignaturesForAddress') listed.push(account);
      return undefined;
    };
    for (let turn = 0; turn < 20; turn += 1) {
      await solana.node.advance();
      restart();
      await after(TURN_MS);
    }
    expect(new Set(listed).size).toBe(20);
  });

  it('finds the payments to recipients whose accounts were not derived yet when it was interrupted', async () => {
    await after(1_000);
    const all = Array.from({ length: 700 }, () => newTerms());
    for (const [n, terms] of all.entries()) watcher.watched.add(`pi_${n}`, terms);
    const hash = await pay(all[650] ?? newTerms());
    await solana.node.advance(1_000);
    await watcher.stepOnce();
    restart();
    expect(await after(1_000)).toMatchObject([{ type: 'landed', intentId: 'pi_650', data: { hash } }]);
  });

  it('asks for the balances of all within a minute, also while recipients are added in every step', async () => {
    const all = Array.from({ length: 250 }, () => newTerms());
    for (const [n, terms] of all.entries()) watcher.watched.add(`pi_${n}`, terms);
    await after(60_000);
    const hash = await pay(all[249] ?? newTerms());
    await solana.node.advance();
    const seen: Observation[] = [];
    for (let second = 0; second < 60; second += 5) {
      watcher.watched.add(`pi_late_${second}`, newTerms());
      seen.push(...(await after(5_000)));
    }
    expect(seen).toMatchObject([{ type: 'landed', intentId: 'pi_249', data: { hash } }]);
  });

  it('lists all accounts of a recipient whose bookmark it cannot read', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    await known(terms);
    const hash = await pay(terms);
    await solana.node.advance(1_000);
    watcher.bookmarks.set(terms.requestor, '{"newer": true}');
    restart();
    expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
  });

  it('asks for the balances of awaited recipients in every step', async () => {
    const all = Array.from({ length: 200 }, () => newTerms());
    for (const [n, terms] of all.entries()) watcher.watched.add(`pi_${n}`, terms);
    await after(60_000);
    for (const terms of [all[7], all[190]]) {
      if (terms === undefined) throw new Error('there are 200');
      watcher.watched.await(terms);
      const hash = await pay(terms);
      await solana.node.advance();
      proxy.calls.clear();
      // No time has passed: no other account is due.
      expect(await after(0)).toMatchObject([{ type: 'landed', data: { hash } }]);
      expect(calls('getMultipleAccounts')).toBe(1);
    }
  });

  it('does not believe a bookmark of a time when a listed transaction was not returned yet', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    await known(terms);
    const hash = await pay(terms);
    await solana.node.advance();
    proxy.respond = ({ method }) => (method === 'getTransaction' ? null : undefined);
    expect(await after(1_000)).toEqual([]);
    proxy.respond = () => undefined;
    restart();
    expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
  });

  it('does not believe a bookmark of a time when the list did not show what moved the balance', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    await known(terms);
    await solana.node.advance(1_000);
    await inTurns(2);
    restart();
    await after(1_000);
    const account = await tokenAccountOf(terms.requestor, terms.tokenAddress);
    const old: unknown = await solana.node.rpc('getSignaturesForAddress', account, { commitment: 'confirmed' });
    const hash = await pay(terms);
    await solana.node.advance();
    // An index that lags shows old transactions.
    proxy.respond = ({ method }) => (method === 'getSignaturesForAddress' ? old : undefined);
    expect(await after(1_000)).toEqual([]);
    proxy.respond = () => undefined;
    restart();
    expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
  });

  it('lists all accounts again after its cursor was rewound', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    const hash = await pay(terms);
    await solana.node.advance();
    const [found] = await after(1_000);
    expect(found).toMatchObject({ type: 'landed', data: { hash } });
    await after(TURN_MS);
    await solana.node.advance(400);
    await inTurns(3);
    restart();
    expect(await after(60_000)).toEqual([]);
    restart();
    watcher.moveCursor((cursor) =>
      rewindCursor(solana.adapter.network, cursor, found?.type === 'landed' ? found.data.transfer.block : 0n),
    );
    expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
    // And another watcher after it begins with the bookmarks that it made.
    await after(1_000);
    restart();
    proxy.calls.clear();
    expect(await after(1_000)).toEqual([]);
    expect(calls('getSignaturesForAddress')).toBe(1);
  });

  it('continues where an older watcher without bookmarks stopped', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    await known(terms);
    // The older one reads on, and leaves the bookmarks as they are.
    watcher.moveCursor(({ known: _known, ...older }) => older);
    const hash = await pay(terms);
    await solana.node.advance();
    restart();
    expect(await after(1_000)).toMatchObject([{ type: 'landed', data: { hash } }]);
  });

  it('forgets the bookmark of a recipient that is no longer watched', async () => {
    const terms = newTerms();
    watcher.watched.add('pi_test', terms);
    await after(1_000);
    expect([...watcher.bookmarks.keys()]).toEqual([terms.requestor]);
    watcher.watched.drop(terms);
    await after(1_000);
    expect(watcher.bookmarks.size).toBe(0);
  });

  it('asks for a head and the balances in each step, and for a list every 6 s, when nothing happens', async () => {
    for (let n = 0; n < 20; n += 1) watcher.watched.add(`pi_${n}`, newTerms());
    await after(60_000);
    proxy.calls.clear();
    for (let second = 0; second < 60; second += 1) {
      await solana.node.advance(2);
      await after(1_000);
    }
    expect(Object.fromEntries(proxy.calls)).toEqual({
      getEpochInfo: 60,
      getMultipleAccounts: 60,
      getSignaturesForAddress: 10,
    });
  });
});
