import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import type { Hex } from 'viem';
import { BaseObserver } from '../../src/base/observer.ts';
import { networkOf } from '../../src/index.ts';
import { CHAIN, fulfiller, terms } from '../base/payments.ts';
import { Watcher } from '../conformance/watching.ts';
import { DELAY_MAX_MS } from './delay.ts';
import { timedIn } from './observed.ts';
import { honest, nested, respondOf, ScriptedChain } from './scripted-chain.ts';
import {
  delay,
  hurry,
  NEVER,
  virtualPool,
  VirtualTime,
  type VirtualUpstream,
  virtualUpstreams,
} from './virtual-upstream.ts';

const FINAL_AFTER = 9;
const [TRANSACTION, RECEIPT, TRACE] = [
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'debug_traceTransaction',
] as const;
const of = (byte: string): PaymentTerms => ({ ...terms, reference: `0x${byte.repeat(32)}` as Reference });
const [theirs, later] = [of('66'), of('77')];

describe('a payment on Base beside one that a second upstream does not show in time', () => {
  let time: VirtualTime;
  let chain: ScriptedChain;
  let upstreams: VirtualUpstream[];
  let pool: RpcPool;
  let watcher: Watcher;

  const open = (count = 2): void => {
    chain = new ScriptedChain();
    upstreams = virtualUpstreams(count, time, respondOf(chain));
    pool = virtualPool('evm', upstreams);
    watcher = new Watcher(new BaseObserver(networkOf(CHAIN), pool, time.now));
    watcher.watched.add('pi_mine', terms);
    watcher.watched.add('pi_theirs', theirs);
    watcher.watched.add('pi_later', later);
    chain.mine();
  };
  const slow = (which: readonly number[], hash: Hex, method: string, ms: number): void =>
    delay(
      upstreams.filter((_one, at) => which.includes(at)),
      [method],
      [hash],
      ms,
    );
  const become = (): void => {
    for (let block = 0; block < FINAL_AFTER; block += 1) chain.mine();
  };

  beforeEach(() => void ((time = new VirtualTime()), open()));
  afterEach(async () => {
    await pool.close();
    jest.restoreAllMocks();
  });

  const observed = async (steps: number): Promise<ReadonlyMap<string, number>> =>
    new Map(await timedIn(time, watcher, steps));

  /** Both are confirmed; then both are final, while another is confirmed. */
  const confirmed = async (): Promise<Hex> => {
    await observed(1);
    const [hash] = chain.mine(nested(theirs, 0), nested(terms, 1));
    expect([...(await observed(12)).keys()].toSorted()).toEqual([
      'pi_mine landed confirmed',
      'pi_theirs landed confirmed',
    ]);
    become();
    chain.mine(honest(later));
    return hash as Hex;
  };
  const delayed = (found: ReadonlyMap<string, number>, usual: ReadonlyMap<string, number>): readonly number[] =>
    ['pi_mine landed finalized', 'pi_later landed confirmed'].map(
      (what) => (found.get(what) ?? NEVER) - (usual.get(what) ?? 0),
    );

  it.each([
    [RECEIPT, [1], NEVER, true],
    [RECEIPT, [0], NEVER, true],
    [RECEIPT, [0, 1], NEVER, true],
    [TRANSACTION, [1], NEVER, false],
    [TRANSACTION, [0, 1], NEVER, false],
    [TRACE, [1], NEVER, true],
    [TRACE, [0, 1], NEVER, true],
    [RECEIPT, [1], 1_600, true],
    [TRANSACTION, [1], 1_600, true],
    [TRACE, [0, 1], 1_600, true],
  ] as const)('is final in its usual time where %s of %j takes %d ms', async (method, which, ms, isShown) => {
    await confirmed();
    const usual = await observed(12);
    open();
    const late = await confirmed();
    slow(which, late, method, ms);
    const found = await observed(60);
    for (const delay of delayed(found, usual)) expect(delay).toBeLessThan(DELAY_MAX_MS);
    // In the place of a receipt are the logs of its block, and in that of a trace the calldata.
    expect(found.has('pi_theirs landed finalized')).toBe(isShown);
    // One step has waited for it at each upstream. After that it was asked for beside the steps only.
    const before = upstreams.map(({ requests }) => requests.length);
    chain.mine();
    await observed(60);
    const soon = upstreams.flatMap(({ requests }, at) =>
      requests.slice(before[at]).filter(({ first, isSoon }) => isSoon && first.includes(late)),
    );
    expect(soon).toEqual([]);
    hurry(upstreams);
    if (!isShown) expect([...(await observed(400)).keys()]).toEqual(['pi_theirs landed finalized']);
    for (const upstream of upstreams) expect(upstream.most.get(method) ?? 0).toBeLessThanOrEqual(2);
  });

  it.each([RECEIPT, TRANSACTION])(
    'is final at once by a third upstream, where the second returns no %s in time',
    async (method) => {
      open(3);
      await confirmed();
      const usual = await observed(12);
      open(3);
      await confirmed();
      (upstreams[1] as VirtualUpstream).takes = (asked) => (asked === method ? NEVER : 20);
      const found = await observed(12);
      for (const delay of delayed(found, usual)) expect(delay).toBeLessThan(DELAY_MAX_MS);
      expect(found.has('pi_theirs landed finalized')).toBe(true);
    },
  );

  it('is lost, and not final, where its block is replaced while it is read beside the steps', async () => {
    const late = await confirmed();
    slow([1], late, RECEIPT, 1_600);
    const found = new Map<string, number>();
    // The step waits for it a moment, and begins to read it.
    while (upstreams[1]?.requests.some(({ first, isSoon }) => first.includes(late) && !isSoon) !== true)
      for (const [what, ms] of await observed(1)) found.set(what, ms);
    chain.reorganize(2n);
    for (const [what, ms] of await observed(30)) found.set(what, ms);
    expect(found.has('pi_theirs lost')).toBe(true);
    expect(found.has('pi_theirs landed finalized')).toBe(false);
  });

  it('is not final by what has come over a minute ago', async () => {
    const late = await confirmed();
    slow([1], late, RECEIPT, 1_600);
    const begun = (): number =>
      upstreams[1]?.requests.filter(
        ({ method, first, isSoon }) => method === RECEIPT && first.includes(late) && !isSoon,
      ).length ?? 0;
    while (begun() === 0) await observed(1);
    await time.pass(60_000);
    expect([...(await observed(1)).keys()]).not.toContain('pi_theirs landed finalized');
    expect([...(await observed(20)).keys()]).toContain('pi_theirs landed finalized');
    expect(begun()).toBe(2);
  });

  it('is not delayed by a deposit whose receipt is never returned', async () => {
    const owned = async (): Promise<Hex> => {
      watcher.watched.own(terms.requestor, 'acct_1');
      await observed(1);
      const [hash] = chain.mine(honest({ ...terms, reference: `0x${'99'.repeat(32)}` as Reference }), honest(terms));
      await observed(12);
      expect([...watcher.watched.openDeposits()]).toHaveLength(1);
      become();
      chain.mine(honest(later));
      return hash as Hex;
    };
    await owned();
    const usual = await observed(12);
    open();
    const late = await owned();
    slow([1], late, RECEIPT, NEVER);
    const found = await observed(60);
    for (const delay of delayed(found, usual)) expect(delay).toBeLessThan(DELAY_MAX_MS);
    // In the place of its receipt are the logs of its block.
    expect([...watcher.watched.openDeposits()]).toHaveLength(0);
  });

  it('does not delay a deposit, however many payments are late', async () => {
    const CROWD = 90;
    const crowd = Array.from({ length: CROWD }, (_, at) => of((at + 100).toString(16)));
    const landed = async (): Promise<readonly Hex[]> => {
      for (const [at, one] of crowd.entries()) watcher.watched.add(`pi_${at}`, one);
      watcher.watched.own(terms.requestor, 'acct_1');
      await observed(1);
      const unnamed = honest({ ...terms, reference: `0x${'09'.repeat(32)}` as Reference });
      const [, ...late] = chain.mine(unnamed, ...crowd.map(honest));
      await observed(20);
      expect([[...watcher.watched.openDeposits()].length, [...watcher.watched.settling()].length]).toEqual([1, CROWD]);
      become();
      return late;
    };
    const finalAfter = async (): Promise<number> => {
      const began = time.passed;
      for (let step = 0; step < 60 && [...watcher.watched.openDeposits()].length > 0; step += 1) await observed(1);
      return time.passed - began;
    };
    await landed();
    const usual = await finalAfter();
    open();
    const late = await landed();
    delay(upstreams.slice(1), [RECEIPT], late, NEVER);
    expect((await finalAfter()) - usual).toBeLessThan(DELAY_MAX_MS);
  });

  it.each([1_600, NEVER])(
    'is confirmed in its usual time where the second upstream says after %d ms that it lacks a submission',
    async (ms) => {
      const lacking = `0x${'1a'.repeat(32)}` as TransactionHash;
      const submitted = async (): Promise<void> => {
        await observed(1);
        chain.sent = 5;
        const lifetime = { kind: 'nonce' } as const;
        watcher.watched.submit(
          { hash: lacking, sender: fulfiller, nonce: '1', lifetime, terms: theirs } as never,
          time.now(),
        );
        become();
        chain.mine(honest(terms));
      };
      await submitted();
      const usual = await observed(40);
      expect([...usual.keys()]).toEqual(['pi_theirs dropped', 'pi_mine landed confirmed']);
      open();
      slow([1], lacking as Hex, RECEIPT, ms);
      await submitted();
      const found = await observed(40);
      // What it lacks is proven beside the steps.
      expect([...found.keys()].toSorted()).toEqual([
        'pi_mine landed confirmed',
        ...(ms === NEVER ? [] : ['pi_theirs dropped']),
      ]);
      const what = 'pi_mine landed confirmed';
      expect((found.get(what) ?? NEVER) - (usual.get(what) ?? 0)).toBeLessThan(DELAY_MAX_MS);
      // No later step is delayed by it either.
      chain.mine(honest(later));
      const usualMs = usual.get(what) ?? 0;
      expect(((await observed(40)).get('pi_later landed confirmed') ?? NEVER) - usualMs).toBeLessThan(DELAY_MAX_MS);
      hurry(upstreams);
      if (ms === NEVER) expect([...(await observed(200)).keys()]).toEqual(['pi_theirs dropped']);
    },
  );
});
