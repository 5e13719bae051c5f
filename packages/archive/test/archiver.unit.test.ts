import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LogRecord } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { until } from '@pf/testing';
import { Archiver, ParquetFiles, Signer, StoreUnavailableError, StoreUnfitError } from '../src/index.ts';
import { readManifest } from '../src/manifest.ts';
import { currentOf } from '../src/names.ts';
import { eventsIn } from './events-in.ts';
import { MemoryLog } from './memory-log.ts';
import { MemoryStore } from './memory-store.ts';
import { onDay, recordAt } from './recorded.ts';

const PARTITIONS = 3;
const HOUR_MS = 3_600_000;
let parquet: ParquetFiles;
let log: MemoryLog;
let store: MemoryStore;
let now = 0;
/** Milliseconds that the clock is ahead. */
let ahead = 0;
const running: Archiver[] = [];
let crashes: Error[] = [];

function start(of = log, flushMs = 20, logger = createLogger('test', 'silent')): Archiver {
  const archiver = new Archiver({
    store,
    parquet,
    signer: new Signer(Buffer.alloc(32, 7)),
    reader: of as never,
    partitions: PARTITIONS,
    flushMs,
    log: logger,
    now: () => (now || Date.now()) + ahead,
  });
  running.push(archiver);
  archiver.start((error) => crashes.push(error));
  return archiver;
}
async function stop(): Promise<void> {
  await Promise.all(running.splice(0).map((archiver) => archiver.stop()));
}
/** The events of each partition as they lie in the archive. */
async function archived(): Promise<readonly (readonly (string | null)[])[]> {
  const { current } = currentOf(await store.list('events/'));
  const events: (string | null)[][] = Array.from({ length: PARTITIONS }, () => []);
  for (const { key, partition } of current) {
    const content = await store.read(key);
    if (content) events[partition]?.push(...(await eventsIn(parquet, content)).map(({ event }) => event));
  }
  return events;
}
const valuesOf = (records: readonly (readonly LogRecord[])[]) =>
  records.map((partition) => partition.map(({ value }) => value));
const isArchived = (of = log) =>
  until('the archive to have the whole log', async () => {
    const [found, wanted] = [await archived(), valuesOf(of.records)];
    return JSON.stringify(found) === JSON.stringify(wanted);
  });

beforeAll(async () => {
  parquet = await ParquetFiles.open();
});
afterAll(() => parquet.close());
beforeEach(() => {
  log = new MemoryLog(PARTITIONS);
  store = new MemoryStore();
  now = 0;
  ahead = 0;
  crashes = [];
});
afterEach(async () => {
  await stop();
  expect(crashes).toEqual([]);
});

