import { describe, expect, it } from '@jest/globals';
import type { BroadcastResult, ChainAdapter, SignedTransaction, WatchSet } from '@pf/chains';
import type { SignedTransactions } from '@pf/database';
import type { IntentId, Submission, TransactionHash } from '@pf/domain';
import { samples } from '@pf/domain/testing';
import { createLogger } from '@pf/runtime';
import { type HeldIntents, Rebroadcaster } from '../src/rebroadcaster.ts';

const EVERY_MS = 2_000;
const LOOK_EVERY_MS = 500;
const { UNKNOWN } = samples;
const UNAVAILABLE = samples.SECOND;
const hashOf = (index: number): TransactionHash => `0x${index.toString(16).padStart(64, '0')}` as TransactionHash;

/** An adapter that counts what it broadcasts, over live submissions. All bytes but `missing` ones are stored. */
function bench(
  submissions: number,
  held: ReadonlySet<string> = new Set(),
  missing: ReadonlySet<TransactionHash> = new Set(),
  change: Partial<Submission> = {},
  answer: (hash: TransactionHash) => BroadcastResult = () => ({ kind: 'taken' }),
): {
  readonly set: WatchSet & HeldIntents;
  readonly rebroadcaster: Rebroadcaster;
  readonly broadcasts: ReadonlyMap<TransactionHash, number>;
  /** Transactions whose bytes were stored. */
  readonly kept: readonly TransactionHash[];
  /** What each deletion of old bytes spared. */
  readonly spared: readonly { readonly needed: readonly TransactionHash[]; readonly unknown: readonly IntentId[] }[];
} {
  const spared: { needed: readonly TransactionHash[]; unknown: readonly IntentId[] }[] = [];
  const broadcasts = new Map<TransactionHash, number>();
  const kept: TransactionHash[] = [];
  const adapter: Pick<ChainAdapter, 'network' | 'broadcast' | 'fetchSent'> = {
    network: { chain: samples.BASE_SEPOLIA } as ChainAdapter['network'],
    broadcast: async ({ hash }: SignedTransaction) => {
      broadcasts.set(hash, (broadcasts.get(hash) ?? 0) + 1);
      return answer(hash);
    },
    fetchSent: async (hash) => {
      if (hash === UNAVAILABLE) throw new Error('no upstream responds');
      return hash === UNKNOWN ? null : { hash, raw: new Uint8Array() };
    },
  };
  const transactions: SignedTransactions = {
    find: async (_chain, hashes) =>
      new Map(hashes.filter((hash) => !missing.has(hash)).map((hash) => [hash, new Uint8Array()])),
    keep: async ({ hash }) => void kept.push(hash),
    forget: async (_chain, _shard, _before, needed, unknown) => {
      spared.push({ needed, unknown });
      return 0;
    },
  };
  const all = Array.from({ length: submissions }, (_, index) => ({
    id: `pi_${index}`,
    submission: {
      ...samples.signed(hashOf(index)),
      status: 'live',
      attempts: 1,
      preparedAt: 0,
      broadcastAt: 0,
      ...change,
    },
  }));
  const set = { submitted: () => all, settling: () => [], held: () => held } as unknown as WatchSet & HeldIntents;
  const log = createLogger('test', 'silent');
  const rebroadcaster = new Rebroadcaster(adapter as ChainAdapter, transactions, EVERY_MS, log);
  return { set, rebroadcaster, broadcasts, spared, kept };
}

