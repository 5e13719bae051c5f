import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Bookmarks, ChainObserver, WatchSet } from '@pf/chains';
import { newIntentId } from '@pf/contracts';
import type { NetworkWatches, WatchedIntentSource } from '@pf/database';
import type { Address, DepositObservation, Observation } from '@pf/domain';
import { about, deposits, samples, watcher } from '@pf/domain/testing';
import type { LogReader, Publisher } from '@pf/event-log';
import { createLogger, type Logger } from '@pf/runtime';
import { NetworkWatch } from '../src/network-watch.ts';
import type { Known, Rebroadcaster } from '../src/rebroadcaster.ts';
import { WatchSets } from '../src/watch-sets.ts';
import { ProjectionSetBackError } from '../src/watched-intents.ts';

const { BASE_SEPOLIA } = samples;

/** A watch whose every dependency the test can replace. */
class Bench {
  readonly stop = new AbortController();
  readonly happened: string[] = [];
  ends: readonly bigint[] = [0n];
  /** Where the log ends with open transactions. */
  appended: readonly bigint[] = [0n];
  /** The cursors that steps began with, and those that were stored. */
  readonly begun: unknown[] = [];
  readonly stored: unknown[] = [];
  /** The bookmarks that the next steps change, and those that are stored. */
  readonly marked: ReadonlyMap<Address, string | null>[] = [];
  readonly bookmarks = new Map<string, string>();
  /** What the observer finds stored. */
  shown: Bookmarks = async () => new Map<string, string>();
  load: WatchedIntentSource['load'] = async () => new Map();
  readonly log: Logger = createLogger('test', 'silent');
  provenTime: number | null = 1_000;
  /** Into how many the network is split. */
  shards = 1;
  /** That something may have happened. */
  hint: Promise<void> = Promise.withResolvers<void>().promise;
  /** What a step fails with. */
  failure: Error | null = null;
  /** What the observer says with each step. */
  warnings: readonly string[] = [];
  setAside: number | undefined = undefined;
  unshown: number | undefined = undefined;
  readOnceMs: number | undefined = undefined;
  readonly observed: Observation[] = [];
  readonly arrived: DepositObservation[] = [];
  readonly watch: NetworkWatch;
  readonly #watches: NetworkWatches = {
    acquire: async (chain, shard) => {
      this.happened.push('acquire');
      return shard.count === this.shards ? { chain, shard, epoch: 1n, cursor: null } : null;
    },
    shards: async () => this.shards,
    renew: async () => true,
    moveCursor: async (_lease, cursor, bookmarks = new Map<string, string | null>()) => {
      this.stored.push(cursor);
      for (const [recipient, bookmark] of bookmarks)
        if (bookmark === null) this.bookmarks.delete(recipient);
        else this.bookmarks.set(recipient, bookmark);
      return true;
    },
    bookmarks: async () => this.bookmarks,
    release: async () => undefined,
  };
  readonly #observer = {
    network: { chain: BASE_SEPOLIA, name: 'base-sepolia', pollMs: { awaiting: 400, idle: 1_000 } },
    intervalMs: 1_000,
    hinted: () => this.hint,
    step: async (cursor: unknown, synchronize: () => Promise<WatchSet>, bookmarks: Bookmarks) => {
      await synchronize();
      if (this.failure) throw this.failure;
      this.shown = bookmarks;
      this.happened.push('step');
      this.begun.push(cursor);
      const next = { step: this.begun.length };
      const [marked] = this.marked.splice(0, 1);
      return {
        observations: this.observed.splice(0),
        deposits: this.arrived.splice(0),
        cursor: next,
        ...(marked && { bookmarks: marked }),
        head: 1n,
        behind: 0n,
        warnings: this.warnings,
        ...(this.setAside !== undefined && { setAside: this.setAside }),
        ...(this.unshown !== undefined && { unshown: this.unshown }),
        ...(this.readOnceMs !== undefined && { readOnceMs: this.readOnceMs }),
      };
    },
  } as unknown as ChainObserver;

  constructor() {
    const reader = {
      endOffsets: async () => this.ends,
      appendedOffsets: async () =>
        this.appended.map((end, at) => (end < (this.ends[at] ?? 0n) ? (this.ends[at] ?? 0n) : end)),
      read: async function* (_topic: string, _partition: number, _from: bigint, end: bigint) {
        yield { records: [], next: end };
      },
    } as unknown as LogReader;
    const sets = new WatchSets(
      {
        load: async (...wanted) => this.load(...wanted),
        openDeposits: async () => [],
        rebuilds: async () => 0,
        wallets: async () => undefined,
        keepWallets: async () => undefined,
        forgetWallets: async () => undefined,
        find: async () => [],
      },
      reader,
      [BASE_SEPOLIA],
      30 * 86_400_000,
    );
    this.watch = new NetworkWatch({
      observer: this.#observer,
      sets,
      watches: this.#watches,
      publisher: { publish: async () => void this.happened.push('published') } as unknown as Publisher,
      rebroadcaster: {
        look: (_set: WatchSet, { now }: Known) => void this.happened.push(`broadcast again as of ${now}`),
        store: async (landed: readonly unknown[]) => {
          if (landed.length > 0) this.happened.push(`bytes of ${landed.length}`);
        },
        idle: async () => undefined,
      } as unknown as Rebroadcaster,
      unscreened: { note: async () => undefined },
      leaseMs: 10_000,
      clock: { provenTime: () => this.provenTime },
      log: this.log,
    });
  }

  async run(work: () => Promise<void>): Promise<void> {
    const ended = this.watch.run(this.stop.signal);
    await work();
    this.stop.abort();
    await jest.advanceTimersByTimeAsync(60_000);
    await ended;
  }
}