describe('the archiver', () => {
  it('archives existing and new events, and continues after a stop', async () => {
    log.grow(0, 3);
    start();
    await isArchived();
    log.grow(1, 4);
    log.grow(0, 2);
    await isArchived();
    await stop();
    log.grow(2, 5);
    log.grow(0, 1);
    start();
    await isArchived();
  });

  it('archives what it has read before it stops', async () => {
    log.grow(0, 3);
    now = 1_000;
    const archiver = start();
    await until('the log to be read', () => archiver.isFollowing && archiver.lagMs === 0);
    await stop();
    expect(await archived()).toEqual(valuesOf(log.records));
  });

  it.each([20_000, 40_000])('archives an event %d ms after it was appended, whenever that is', async (flushMs) => {
    jest.useFakeTimers({
      now: Date.parse('2026-11-23T12:00:00Z'),
      doNotFake: ['nextTick', 'setImmediate', 'performance'],
    });
    const turnsUntil = async (probe: () => boolean): Promise<void> => {
      while (!probe()) {
        await new Promise((resolve) => setImmediate(resolve));
        await jest.advanceTimersByTimeAsync(0);
      }
    };
    try {
      const archiver = start(log, flushMs);
      const lags: number[] = [];
      const create = store.create.bind(store);
      store.create = (key, content) => {
        if (key.endsWith('.parquet')) lags.push(archiver.lagMs);
        return create(key, content);
      };
      await turnsUntil(() => archiver.isFollowing);
      for (const [n, part] of [0.1, 0.9, 0, 0.3, 1.7].entries()) {
        await jest.advanceTimersByTimeAsync(part * flushMs);
        log.append(0, { ...onDay('2026-11-23', recordAt(0, n)), timestamp: Date.now() });
        await jest.advanceTimersByTimeAsync(flushMs - 1);
        expect([n, lags.length]).toEqual([n, n]);
        await jest.advanceTimersByTimeAsync(1);
        await turnsUntil(() => lags.length === n + 1 && archiver.lagMs === 0);
      }
      expect(lags).toEqual(Array.from({ length: 5 }, () => flushMs));
    } finally {
      jest.useRealTimers();
    }
  });

  it('tells how old the oldest event is that is not archived, though it was read just now', async () => {
    now = Date.parse('2026-11-23T12:10:00Z');
    log.append(0, { ...recordAt(0, 0), timestamp: now - 300_000 }, { ...recordAt(0, 1), timestamp: now - 200_000 });
    const archiver = start();
    await until('it to lag', () => archiver.lagMs > 0);
    expect(archiver.lagMs).toBe(300_000);
    now += 20;
    await until('it not to lag', () => archiver.lagMs === 0);
  });

  it('logs the heads of partitions once an hour, where they have moved', async () => {
    const told: unknown[] = [];
    const logger = createLogger('test', 'silent');
    jest.spyOn(logger, 'info').mockImplementation((fields: unknown) => void told.push(fields));
    const heads = async () =>
      Promise.all(
        (await store.list('heads/')).map(async (key) => {
          const { partition, last, chain } = readManifest((await store.read(key)) ?? new Uint8Array());
          return { partition, events: last + 1, head: chain.after };
        }),
      );
    log.grow(0, 2);
    start(log, 20, logger);
    await isArchived();
    // What is archived later shows that the first round has ended, with its look at the clock.
    log.grow(2, 1);
    await isArchived();
    ahead += HOUR_MS;
    await until('both heads', () => told.length === 2);
    expect(told).toEqual(await heads());

    log.grow(2, 1);
    await isArchived();
    expect(told).toHaveLength(2);
    ahead += HOUR_MS;
    await until('the head that has moved', () => told.length > 2);
    expect(told.slice(2)).toEqual((await heads()).slice(1));
  });

  it('publishes the key with which its manifests are signed', async () => {
    start();
    await until('the key', async () => (await store.list('keys/')).length === 1);
    const [key] = await store.list('keys/');
    const published = JSON.parse(Buffer.from((await store.read(key ?? '')) ?? []).toString()) as { publicKey: string };
    expect(published).toMatchObject({ algorithm: 'Ed25519', publicKey: new Signer(Buffer.alloc(32, 7)).publicKey });
  });

  it('loses and repeats nothing beside another archiver', async () => {
    start();
    start();
    for (let n = 0; n < 6; n++) {
      for (let partition = 0; partition < PARTITIONS; partition++) log.grow(partition, 1 + n);
      await isArchived();
    }
  });

  it('reports how long events wait while the store refuses them, and archives them afterwards', async () => {
    const archiver = start();
    await until('the log to be followed', () => archiver.isFollowing);
    store.changesLeft = 0;
    log.grow(0, 3);
    await until('it to lag', () => archiver.lagMs > 100);
    expect(await archived()).toEqual([[], [], []]);
    store.changesLeft = Infinity;
    await isArchived();
    await until('it not to lag', () => archiver.lagMs === 0);
  });

  it('leaves no gap when a file fails and the next would succeed', async () => {
    const archiver = start();
    await until('the log to be followed', () => archiver.isFollowing);
    const create = store.create.bind(store);
    let isRefused = false;
    store.create = async (key, content) => {
      if (!key.startsWith('events/') || isRefused) return create(key, content);
      // So much is read meanwhile that it is to be archived at once.
      log.append(0, recordAt(0, 3, 'x'.repeat(40 * 1024 * 1024)));
      await until('it to be read', () => log.delivered === 4);
      isRefused = true;
      throw new StoreUnavailableError('once');
    };
    log.grow(0, 3);
    await until('the refusal', () => isRefused);
    await isArchived();
  });

  it('continues to archive when files cannot be merged', async () => {
    const merge = jest.spyOn(parquet, 'merge').mockRejectedValue(new Error('Out of Memory Error'));
    const archiver = start();
    // Of days that are over.
    for (let files = 0; files < 4; files++) {
      log.grow(0, 1);
      await isArchived();
    }
    await until('the merge that fails', () => merge.mock.calls.length > 0);
    log.grow(0, 3);
    log.grow(1, 3);
    await isArchived();
    expect(archiver.isFollowing).toBe(true);
    expect(merge).toHaveBeenCalledTimes(1);
  });

  it('gives up when the store would replace archived files', async () => {
    store.create = () => Promise.reject(new StoreUnfitError('it does'));
    log.grow(0, 3);
    start();
    await until('it to give up', () => crashes.length > 0);
    expect(crashes.splice(0)).toMatchObject([{ name: 'StoreUnfitError' }]);
  });

  it('is not considered stuck while a slow store still responds', async () => {
    const answers: (() => void)[] = [];
    const list = store.list.bind(store);
    store.list = async (prefix) => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return await list(prefix);
    };
    const archiver = start();
    // It has opened no partition yet.
    for (let n = 1; n < 5; n++) {
      await until('a question', () => answers.length === n);
      const asked = performance.now();
      answers.at(-1)?.();
      await until('the next one', () => answers.length === n + 1);
      expect(archiver.idleMs).toBeLessThanOrEqual(performance.now() - asked);
    }
    store.list = list;
    answers.at(-1)?.();
    await until('the log to be followed', () => archiver.isFollowing);
  });

  it('continues in a log that was restored from the archive, where its events have other offsets', async () => {
    log.grow(0, 3);
    log.grow(1, 2);
    start();
    await isArchived();
    await stop();
    const made = new MemoryLog(PARTITIONS);
    log.records.forEach((records, partition) => {
      made.records[partition]?.push(...records.map((record, n) => ({ ...record, offset: BigInt(2 * (n + 7)) })));
    });
    made.records[1]?.push({ ...(made.records[0]?.[0] as LogRecord), offset: 100n });
    start(made);
    await isArchived(made);
  });

  it.each<[string, (other: MemoryLog) => void]>([
    ['with other offsets', (other) => other.records[0]?.splice(0, 20)],
    [
      'with other events at the same offsets',
      (other) => {
        const events = other.records[0]?.map(({ value }) => value) ?? [];
        other.records[0] = events.slice(20).map((value, n) => recordAt(0, n, value));
      },
    ],
  ])('archives nothing of another log, %s', async (_what, change) => {
    log.grow(0, 3);
    start();
    await isArchived();
    await stop();
    const before = await archived();
    const other = new MemoryLog(PARTITIONS);
    other.grow(0, 40);
    change(other);
    start(other);
    await until('it to give up', () => crashes.length > 0);
    expect(crashes.splice(0)).toMatchObject([
      { name: 'OtherLogError', message: expect.stringContaining('intent.events-0') },
    ]);
    expect(await archived()).toEqual(before);
  });
});
