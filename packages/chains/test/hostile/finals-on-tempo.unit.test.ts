import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import type { Hex } from 'viem';
import { TempoObserver } from '../../src/tempo/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { from } from '../tempo/logged.ts';
import { network, terms } from '../tempo/payments.ts';
import { DELAY_MAX_MS } from './delay.ts';
import { timedIn } from './observed.ts';
import { respondOf, ScriptedChain } from './scripted-chain.ts';
import { payingOnTempo } from './scripted-tempo.ts';
import {
  delay,
  hurry,
  NEVER,
  virtualPool,
  VirtualTime,
  type VirtualUpstream,
  virtualUpstreams,
} from './virtual-upstream.ts';

/** So many blocks later one is final. */
const DEPTH = 8;
const RECEIPT = 'eth_getTransactionReceipt';
const theirs: PaymentTerms = { ...terms, reference: `0x${'66'.repeat(32)}` as Reference };

describe('a payment on Tempo beside one that a second upstream does not show in time', () => {
  let time: VirtualTime;
  let chain: ScriptedChain;
  let upstreams: VirtualUpstream[];
  let pool: RpcPool;
  let watcher: Watcher;

  const open = (count = 2): void => {
    chain = new ScriptedChain();
    upstreams = virtualUpstreams(count, time, respondOf(chain));
    pool = virtualPool('evm', upstreams);
    watcher = new Watcher(new TempoObserver(network, pool, time.now));
    watcher.watched.add('pi_mine', terms);
    watcher.watched.add('pi_theirs', theirs);
    for (let block = 0; block < DEPTH; block += 1) chain.mine();
  };
  const slow = (which: readonly number[], hash: Hex, ms: number): void =>
    delay(
      upstreams.filter((_one, at) => which.includes(at)),
      [RECEIPT],
      [hash],
      ms,
    );
  /** In one final block. */
  const land = (...all: readonly PaymentTerms[]): readonly Hex[] => {
    const hashes = chain.mine(...all.map(payingOnTempo));
    for (let block = 0; block < DEPTH; block += 1) chain.mine();
    return hashes;
  };

  beforeEach(() => void ((time = new VirtualTime()), open()));
  afterEach(async () => {
    await pool.close();
    jest.restoreAllMocks();
  });

  const observed = async (steps: number): Promise<ReadonlyMap<string, number>> =>
    new Map(await timedIn(time, watcher, steps));
  const usually = async (count = 2): Promise<number> => {
    await observed(1);
    land(terms);
    const usual = (await observed(3)).get('pi_mine landed finalized') ?? NEVER;
    open(count);
    await observed(1);
    return usual;
  };
  const soonOf = (hash: Hex): number =>
    upstreams[1]?.requests.filter(({ first, isSoon }) => isSoon && first.includes(hash)).length ?? 0;

  it.each([1_600, NEVER])('is final within a second of its usual time where that takes %d ms', async (ms) => {
    const usual = await usually();
    const [late] = land(theirs, terms);
    slow([1], late as Hex, ms);
    const found = await observed(40);
    expect((found.get('pi_mine landed finalized') ?? NEVER) - usual).toBeLessThan(DELAY_MAX_MS);
    expect(found.has('pi_theirs landed confirmed')).toBe(true);
    expect(found.has('pi_theirs landed finalized')).toBe(ms !== NEVER);
    // After the first time it is asked for beside the steps only.
    const soon = soonOf(late as Hex);
    const began = time.passed;
    await observed(40);
    expect(soonOf(late as Hex)).toBe(soon);
    expect(time.passed - began).toBeLessThan(40 * 700);
    hurry(upstreams);
    if (ms === NEVER) expect([...(await observed(60)).keys()]).toEqual(['pi_theirs landed finalized']);
    expect(upstreams[1]?.most.get(RECEIPT)).toBeLessThanOrEqual(2);
  });

  it('becomes final by the first reading that comes late, however old the payment is', async () => {
    await observed(1);
    const [late] = land(theirs);
    slow([1], late as Hex, NEVER);
    await observed(250);
    slow([1], late as Hex, 1_600);
    expect((await observed(400)).get('pi_theirs landed finalized')).toBeLessThan(30_000);
  });

  it('becomes final soon where others are late in every step for the first time', async () => {
    const crowd = Array.from({ length: 120 }, (_, at) => ({
      ...terms,
      reference: `0x${(at + 256).toString(16).padStart(64, '0')}` as Reference,
    }));
    for (const [at, one] of crowd.entries()) watcher.watched.add(`pi_${at}`, one);
    await observed(1);
    // The second upstream lacks it at first.
    const [mine] = land(terms);
    const second = upstreams[1] as VirtualUpstream;
    const respond = second.respond;
    second.respond = (method, params) => (params[0] === mine ? null : respond(method, params));
    await observed(3);
    second.respond = respond;
    const late = new Set<unknown>();
    second.takes = (method, [hash]) => (method === RECEIPT && late.has(hash) ? NEVER : 20);
    const found = new Map<string, number>();
    const began = time.passed;
    for (let step = 0; step < 60 && !found.has('pi_mine landed finalized'); step += 1) {
      for (const hash of land(...crowd.slice(2 * step, 2 * step + 2))) late.add(hash);
      for (const [what] of await observed(1)) found.set(what, time.passed - began);
    }
    expect(found.get('pi_mine landed finalized')).toBeLessThan(10_000);
  });

  it('ends an expired submission that the first upstream is slow to say it has no receipt of', async () => {
    const absent: Hex = `0x${'ee'.repeat(32)}`;
    const hash = absent as string as TransactionHash;
    slow([0], absent, 1_000);
    await observed(1);
    watcher.watched.submit(
      { hash, sender: from, nonce: null, lifetime: { kind: 'time', validBefore: 1n }, terms: theirs },
      time.now(),
    );
    expect([...(await observed(40)).keys()]).toEqual(['pi_theirs dropped']);
  });

  it('is final at once by a third upstream, where the second returns nothing in time', async () => {
    const usual = await usually(3);
    (upstreams[1] as VirtualUpstream).takes = (method) => (method === RECEIPT ? NEVER : 20);
    land(theirs, terms);
    const found = await observed(3);
    for (const what of ['pi_mine landed finalized', 'pi_theirs landed finalized'])
      expect((found.get(what) ?? NEVER) - usual).toBeLessThan(DELAY_MAX_MS);
  });
});
