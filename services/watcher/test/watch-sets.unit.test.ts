import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import type { WatchedIntentSource } from '@pf/database';
import { type Deposit, evolve, type IntentEvent, type IntentId, type PaymentIntent } from '@pf/domain';
import { events, type ExpectedEvent, samples } from '@pf/domain/testing';
import { LogUnavailableError, type LogReader, PositionOutOfRangeError, type RecordBatch } from '@pf/event-log';
import { BrokenLogError, LogBehindError, WatchSets } from '../src/watch-sets.ts';
import { ProjectionSetBackError } from '../src/watched-intents.ts';
import { textOf } from './intent-log.ts';

const { BASE_SEPOLIA, FIRST, INTENT, REFERENCE, SECOND } = samples;
const WATCH_MS = 30 * 86_400_000;
const TOPIC = 'intent.events';

/** A log of one partition, and the projection of it, both as the test says. */
class WatchDependencies {
  readonly records: string[] = [];
  projected: PaymentIntent[] = [];
  deposits: Deposit[] = [];
  checkpoint = 0;
  loads = 0;
  rebuilds = 0;
  /** What the log responds instead. */
  failure: Error | null = null;
  /** The log's end, where it is not that of its records. */
  end: number | null = null;
  load: WatchedIntentSource['load'] = async (_chains, _closedAfter, each) => {
    this.loads += 1;
    for (const intent of this.projected) each(intent);
    return new Map([[0, BigInt(this.checkpoint)]]);
  };
  readonly source: WatchedIntentSource = {
    load: async (...asked) => this.load(...asked),
    openDeposits: async () => this.deposits,
    rebuilds: async () => this.rebuilds,
    wallets: async () => undefined,
    keepWallets: async () => undefined,
    forgetWallets: async () => undefined,
    find: async (ids) => this.projected.filter(({ id }) => ids.includes(id)),
  };
  readonly held: IntentId[] = [];
  /** Records of an open transaction. */
  uncommitted = 0;
  readonly reader = {
    endOffsets: async () => {
      if (this.failure) throw this.failure;
      return [BigInt(this.end ?? this.records.length)];
    },
    appendedOffsets: async () => [BigInt(this.records.length + this.uncommitted)],
    read: (_topic: string, partition: number, from: bigint, end: bigint) => this.#read(partition, from, end),
  } as unknown as LogReader;
  /** What was reported of loads: how many intents, and whether these were all. */
  readonly loadings: (readonly [number, boolean])[] = [];
  readonly sets = new WatchSets(this.source, this.reader, [BASE_SEPOLIA], WATCH_MS, Date.now, {
    onHeld: (id) => this.held.push(id),
    onLoading: (loaded, isDone) => this.loadings.push([loaded, isDone]),
  });
  #intent: PaymentIntent | undefined;

