import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import type { Hex } from 'viem';
import { TempoObserver } from '../../src/tempo/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { from } from '../tempo/logged.ts';
import { network, terms } from '../tempo/payments.ts';
import { DELAY_MAX_MS } from './delay.ts';
import { type Timed, timedIn } from './observed.ts';
import { respondOf, ScriptedChain } from './scripted-chain.ts';
import { payingOnTempo as paying } from './scripted-tempo.ts';
import { delay, NEVER, virtualPool, VirtualTime, type VirtualUpstream, virtualUpstreams } from './virtual-upstream.ts';

/** So many blocks later one is final. */
const DEPTH = 8;
const RECEIPT = 'eth_getTransactionReceipt';
const theirs: PaymentTerms = { ...terms, reference: `0x${'66'.repeat(32)}` as Reference };

describe('a receipt that takes long beside a payment on Tempo', () => {
  let time: VirtualTime;
  let chain: ScriptedChain;
  let upstreams: VirtualUpstream[];
  let pool: RpcPool;
  let watcher: Watcher;

  const open = (count: number): void => {
    chain = new ScriptedChain();
    upstreams = virtualUpstreams(count, time, respondOf(chain));
    pool = virtualPool('evm', upstreams);
    watcher = new Watcher(new TempoObserver(network, pool, time.now));
    watcher.watched.add('pi_mine', terms);
    watcher.watched.add('pi_theirs', theirs);
    for (let block = 0; block < DEPTH; block += 1) chain.mine();
  };
  const slow = (hashes: readonly Hex[], ms: number): void => delay(upstreams, [RECEIPT], hashes, ms);
  const only = (): VirtualUpstream => upstreams[0] as VirtualUpstream;
  /** In one final block. */
  const land = (...all: readonly PaymentTerms[]): readonly Hex[] => {
    const hashes = chain.mine(...all.map(paying));
    for (let block = 0; block < DEPTH; block += 1) chain.mine();
    return hashes;
  };

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

  it.each([1, 2])('delays it by less than a second where none of %d upstreams ever returns it', async (count) => {
    open(count);
    await observed(1);
    land(terms);
    const [usual] = await observed(3);
    open(count);
    await observed(1);
    const [late] = land(theirs, terms);
    slow([late as Hex], NEVER);
    const found = await observed(60);
    expect(usual).toEqual(['pi_mine landed finalized', expect.any(Number)]);
    expect(whats(found)).toEqual(['pi_mine landed finalized']);
    expect((found[0]?.[1] ?? NEVER) - (usual?.[1] ?? 0)).toBeLessThan(DELAY_MAX_MS);
    // It was in play: asked for together with the payment, then alone, and after that beside the steps only.
    const asked = only().requests.filter(({ method, first }) => method === RECEIPT && first.includes(late));
    expect(asked.slice(0, 2).map(({ first, isSoon }) => [first.length, isSoon])).toEqual([
      [2, true],
      [1, true],
    ]);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.slice(2).map(({ isSoon }) => isSoon)).not.toContain(true);
    expect(watcher.warnings).toEqual([expect.stringContaining(`${late} of block 9 is set aside: it was not returned`)]);
  });

  it('sets nothing aside for time of a node that always takes 1.6 s, and does not take null for late', async () => {
    only().takes = () => 1_600;
    await observed(1);
    const [late] = land(theirs, terms);
    const shown = paying(theirs)({ hash: late as Hex, block: 9n, blockHash: '0x' });
    const whole = chain.respond({ method: RECEIPT, params: [late] } as never);
    chain.change(late as Hex, { ...shown, receipt: null });
    expect(whats(await observed(3))).toEqual(['pi_mine landed finalized']);
    expect(watcher.warnings).toEqual([expect.stringContaining('and none has its receipt')]);
    chain.change(late as Hex, { ...shown, receipt: whole });
    expect(whats(await observed(3))).toEqual(['pi_theirs landed finalized']);
    expect(only().requests.filter(({ method, isSoon }) => method === RECEIPT && !isSoon)).toEqual([]);
  });

  it('is found by the reading beside the steps, once, where it takes 1.6 s each time', async () => {
    await observed(1);
    const [late] = land(theirs, terms);
    slow([late as Hex], 1_600);
    const found = await observed(60);
    expect(whats(found)).toEqual(['pi_mine landed finalized', 'pi_theirs landed finalized']);
    expect(only().requests.filter(({ method, isSoon }) => method === RECEIPT && !isSoon)).toHaveLength(1);
    expect((found[1]?.[1] ?? NEVER) - (found[0]?.[1] ?? 0)).toBeLessThan(3_000);
  });

  it('is read beside the steps by two at a time, whatever their number', async () => {
    await observed(1);
    const hashes = land(theirs, theirs, theirs, theirs, theirs, terms);
    slow(hashes.slice(0, -1), NEVER);
    expect(whats(await observed(60))).toEqual(['pi_mine landed finalized']);
    expect(only().most.get(RECEIPT)).toBe(2);
    for (const hash of hashes.slice(0, -1))
      expect(only().requests.some(({ first, isSoon }) => first.includes(hash) && !isSoon)).toBe(true);
  });

  it('ends a submission by the reading beside the steps, and delays no other meanwhile', async () => {
    const [late] = land(theirs);
    await observed(1);
    // It has failed, so that no log tells of it.
    const shown = paying(theirs)({ hash: late as Hex, block: 9n, blockHash: '0x' });
    const whole = chain.respond({ method: RECEIPT, params: [late] } as never) as object;
    chain.change(late as Hex, { ...shown, receipt: { ...whole, status: '0x0', logs: [] } });
    slow([late as Hex], 1_600);
    watcher.watched.submit(
      {
        hash: late as string as TransactionHash,
        sender: from,
        nonce: null,
        lifetime: { kind: 'time', validBefore: 1_900_000_000n },
        terms: theirs,
      },
      time.now(),
    );
    const began = time.passed;
    land(terms);
    const found = await observed(12);
    expect(whats(found)).toEqual(['pi_mine landed finalized', 'pi_theirs reverted']);
    expect(found[0]?.[1]).toBeLessThan(DELAY_MAX_MS);
    expect(time.passed - began).toBeGreaterThan(1_600);
    // One step has waited for it.
    expect(only().requests.filter(({ first, isSoon }) => first.includes(late) && isSoon)).toHaveLength(1);
  });

  it('becomes final by a reading of its own beside the steps, which has all the time', async () => {
    open(2);
    await observed(1);
    const [late] = land(theirs);
    slow([late as Hex], 1_600);
    expect(whats(await observed(60))).toEqual(['pi_theirs landed confirmed', 'pi_theirs landed finalized']);
    // The first one has shown it before: one more is enough.
    const asked = upstreams.map(
      ({ requests }) => requests.filter(({ first, isSoon }) => first.includes(late) && !isSoon).length,
    );
    expect(asked).toEqual([1, 1]);
  });
});