describe('NetworkWatch', () => {
  let bench: Bench;
  beforeEach(() => {
    jest.useFakeTimers();
    bench = new Bench();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('stands by, and says so, while its network is split into another number of shards', async () => {
    bench.shards = 2;
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(0);
      expect(bench.watch.status).toMatchObject({
        role: 'standby',
        shard: '1/1',
        shards: 2,
        problem: expect.stringContaining('base-sepolia is split into 2 shards, and this process is set to watch 1/1'),
      });
      bench.shards = 1;
      await jest.advanceTimersByTimeAsync(5_000);
      expect(bench.watch.status).toMatchObject({ role: 'active', shards: 1, problem: null });
    });
  });

  it('takes the next step sooner at a hint, and no sooner than while a payment is under way', async () => {
    const steps = (): number => bench.happened.filter((one) => one === 'step').length;
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(0);
      expect(steps()).toBe(1);
      await jest.advanceTimersByTimeAsync(999);
      expect(steps()).toBe(1);
      await jest.advanceTimersByTimeAsync(1);
      expect(steps()).toBe(2);
      // One that comes without an end, too.
      bench.hint = Promise.resolve();
      await jest.advanceTimersByTimeAsync(1_000);
      expect(steps()).toBe(3);
      await jest.advanceTimersByTimeAsync(399);
      expect(steps()).toBe(3);
      await jest.advanceTimersByTimeAsync(1);
      expect(steps()).toBe(4);
    });
  });

  it('loads its intents before it asks for the lease, and looks alive for as long as some come', async () => {
    const loading = Promise.withResolvers<ReadonlyMap<number, bigint>>();
    let each: Parameters<WatchedIntentSource['load']>[2] = () => undefined;
    bench.load = async (_chains, _closedAfter, take) => {
      each = take;
      return loading.promise;
    };
    await bench.run(async () => {
      for (let minute = 0; minute < 10; minute++) {
        await jest.advanceTimersByTimeAsync(60_000);
        each({ chain: 'eip155:8453' } as never);
        expect(bench.watch.idleMs()).toBe(0);
      }
      await jest.advanceTimersByTimeAsync(130_000);
      expect(bench.watch.idleMs()).toBe(130_000);
      expect(bench.happened).toEqual([]);
      loading.resolve(new Map());
      await jest.advanceTimersByTimeAsync(500);
      expect(bench.happened.slice(0, 2)).toEqual(['acquire', 'step']);
    });
  });

  it('loads the intents again where a step finds that the projection was set back', async () => {
    let loads = 0;
    bench.load = async () => {
      loads += 1;
      return new Map();
    };
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(0);
      bench.failure = new ProjectionSetBackError('it lacks an intent');
      await jest.advanceTimersByTimeAsync(1_000);
      expect([loads, bench.watch.status.problem]).toEqual([1, 'it lacks an intent']);
      bench.failure = null;
      await jest.advanceTimersByTimeAsync(1_000);
      expect([loads, bench.watch.status.problem]).toEqual([2, null]);
    });
  });

  it('raises the alarm and observes nothing while the log ends before its position', async () => {
    const alarm = jest.spyOn(bench.log, 'error');
    bench.load = async () => new Map([[0, 5n]]);
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(60_000);
      expect(bench.happened).toEqual([]);
      expect(bench.watch.status.problem).toContain('ends at 0, before the position 5');
      expect(alarm).toHaveBeenCalledWith(
        expect.objectContaining({ alarm: 'broken_log', runbook: expect.stringContaining('runbooks/') }),
        expect.any(String),
      );
      bench.ends = [5n];
      await jest.advanceTimersByTimeAsync(60_000);
      expect(bench.happened).toContain('step');
      expect(bench.watch.status.problem).toBeNull();
    });
  });

  it('broadcasts nothing again while its clock is unproven, and goes on to observe', async () => {
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(500);
      bench.provenTime = null;
      await jest.advanceTimersByTimeAsync(1_000);
      bench.provenTime = 3_000;
      await jest.advanceTimersByTimeAsync(1_000);
    });
    expect(bench.happened.filter((one) => one !== 'acquire').slice(0, 5)).toEqual([
      'step',
      'broadcast again as of 1000',
      'step',
      'step',
      'broadcast again as of 3000',
    ]);
  });

  it('logs once what is set aside, and shows how many there are', async () => {
    const warn = jest.spyOn(bench.log, 'warn');
    bench.setAside = 2;
    bench.warnings = ['0xa1 of 7 is set aside: its trace is too large'];
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(5_000);
      expect(bench.watch.status.setAside).toBe(2);
      expect(warn.mock.calls).toEqual([[{ warning: bench.warnings[0] }, 'the observer warns']]);
      bench.setAside = undefined;
      await jest.advanceTimersByTimeAsync(1_000);
      expect(bench.watch.status.setAside).toBeNull();
    });
  });

  it('shows for how long no block is read a second time', async () => {
    bench.readOnceMs = 90_000;
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(5_000);
      expect(bench.watch.status.readOnceMs).toBe(90_000);
      bench.readOnceMs = undefined;
      await jest.advanceTimersByTimeAsync(1_000);
      expect(bench.watch.status.readOnceMs).toBeNull();
    });
  });

  it('shows how many payments wait for a second upstream to show them', async () => {
    bench.unshown = 3;
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(5_000);
      expect(bench.watch.status.unshown).toBe(3);
      bench.unshown = 0;
      await jest.advanceTimersByTimeAsync(1_000);
      expect(bench.watch.status.unshown).toBe(0);
    });
  });

  it('goes on to show how many payments wait where a step says nothing of it', async () => {
    bench.unshown = 3;
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(5_000);
      bench.unshown = undefined;
      await jest.advanceTimersByTimeAsync(1_000);
      expect(bench.watch.status.unshown).toBe(3);
    });
  });

  it('logs some of the warnings of a step, and how many more there are', async () => {
    const warn = jest.spyOn(bench.log, 'warn');
    bench.warnings = Array.from({ length: 500 }, (_, number) => `${number} of 7 is set aside: its trace is too large`);
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(5_000);
      expect(warn).toHaveBeenCalledTimes(51);
      expect(warn).toHaveBeenLastCalledWith({ more: 450 }, 'the observer warns of more than is logged');
    });
  });

  it('stores the bytes of a payment before it is reported', async () => {
    bench.observed.push(about(newIntentId(0), watcher.landed(samples.FIRST)));
    await bench.run(() => jest.advanceTimersByTimeAsync(500).then(() => undefined));
    expect(bench.happened.slice(1, 4)).toEqual(['step', 'bytes of 1', 'published']);
  });

  it('stores the bookmarks of all steps with the next cursor, and shows them to the observer before', async () => {
    const [alice, bob] = ['alice' as Address, 'bob' as Address];
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(6_000);
      bench.bookmarks.set(bob, 'old');
      bench.marked.push(new Map([[alice, '1']]), new Map([[alice, '2']]), new Map([[bob, null]]));
      await jest.advanceTimersByTimeAsync(3_000);
      expect([...bench.bookmarks]).toEqual([[bob, 'old']]);
      expect([...(await bench.shown())]).toEqual([[alice, '2']]);
      await jest.advanceTimersByTimeAsync(5_000);
      expect([...bench.bookmarks]).toEqual([[alice, '2']]);
    });
  });

  it('stores no bookmark of what it reads again after a transaction of the log hung', async () => {
    const alice = 'alice' as Address;
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(10_000);
      bench.appended = [3n];
      await jest.advanceTimersByTimeAsync(10_000);
      bench.marked.push(new Map([[alice, 'blind']]));
      await jest.advanceTimersByTimeAsync(10_000);
      bench.ends = [3n];
      await jest.advanceTimersByTimeAsync(10_000);
    });
    expect(bench.bookmarks.size).toBe(0);
  });

  it('publishes what arrived for no intent, but not while a transaction of the log hangs', async () => {
    await bench.run(async () => {
      bench.arrived.push(deposits.depositLanded());
      await jest.advanceTimersByTimeAsync(10_000);
      expect(bench.happened.filter((one) => one === 'published')).toHaveLength(1);
      bench.appended = [3n];
      await jest.advanceTimersByTimeAsync(10_000);
      bench.arrived.push(deposits.depositLanded());
      await jest.advanceTimersByTimeAsync(10_000);
      expect(bench.arrived).toEqual([]);
      expect(bench.happened.filter((one) => one === 'published')).toHaveLength(1);
    });
  });

  it('reads again what it had read while a transaction of the log hung', async () => {
    await bench.run(async () => {
      await jest.advanceTimersByTimeAsync(10_000);
      // New intents are projected, and their payers may know them, before the log shows them.
      bench.appended = [3n];
      await jest.advanceTimersByTimeAsync(10_000);
      const [before] = bench.stored.slice(-1);
      const steps = bench.begun.length;
      await jest.advanceTimersByTimeAsync(60_000);
      expect(bench.stored.at(-1)).toEqual(before);
      expect(bench.begun.length).toBeGreaterThan(steps);
      bench.ends = [3n];
      const blind = bench.begun.length;
      await jest.advanceTimersByTimeAsync(10_000);
      expect(bench.begun.slice(blind)).toContainEqual(before);
    });
    expect(bench.stored.at(-1)).toEqual({ step: bench.begun.length });
  });
});