  append({ type, data }: ExpectedEvent, version = (this.#intent?.version ?? 0) + 1): void {
    const event = { type, data, intentId: INTENT, version, at: Date.now() } as IntentEvent;
    if (version === (this.#intent?.version ?? 0) + 1) this.#intent = evolve(this.#intent, event);
    this.records.push(textOf(event, this.#intent as PaymentIntent));
  }

  project(): void {
    this.projected = [this.#intent as PaymentIntent];
    this.checkpoint = this.records.length;
  }

  /** As a row that cannot be decoded is read: what its columns say. */
  projectHeld(): void {
    this.project();
    this.projected = this.projected.map((intent) => ({
      ...intent,
      submissions: [],
      settlement: null,
      heldFrom: intent.version,
    }));
  }

  /** The hash that may be broadcast again, and the intents of which not everything is known. */
  async known(): Promise<object> {
    const set = await this.sets.synchronize(BASE_SEPOLIA);
    const known = { hashes: [...set.submitted()].map(({ submission }) => submission.hash), held: [...set.held()] };
    set.release();
    return known;
  }

  async status(): Promise<string | undefined> {
    const set = await this.sets.synchronize(BASE_SEPOLIA);
    const status = set.byReference(REFERENCE)?.status;
    set.release();
    return status;
  }

  async *#read(partition: number, from: bigint, end: bigint): AsyncGenerator<RecordBatch> {
    if (this.failure) throw this.failure;
    for (let offset = Number(from); offset < Number(end); offset++) {
      const value = this.records[offset] ?? null;
      const about = {
        topic: TOPIC,
        partition,
        offset: BigInt(offset),
        timestamp: 0,
        key: INTENT,
        headers: {},
      } as const;
      yield { records: [{ ...about, value }], next: BigInt(offset + 1) };
    }
  }
}

describe('WatchSets', () => {
  let dependencies: WatchDependencies;
  beforeEach(() => {
    jest.useFakeTimers();
    dependencies = new WatchDependencies();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('say how far they are loaded, and have been loaded once all are', async () => {
    dependencies.append(events.created());
    dependencies.project();
    const [row] = dependencies.projected;
    const goOn = Promise.withResolvers<undefined>();
    const { load } = dependencies;
    dependencies.load = async (chains, closedAfter, each, shard) => {
      for (let n = 0; n < 3; n++) each({ ...(row as PaymentIntent), id: newIntentId(n) });
      jest.advanceTimersByTime(6_000);
      each({ ...(row as PaymentIntent), id: newIntentId(3) });
      await goOn.promise;
      return load(chains, closedAfter, each, shard);
    };
    const status = dependencies.status();
    await jest.advanceTimersByTimeAsync(0);
    expect([dependencies.sets.sizeOf(BASE_SEPOLIA), dependencies.sets.wasLoaded, dependencies.loadings]).toEqual([
      4,
      false,
      [[4, false]],
    ]);
    goOn.resolve(undefined);
    await status;
    expect([dependencies.sets.sizeOf(BASE_SEPOLIA), dependencies.sets.wasLoaded]).toEqual([5, true]);
    expect(dependencies.loadings.at(-1)).toEqual([5, true]);
  });

  it('read on where they stood when the log was unavailable, however long, and load nothing again', async () => {
    dependencies.append(events.created());
    expect(await dependencies.status()).toBe('created');
    dependencies.failure = new LogUnavailableError('away');
    for (let minute = 0; minute < 10; minute++) {
      await expect(dependencies.status()).rejects.toThrow(LogUnavailableError);
      jest.advanceTimersByTime(60_000);
    }
    dependencies.failure = null;
    dependencies.append(events.cancelled());
    expect(await dependencies.status()).toBe('cancelled');
    expect(dependencies.loads).toBe(1);
  });

  it('pass over an event that only newer code understands, and follow its intent on', async () => {
    dependencies.append(events.created());
    dependencies.append(events.detected());
    for (const change of [
      { type: 'payout_scheduled' },
      { type: 'submission_prepared', schemaVersion: 4, data: { form: 'another' } },
    ]) {
      const version = dependencies.records.length + 1;
      const shown = JSON.parse(dependencies.records.at(-1) ?? '') as object;
      dependencies.records.push(JSON.stringify({ ...shown, version, ...change }));
    }
    expect(await dependencies.status()).toBe('created');
    dependencies.append(events.cancelled(), 5);
    expect(await dependencies.status()).toBe('cancelled');
    expect(dependencies.loads).toBe(1);
  });

  it('watch a held intent, and have all of it within a minute of its row being rebuilt', async () => {
    dependencies.append(events.created());
    dependencies.append(events.prepared(FIRST));
    dependencies.projectHeld();
    expect(await dependencies.status()).toBe('created');
    expect(dependencies.held).toEqual([INTENT]);
    expect(await dependencies.known()).toEqual({ hashes: [], held: [INTENT] });

    dependencies.project();
    dependencies.append(events.detected());
    jest.advanceTimersByTime(60_000);
    // The row is as of an earlier version than what was read of the log.
    expect(await dependencies.known()).toEqual({ hashes: [], held: [INTENT] });
    dependencies.project();
    jest.advanceTimersByTime(60_000);
    expect(await dependencies.known()).toEqual({ hashes: [FIRST], held: [] });
    expect(dependencies.loads).toBe(1);
  });

  it('have an intent within a minute of a rebuild whose row was missing when they were loaded', async () => {
    dependencies.append(events.created());
    dependencies.project();
    dependencies.projected = [];
    expect(await dependencies.status()).toBe(undefined);
    dependencies.project();
    dependencies.rebuilds += 1;
    jest.advanceTimersByTime(60_000);
    expect(await dependencies.status()).toBe('created');
    jest.advanceTimersByTime(60_000);
    expect(await dependencies.status()).toBe('created');
    expect(dependencies.loads).toBe(2);
  });

  it('load again what was rebuilt while they loaded it', async () => {
    dependencies.append(events.created());
    dependencies.project();
    dependencies.projected = [];
    const load = dependencies.source.load.bind(dependencies.source);
    Object.assign(dependencies.source, {
      load: async (...asked: Parameters<WatchedIntentSource['load']>) => {
        const positions = await load(...asked);
        dependencies.rebuilds = 1;
        return positions;
      },
    });
    expect(await dependencies.status()).toBe(undefined);
    dependencies.project();
    jest.advanceTimersByTime(60_000);
    expect(await dependencies.status()).toBe('created');
  });

  it('replace no intent while a step holds its set', async () => {
    dependencies.append(events.created());
    dependencies.append(events.prepared(FIRST));
    dependencies.projectHeld();
    const inUse = await dependencies.sets.synchronize(BASE_SEPOLIA);
    dependencies.project();
    jest.advanceTimersByTime(60_000);
    await dependencies.sets.follow();
    expect([...inUse.held()]).toEqual([INTENT]);
    inUse.release();
    expect([...inUse.held()]).toEqual([]);
  });

  it('know what was decided until a transaction began, and go on when it has ended', async () => {
    const id = newIntentId(0);
    const readAt = async (): Promise<number> => {
      jest.advanceTimersByTime(1_000);
      await dependencies.status();
      return performance.now();
    };
    dependencies.append(events.created());
    expect(dependencies.sets.knownAt(id)).toBe(Number.NEGATIVE_INFINITY);
    const before = await readAt();
    expect(dependencies.sets.knownAt(id)).toBe(before);
    dependencies.uncommitted = 2;
    const during = await readAt();
    await readAt();
    expect(dependencies.sets.knownAt(id)).toBe(before);
    // It is committed, and the next one has begun.
    dependencies.append(events.prepared(FIRST));
    dependencies.append(events.refused(FIRST));
    await readAt();
    expect(dependencies.sets.knownAt(id)).toBe(during);
    dependencies.uncommitted = 0;
    expect(dependencies.sets.knownAt(id)).toBe(during);
    const after = await readAt();
    expect(dependencies.sets.knownAt(id)).toBe(after);
  });

  it('show progress for every intent that they load and every batch that they read', async () => {
    dependencies.append(events.created());
    dependencies.project();
    dependencies.append(events.detected());
    dependencies.append(events.cancelled());
    const progress = jest.fn();
    const set = await dependencies.sets.synchronize(BASE_SEPOLIA, progress);
    expect(progress).toHaveBeenCalledTimes(3);
    set.release();
  });

  it('wait for a log that ends before what was read of it, and find it broken when that lasts', async () => {
    dependencies.append(events.created());
    dependencies.append(events.detected());
    await dependencies.status();
    dependencies.end = 1;
    await expect(dependencies.status()).rejects.toThrow(LogBehindError);
    dependencies.end = null;
    expect(await dependencies.status()).toBe('created');

    dependencies.end = 1;
    await expect(dependencies.status()).rejects.toThrow(LogBehindError);
    jest.advanceTimersByTime(10_000);
    await expect(dependencies.status()).rejects.toThrow('ends at 1, before the position 2');
  });

  it('find a log broken that no longer has the position where they stood', async () => {
    dependencies.append(events.created());
    await dependencies.status();
    dependencies.append(events.detected());
    const begin = dependencies.reader.read.bind(dependencies.reader);
    dependencies.reader.read = () => {
      throw new PositionOutOfRangeError(TOPIC, 0, 1n);
    };
    await expect(dependencies.status()).rejects.toThrow(BrokenLogError);
    dependencies.reader.read = begin;
    expect(await dependencies.status()).toBe('created');
  });

  it('find a repeated version, and begin with the projection again', async () => {
    dependencies.append(events.created());
    dependencies.append(events.prepared(FIRST));
    dependencies.project();
    expect(await dependencies.status()).toBe('created');
    dependencies.append(events.detected(), 2);
    await expect(dependencies.status()).rejects.toMatchObject({
      name: 'BrokenLogError',
      cause: { name: 'VersionGapError' },
    });
    // The projection was repaired, up to behind the fork.
    dependencies.checkpoint = dependencies.records.length;
    dependencies.append(events.cancelled());
    expect(await dependencies.status()).toBe('cancelled');
    expect(dependencies.loads).toBe(2);
  });

  describe('once an intent has long ended', () => {
    /** Whole minutes go by, in each of which the log is read. */
    async function minutes(count: number): Promise<void> {
      for (let minute = 0; minute < count; minute++) {
        jest.advanceTimersByTime(60_000);
        await dependencies.status();
      }
    }
    async function seen(): Promise<object> {
      const set = await dependencies.sets.synchronize(BASE_SEPOLIA);
      try {
        const before = set.byReference(REFERENCE)?.status;
        await set.recall([REFERENCE]);
        return [before, set.byReference(REFERENCE)?.status];
      } finally {
        set.release();
      }
    }

    beforeEach(() => {
      dependencies.append(events.created());
      dependencies.append(events.expired());
    });

    it('have it in memory until the projection has it as it ended, and find it afterwards', async () => {
      await minutes(60);
      expect(await seen()).toEqual(['expired', 'expired']);
      dependencies.project();
      await minutes(2);
      expect(await seen()).toEqual([undefined, 'expired']);
      expect(dependencies.loads).toBe(1);
    });

    it('find it after a restart, and follow what happens to it', async () => {
      dependencies.project();
      jest.advanceTimersByTime(20 * 60_000);
      dependencies.load = async (_chains, _closedAfter, _each, _shard, resting) => {
        for (const row of dependencies.projected)
          if (row.closedAt !== null && row.closedAt < (resting?.since ?? 0))
            resting?.each({ ...row, closedAt: row.closedAt });
        return new Map([[0, BigInt(dependencies.checkpoint)]]);
      };
      expect(await seen()).toEqual([undefined, 'expired']);
      await minutes(2);
      dependencies.append(events.confirmed(SECOND, {}, 'expired'));
      expect(await seen()).toEqual(['confirmed', 'confirmed']);
    });

    it('load again where the projection was set back', async () => {
      dependencies.project();
      await minutes(17);
      dependencies.append(events.confirmed(SECOND, {}, 'expired'));
      dependencies.projected = [];
      dependencies.checkpoint = 0;
      await expect(dependencies.status()).rejects.toThrow(ProjectionSetBackError);
      // The log tells all that the projection lacks.
      expect(await dependencies.status()).toBe('confirmed');
      expect(dependencies.loads).toBe(2);
    });
  });

  it('keep working for a step that holds a set when the log is found broken', async () => {
    dependencies.append(events.created());
    const held = await dependencies.sets.synchronize(BASE_SEPOLIA);
    dependencies.records.push('{"type":');
    await expect(dependencies.sets.follow()).rejects.toThrow(BrokenLogError);
    expect(held.byReference(REFERENCE)?.id).toBe(INTENT satisfies IntentId);
    held.release();
  });
});
