import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { PaymentTerms, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { networkOf } from '../../src/index.ts';
import { randomReference } from '../../src/solana/address.ts';
import { SolanaObserver } from '../../src/solana/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { blobFor, DEVNET, shownAs, signedBy, termsIn } from '../solana/payments.ts';
import { DELAY_MAX_MS } from './delay.ts';
import { timedIn } from './observed.ts';
import { ScriptedSolana, SLOT } from './scripted-solana.ts';
import {
  delay,
  hurry,
  NEVER,
  virtualPool,
  VirtualTime,
  type VirtualUpstream,
  virtualUpstreams,
} from './virtual-upstream.ts';

const TRANSACTION = 'getTransaction';
const [mine, theirs] = [termsIn('USDC'), termsIn('USDC')];
const paying = async (terms: PaymentTerms, number: number) =>
  shownAs(signedBy(await blobFor(terms)), terms, { number, slot: SLOT });
const transactions = new Map([await paying(mine, 0), await paying(theirs, 1)]);
const [HONEST, LATE] = [...transactions.keys()] as [TransactionHash, TransactionHash];

describe('a payment on Solana beside one that a second upstream does not show in time', () => {
  let time: VirtualTime;
  let chain: ScriptedSolana;
  let upstreams: VirtualUpstream[];
  let pool: RpcPool;
  let watcher: Watcher;

  const open = (count: number): void => {
    chain = new ScriptedSolana(time, transactions);
    upstreams = virtualUpstreams(count, time, chain.respond);
    pool = virtualPool('solana', upstreams);
    watcher = new Watcher(new SolanaObserver(networkOf(DEVNET), pool, time.now));
    watcher.watched.add('pi_mine', mine);
    watcher.watched.own(mine.requestor, 'acct_mine');
    watcher.watched.detect(mine);
  };
  const slow = (which: readonly number[], ms: number): void =>
    delay(
      upstreams.filter((_one, at) => which.includes(at)),
      [TRANSACTION],
      [LATE],
      ms,
    );
  const observed = async (steps: number): Promise<ReadonlyMap<string, number>> =>
    new Map(await timedIn(time, watcher, steps));

  beforeEach(() => {
    time = new VirtualTime();
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
    open(2);
  });
  afterEach(async () => {
    await pool.close();
    jest.restoreAllMocks();
  });

  /** Both are confirmed. */
  async function confirmed(): Promise<void> {
    watcher.watched.add('pi_theirs', theirs);
    watcher.watched.own(theirs.requestor, 'acct_theirs');
    watcher.watched.detect(theirs);
    await observed(1);
    chain.listed.set(mine.reference, [HONEST]).set(theirs.reference, [LATE]);
    expect([...(await observed(12)).keys()].toSorted()).toEqual([
      'pi_mine landed confirmed',
      'pi_theirs landed confirmed',
    ]);
  }
  async function usually(count = 2): Promise<number> {
    await confirmed();
    chain.isFinal = true;
    const usual = (await observed(3)).get('pi_mine landed finalized') ?? NEVER;
    open(count);
    expect(usual).not.toBe(NEVER);
    return usual;
  }
  const soonAt = (at: number): number =>
    upstreams[at]?.requests.filter(({ first, isSoon }) => isSoon && first.includes(LATE)).length ?? 0;

  it.each([
    [[1], 1_600],
    [[1], NEVER],
    [[0, 1], 1_600],
    [[0, 1], NEVER],
  ])('is final within a second of its usual time where %j take %d ms', async (which, ms) => {
    const usual = await usually();
    await confirmed();
    slow(which, ms);
    chain.isFinal = true;
    const found = await observed(40);
    expect((found.get('pi_mine landed finalized') ?? NEVER) - usual).toBeLessThan(DELAY_MAX_MS);
    expect(found.has('pi_theirs landed finalized')).toBe(ms !== NEVER);
    // After the first time it is asked for beside the steps only.
    const soon = [soonAt(0), soonAt(1)];
    const began = time.passed;
    await observed(40);
    expect([soonAt(0), soonAt(1)]).toEqual(soon);
    expect(time.passed - began).toBeLessThan(40 * 700);
    hurry(upstreams);
    if (ms === NEVER) expect([...(await observed(200)).keys()]).toEqual(['pi_theirs landed finalized']);
    expect(upstreams[1]?.most.get(TRANSACTION) ?? 0).toBeLessThanOrEqual(2);
  });

  it('is not final by the word of one, where what came beside the steps is of one', async () => {
    await confirmed();
    slow([1], 1_600);
    const own = upstreams[1]?.respond;
    const unpaid = await shownAs(signedBy(await blobFor(theirs)), theirs, { number: 1, slot: SLOT, hasMoved: false });
    (upstreams[1] as VirtualUpstream).respond = (method, params) =>
      method === TRANSACTION && params[0] === LATE ? unpaid[1] : own?.(method, params);
    chain.isFinal = true;
    expect([...(await observed(400)).keys()]).toEqual(['pi_mine landed finalized']);
    expect(watcher.warnings.at(-1)).toContain('a second upstream shows no such payment of pi_theirs');
  });

  it('is final at once by a third upstream, where the second returns nothing in time', async () => {
    const usual = await usually(3);
    await confirmed();
    (upstreams[1] as VirtualUpstream).takes = (method) => (method === TRANSACTION ? NEVER : 20);
    chain.isFinal = true;
    const found = await observed(3);
    for (const what of ['pi_mine landed finalized', 'pi_theirs landed finalized'])
      expect((found.get(what) ?? NEVER) - usual).toBeLessThan(DELAY_MAX_MS);
  });

  it.each([1_600, NEVER])('is not delayed by a deposit that is returned after %d ms', async (ms) => {
    const usual = await usually();
    watcher.watched.add('pi_other', { ...theirs, reference: randomReference() });
    watcher.watched.own(theirs.requestor, 'acct_theirs');
    await observed(1);
    chain.listed.set(mine.reference, [LATE, HONEST]);
    await observed(12);
    expect([...watcher.watched.openDeposits()]).toHaveLength(1);
    slow([0, 1], ms);
    chain.isFinal = true;
    expect(((await observed(12)).get('pi_mine landed finalized') ?? NEVER) - usual).toBeLessThan(DELAY_MAX_MS);
    expect([...watcher.watched.openDeposits()]).toHaveLength(ms === NEVER ? 1 : 0);
    hurry(upstreams);
    await observed(200);
    expect([...watcher.watched.openDeposits()]).toHaveLength(0);
  });

  it.each([1_600, NEVER])(
    'is not delayed by one that the first upstream lacks and the second returns after %d ms',
    async (ms) => {
      const usual = await usually();
      await confirmed();
      slow([1], ms);
      const own = upstreams[0]?.respond;
      (upstreams[0] as VirtualUpstream).respond = (method, params) => {
        if (method !== 'getSignatureStatuses') return own?.(method, params);
        const { value, context } = chain.respond(method, params) as { context: object; value: unknown[] };
        return { context, value: value.map((one, at) => ((params[0] as string[])[at] === LATE ? null : one)) };
      };
      chain.isFinal = true;
      const began = time.passed;
      const found = await observed(40);
      expect((found.get('pi_mine landed finalized') ?? NEVER) - usual).toBeLessThan(DELAY_MAX_MS);
      expect(found.has('pi_theirs landed finalized')).toBe(ms !== NEVER);
      expect(time.passed - began).toBeLessThan(40 * 700);
      hurry(upstreams);
      if (ms === NEVER) expect([...(await observed(200)).keys()]).toEqual(['pi_theirs landed finalized']);
    },
  );
});