describe('Rebroadcaster', () => {
  it('reaches each of 1,000 live submissions, and none a third time before all a second time', async () => {
    const { set, rebroadcaster, broadcasts } = bench(1_000);
    const never = new AbortController().signal;
    let now = 100_000;
    const twice = (): boolean => broadcasts.size === 1_000 && [...broadcasts.values()].every((times) => times >= 2);
    for (let looks = 0; looks < 100 && !twice(); looks++) {
      now += LOOK_EVERY_MS;
      rebroadcaster.look(set, { now, asOf: () => now }, never);
      await rebroadcaster.idle();
    }
    expect(broadcasts.size).toBe(1_000);
    expect(Math.min(...broadcasts.values())).toBe(2);
    expect(Math.max(...broadcasts.values())).toBeLessThanOrEqual(3);
  });

  it('broadcasts no authorization, which whoever pays the gas sends', async () => {
    const { set, rebroadcaster, broadcasts } = bench(2, new Set(), new Set(), { nonce: samples.REFERENCE });
    rebroadcaster.look(set, { now: 100_000, asOf: () => 100_000 }, new AbortController().signal);
    await rebroadcaster.idle();
    expect(broadcasts.size).toBe(0);
  });

  it('broadcasts nothing of a held intent, and keeps all its bytes', async () => {
    const { set, rebroadcaster, broadcasts, spared } = bench(2, new Set(['pi_0']));
    rebroadcaster.look(set, { now: 100_000, asOf: () => 100_000 }, new AbortController().signal);
    await rebroadcaster.idle();
    expect([...broadcasts.keys()]).toEqual([hashOf(1)]);
    expect(spared).toEqual([{ needed: [hashOf(0), hashOf(1)], unknown: ['pi_0'] }]);
  });

  it('waits with an intent until all that was decided before its turn is known', async () => {
    const { set, rebroadcaster, broadcasts } = bench(2);
    const late = (id: string): number => (id === 'pi_0' ? EVERY_MS - 1 : EVERY_MS);
    rebroadcaster.look(set, { now: 100_000, asOf: late }, new AbortController().signal);
    await rebroadcaster.idle();
    expect([...broadcasts.keys()]).toEqual([hashOf(1)]);
    rebroadcaster.look(set, { now: 101_000, asOf: () => EVERY_MS }, new AbortController().signal);
    await rebroadcaster.idle();
    expect([...broadcasts.keys()]).toEqual([hashOf(1), hashOf(0)]);
  });

  /** How often one transaction is broadcast within this time, looked at twice a second. */
  async function timesWithin(ms: number, answer: () => BroadcastResult): Promise<number> {
    const { set, rebroadcaster, broadcasts } = bench(1, new Set(), new Set(), {}, answer);
    for (let now = 0; now <= ms; now += LOOK_EVERY_MS) {
      rebroadcaster.look(set, { now, asOf: () => now }, new AbortController().signal);
      await rebroadcaster.idle();
    }
    return broadcasts.get(hashOf(0)) ?? 0;
  }

  it('broadcasts one that a node shows in a block a few times more, and then hardly ever', async () => {
    const landed = (): BroadcastResult => ({ kind: 'taken', isLanded: true });
    expect(await timesWithin(60_000, landed)).toBeLessThanOrEqual(5);
    expect(await timesWithin(3_600_000, landed)).toBeLessThanOrEqual(14);
  });

  it('goes back to its usual pauses once a reorg has taken one out of its block', async () => {
    let asked = 0;
    const isLanded = (): boolean => (asked += 1) <= 3;
    const answer = (): BroadcastResult => ({ kind: 'taken', ...(isLanded() && { isLanded: true }) });
    expect(await timesWithin(60_000, answer)).toBeGreaterThanOrEqual(8);
  });

  it('broadcasts one that never lands ever less often, and never stops', async () => {
    const taken = (): BroadcastResult => ({ kind: 'taken' });
    const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
    expect(await timesWithin(minute, taken)).toBeGreaterThanOrEqual(15);
    expect(await timesWithin(hour, taken)).toBeLessThanOrEqual(60);
    const daily = await timesWithin(day, taken);
    expect(daily).toBeGreaterThanOrEqual(120);
    expect(daily).toBeLessThanOrEqual(220);
  });

  it('broadcasts all others in the round of one that fails', async () => {
    const { set, rebroadcaster, broadcasts, spared } = bench(20, new Set(), new Set(), {}, (hash) => {
      if (hash === hashOf(3)) throw new Error('its bytes cannot be decoded');
      return { kind: 'taken' };
    });
    rebroadcaster.look(set, { now: 100_000, asOf: () => 100_000 }, new AbortController().signal);
    await rebroadcaster.idle();
    expect(broadcasts.size).toBe(20);
    expect(spared).toHaveLength(1);
  });

  it('stores the bytes of landed transactions that are missing, where an upstream has them', async () => {
    const missing = [samples.FIRST, UNAVAILABLE, UNKNOWN, hashOf(9)];
    const { rebroadcaster, kept } = bench(0, new Set(), new Set(missing));
    const landed = [hashOf(8), ...missing].map((hash) => ({ intentId: samples.INTENT, hash }));
    await rebroadcaster.store(landed, new AbortController().signal);
    expect(kept).toEqual([samples.FIRST, hashOf(9)]);
  });
});
