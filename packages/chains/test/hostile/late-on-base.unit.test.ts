import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import type { Hex } from 'viem';
import { BaseObserver } from '../../src/base/observer.ts';
import { networkOf } from '../../src/index.ts';
import { CHAIN, fulfiller, terms } from '../base/payments.ts';
import { Watcher } from '../conformance/watching.ts';
import type { Shown } from './base.ts';
import { DELAY_MAX_MS } from './delay.ts';
import { type Timed, timedIn } from './observed.ts';
import { honest, nested, respondOf, ScriptedChain } from './scripted-chain.ts';
import { delay, NEVER, virtualPool, VirtualTime, type VirtualUpstream, virtualUpstreams } from './virtual-upstream.ts';

const [TRANSACTION, RECEIPT] = ['eth_getTransactionByHash', 'eth_getTransactionReceipt'];
const [TRACE, TOKEN_CALLS] = ['debug_traceTransaction', 'trace_filter'];
const theirs: PaymentTerms = { ...terms, reference: `0x${'66'.repeat(32)}` as Reference };

describe('a transaction that takes long beside a payment on Base', () => {
  let time: VirtualTime;
  let chain: ScriptedChain;
  let upstreams: VirtualUpstream[];
  let pool: RpcPool;
  let watcher: Watcher;

  const open = (count: number): void => {
    chain = new ScriptedChain();
    upstreams = virtualUpstreams(count, time, respondOf(chain));
    pool = virtualPool('evm', upstreams);
    watcher = new Watcher(new BaseObserver(networkOf(CHAIN), pool, time.now));
    watcher.watched.add('pi_mine', terms);
    watcher.watched.add('pi_theirs', theirs);
    chain.mine();
  };
  const slow = (hashes: readonly Hex[], ms: number, ...methods: readonly string[]): void =>
    delay(upstreams, methods, hashes, ms);
  const only = (): VirtualUpstream => upstreams[0] as VirtualUpstream;

  beforeEach(() => {
    time = new VirtualTime();
    open(1);
  });
  afterEach(async () => {
    await pool.close();
    jest.restoreAllMocks();
  });

  const observed = (steps: number): Promise<readonly Timed[]> => timedIn(time, watcher, steps);
  const whats = (found: readonly (readonly [string, number])[]): readonly string[] => found.map(([what]) => what);

  const never = [
    [TRANSACTION, 1],
    [TRANSACTION, 2],
    [RECEIPT, 1],
    [RECEIPT, 2],
  ] as const;
  it.each(never)('delays it by less than a second where %s is never returned by any of %d', async (method, count) => {
    const mine = method === RECEIPT ? nested(terms, 1) : honest(terms);
    open(count);
    await observed(1);
    chain.mine(mine);
    const [usual] = await observed(12);
    open(count);
    await observed(1);
    const [late] = chain.mine(nested(theirs, 0), mine);
    slow([late as Hex], NEVER, method);
    const found = await observed(40);
    expect(usual).toEqual(['pi_mine landed confirmed', expect.any(Number)]);
    // In the place of a receipt the logs of its block tell what it pays.
    expect(whats(found)).toEqual([
      'pi_mine landed confirmed',
      ...(method === RECEIPT ? ['pi_theirs landed confirmed'] : []),
    ]);
    expect((found[0]?.[1] ?? NEVER) - (usual?.[1] ?? 0)).toBeLessThan(DELAY_MAX_MS);
    // It was in play: asked for together with the payment, then alone, and after that beside the steps only.
    const asked = only().requests.filter((one) => one.method === method && one.first.includes(late));
    expect(asked.slice(0, 2).map(({ first, isSoon }) => [first.length, isSoon])).toEqual([
      [2, true],
      [1, true],
    ]);
    expect(asked.length).toBeGreaterThan(2);
    // The fee of what the logs tell is asked for once more.
    expect(asked.slice(2).filter(({ isSoon }) => isSoon)).toHaveLength(method === RECEIPT ? 1 : 0);
    expect(watcher.warnings).toEqual([expect.stringContaining(`${late} of block 2 is set aside: it was not returned`)]);
  });

  it('sets nothing aside for time of a node that always takes 1.6 s, and does not take null for late', async () => {
    only().takes = () => 1_600;
    await observed(1);
    const shown = nested(theirs, 0);
    let whole: Shown | undefined;
    const [late] = chain.mine((at) => (whole = shown(at)), honest(terms));
    chain.change(late as Hex, { ...(whole as Shown), transaction: null });
    expect(whats(await observed(3))).toEqual(['pi_mine landed confirmed']);
    expect(watcher.warnings).toEqual([expect.stringContaining('it was not found')]);
    chain.change(late as Hex, whole as Shown);
    expect(whats(await observed(6))).toEqual(['pi_theirs landed confirmed']);
  });

  it.each([1, 2])('delays it by less than a second where its trace is never returned by any of %d', async (count) => {
    open(count);
    await observed(1);
    chain.mine(nested(terms, 1));
    const [usual] = await observed(12);
    open(count);
    await observed(1);
    const [late] = chain.mine(nested(theirs, 0), nested(terms, 1));
    let takes = NEVER;
    for (const upstream of upstreams)
      upstream.takes = (method, [first]) =>
        (method === TRACE && first === late) || method === TOKEN_CALLS ? takes : 20;
    // It waits for longer than what no upstream can explain, and is no payment without a proven reference.
    const found = await observed(200);
    expect(usual).toEqual(['pi_mine landed confirmed', expect.any(Number)]);
    expect(whats(found)).toEqual(['pi_mine landed confirmed']);
    expect((found[0]?.[1] ?? NEVER) - (usual?.[1] ?? 0)).toBeLessThan(DELAY_MAX_MS);
    expect(time.passed).toBeGreaterThan(60_000);
    // One step has waited for it. After that it was asked for beside the steps only, at each upstream.
    const asked = upstreams.map(({ requests }) =>
      requests.filter(({ method, first }) => method === TRACE && first.includes(late)),
    );
    expect(asked.flat().filter(({ isSoon }) => isSoon)).toHaveLength(1);
    for (const ofOne of asked) expect(ofOne.filter(({ isSoon }) => !isSoon).length).toBeGreaterThan(2);
    expect(watcher.warnings).toEqual([expect.stringContaining(`${late} of block 2 is set aside: it was not returned`)]);
    takes = 20;
    expect(whats(await observed(120))).toEqual(['pi_theirs landed confirmed']);
    expect(watcher.watched.byReference(theirs.reference)?.settlement?.hash).toBe(late);
  });

  it.each([TRANSACTION, RECEIPT, TRACE])(
    'is found by the reading beside, once, where %s takes 1.6 s',
    async (method) => {
      await observed(1);
      const [late] = chain.mine(nested(theirs, 0), honest(terms));
      slow([late as Hex], 1_600, method);
      const found = await observed(30);
      expect(whats(found)).toEqual(['pi_mine landed confirmed', 'pi_theirs landed confirmed']);
      const patient = only().requests.filter((one) => one.method === method && !one.isSoon && one.first.includes(late));
      // What it has cost is read apart.
      expect(patient).toHaveLength(method === RECEIPT ? 2 : 1);
      expect((found[1]?.[1] ?? NEVER) - (found[0]?.[1] ?? 0)).toBeLessThan(3_000);
    },
  );

  it('is read beside the steps by two at a time, whatever their number', async () => {
    await observed(1);
    const hashes = chain.mine(...Array.from({ length: 5 }, (_, at) => nested(theirs, at)), honest(terms));
    slow(hashes.slice(0, -1), NEVER, TRANSACTION);
    expect(whats(await observed(60))).toEqual(['pi_mine landed confirmed']);
    expect(only().most.get(TRANSACTION)).toBe(2);
    for (const hash of hashes.slice(0, -1))
      expect(only().requests.some(({ first, isSoon }) => first.includes(hash) && !isSoon)).toBe(true);
  });

  it('ends a submission by the reading beside the steps, and delays no other meanwhile', async () => {
    await observed(1);
    const shown = nested(theirs, 0);
    // It has failed, so that no log tells of it.
    const [late] = chain.mine((at) => {
      const { receipt, ...whole } = shown(at);
      return { ...whole, logs: [], receipt: { ...(receipt as object), status: '0x0', logs: [] } };
    });
    slow([late as Hex], 1_600, RECEIPT);
    watcher.watched.submit(
      {
        hash: late as string as TransactionHash,
        sender: fulfiller,
        nonce: '1',
        lifetime: { kind: 'nonce' },
        terms: theirs,
      } as never,
      time.now(),
    );
    chain.mine(honest(terms));
    const found = await observed(20);
    expect(whats(found).toSorted()).toEqual(['pi_mine landed confirmed', 'pi_theirs reverted']);
    // One step has waited for it, and one once more before it was told of: of more nothing is asked.
    expect(only().requests.filter(({ first, isSoon }) => first.includes(late) && isSoon)).toHaveLength(2);
  });

  it('ends a submission by a trace that is read beside the steps', async () => {
    await observed(1);
    const shown = nested(theirs, 0);
    // No log tells of it.
    const [late] = chain.mine((at) => ({ ...shown(at), logs: [] }));
    slow([late as Hex], 1_600, TRACE);
    watcher.watched.submit(
      {
        hash: late as string as TransactionHash,
        sender: fulfiller,
        nonce: '1',
        lifetime: { kind: 'nonce' },
        terms: theirs,
      } as never,
      time.now(),
    );
    chain.mine(honest(terms));
    const found = await observed(20);
    expect(whats(found).toSorted()).toEqual(['pi_mine landed confirmed', 'pi_theirs landed confirmed']);
    // One step has waited for it, and one once more before it was told of.
    const traced = only().requests.filter(({ method }) => method === TRACE);
    expect(traced.map(({ isSoon }) => isSoon)).toEqual([true, false, true, false]);
  });

  it('tells what it has cost where its receipt takes 1.6 s', async () => {
    await observed(1);
    const paying = honest(terms);
    const [late] = chain.mine((at) => {
      const { receipt, ...whole } = paying(at);
      return { ...whole, receipt: { ...(receipt as object), gasUsed: '0x10', effectiveGasPrice: '0x2' } };
    });
    slow([late as Hex], 1_600, RECEIPT);
    const fees: unknown[] = [];
    for (let step = 0; step < 12; step += 1) {
      const { observations } = await time.until(watcher.stepOnce());
      for (const one of observations) fees.push(one.type === 'landed' ? one.data.fee?.amount : one.type);
      await time.pass(400);
    }
    expect(fees).toEqual([32n]);
    expect(only().asked(RECEIPT, late)).toBe(1);
  });

  it.each([RECEIPT, TRACE])('becomes final by readings of its own, with all the time for %s', async (slowMethod) => {
    open(2);
    await observed(1);
    const [late] = chain.mine(nested(theirs, 0));
    slow([late as Hex], 1_600, slowMethod);
    expect(whats(await observed(20))).toEqual(['pi_theirs landed confirmed']);
    const before = upstreams.map(({ requests }) => requests.length);
    for (let block = 0; block < 9; block += 1) chain.mine();
    expect(whats(await observed(20))).toEqual(['pi_theirs landed finalized']);
    const asked = upstreams.map(({ requests }, at) =>
      requests
        .slice(before[at])
        .filter(({ method, first, isSoon }) => method === slowMethod && first.includes(late) && !isSoon),
    );
    expect(asked.map(({ length }) => length)).toEqual([1, 1]);
  });
});
