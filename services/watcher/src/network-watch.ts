import { randomUUID } from 'node:crypto';
import { type ChainObserver, type Cursor, RpcUnavailableError } from '@pf/chains';
import { isDatabaseAway, type NetworkWatches, type UnscreenedPayments } from '@pf/database';
import { type IntentId, VersionGapError } from '@pf/domain';
import { LogUnavailableError, type Publisher } from '@pf/event-log';
import { BackOff, type Logger, pause } from '@pf/runtime';
import { Lease, LeaseLostError } from './lease.ts';
import { publishObservations } from './observations.ts';
import type { Rebroadcaster } from './rebroadcaster.ts';
import { unaskedAmong } from './sender-screening.ts';
import { settledWithin } from './settled-within.ts';
import { type WatchFacts, WatchMetrics } from './watch-metrics.ts';
import { BrokenLogError, type WatchSets } from './watch-sets.ts';
import type { WatchedIntents } from './watched-intents.ts';

/** Between two looks of one that stands by: at random up to half as much again, so that several do not ask in step. */
const STAND_BY_MS = 2_000;
/**
 * A step that saw nothing stores its cursor no more often than this: what it repeats after a crash is free of effect.
 */
const STORE_EVERY_MS = 5_000;
/** What a step that is under way may still take after SIGTERM, or after the lease is lost. */
const FINISH_MS = 5_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

export interface NetworkWatchDependencies {
  readonly observer: ChainObserver;
  readonly sets: WatchSets;
  readonly watches: NetworkWatches;
  readonly publisher: Publisher;
  readonly rebroadcaster: Rebroadcaster;
  readonly unasked: UnscreenedPayments;
  /** How long the lease lasts without being renewed: so long nobody watches after a holder was killed. */
  readonly leaseMs: number;
  readonly log: Logger;
}

/** How a watch is doing, for the health page. */
export interface WatchStatus extends WatchFacts {
  /** Why the last try failed; null where it did not. */
  readonly problem: string | null;
}

/** The watch over one network: stands by until it has the lease, then goes from step to step. */
export class NetworkWatch {
  readonly #parts: NetworkWatchDependencies;
  readonly #log: Logger;
  readonly #holder = randomUUID();
  readonly #backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #progressAt = performance.now();
  #status: WatchStatus = { role: 'standby', head: null, behind: null, watched: null, problem: null };
  #warned: readonly string[] = [];
  readonly #metrics: WatchMetrics;

  constructor(parts: NetworkWatchDependencies) {
    this.#parts = parts;
    this.#log = parts.log;
    this.#metrics = new WatchMetrics(this.name, () => this.#status);
  }

  get name(): string {
    return this.#parts.observer.network.name;
  }

  get status(): WatchStatus {
    return this.#status;
  }

  /** Milliseconds since the last step, failed try, or look of one that stands by. */
  idleMs(): number {
    return performance.now() - this.#progressAt;
  }

  /**
   * Watches until `stop` aborts; then the lease is given back.
   * @throws BrokenLogError, VersionGapError: the log cannot be followed; everything else is tried again
   */
  async run(stop: AbortSignal): Promise<void> {
    const unlook = this.#metrics.start();
    try {
      while (!stop.aborted) await this.#tryTo(() => this.#term(stop), stop);
    } finally {
      unlook();
      this.#status = { ...this.#status, role: 'stopped' };
    }
  }

  /** From standing by to the end of the lease, if there is one to be had. */
  async #term(stop: AbortSignal): Promise<void> {
    const { watches, observer, leaseMs } = this.#parts;
    const lease = await Lease.acquire(watches, observer.network.chain, this.#holder, leaseMs, this.#log);
    this.#progress();
    if (!lease) {
      this.#status = { role: 'standby', head: null, behind: null, watched: null, problem: null };
      await pause(STAND_BY_MS * (1 + Math.random() / 2), stop);
      return;
    }
    this.#status = { ...this.#status, role: 'active' };
    this.#metrics.activated();
    this.#log.info({ epoch: lease.epoch.toString(), first: lease.cursor === null }, 'watching');
    try {
      await this.#watch(lease, stop);
    } finally {
      await lease
        .release()
        .catch((error: unknown) =>
          this.#log.warn({ err: error }, 'the lease could not be given back: it runs out by itself'),
        );
      await this.#parts.rebroadcaster.idle();
    }
  }

  async #watch(lease: Lease, stop: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([stop, lease.lost]);
    let cursor = lease.cursor;
    let stored = { cursor, at: performance.now() };
    const store = async (): Promise<void> => {
      if (cursor === null || cursor === stored.cursor) return;
      await lease.moveCursor(cursor);
      stored = { cursor, at: performance.now() };
    };
    while (!ended.aborted) {
      await this.#tryTo(async () => {
        const step = await this.#step(cursor, ended);
        if (step === null) return;
        cursor = step.cursor;
        if (step.observed || performance.now() - stored.at >= STORE_EVERY_MS) await store();
        this.#backOff.reset();
        if (!step.behind) await pause(this.#parts.observer.intervalMs, ended);
      }, ended);
    }
    if (!lease.lost.aborted) await store();
    else this.#log.warn({ err: lease.lost.reason as unknown }, 'watching no more');
  }

  /** Null where it was ended before all that it saw was acknowledged: the cursor stays where it was. */
  async #step(
    cursor: Cursor | null,
    ended: AbortSignal,
  ): Promise<{ readonly cursor: Cursor; readonly observed: boolean; readonly behind: boolean } | null> {
    const { observer, sets, publisher, rebroadcaster, unasked } = this.#parts;
    const began = performance.now();
    const inUse: WatchedIntents[] = [];
    let synchronisedAt = 0;
    const synchronize = async (): Promise<WatchedIntents> => {
      synchronisedAt = Date.now();
      const set = await sets.synchronize(observer.network.chain);
      inUse.push(set);
      return set;
    };
    try {
      const step = await this.#looking(began, settledWithin(observer.step(cursor, synchronize), ended, FINISH_MS));
      const ms = Math.round(performance.now() - began);
      this.#status = {
        role: 'active',
        head: step.head.toString(),
        behind: step.behind.toString(),
        watched: inUse.at(-1)?.size ?? null,
        problem: null,
      };
      this.#log.debug(
        {
          head: this.#status.head,
          behind: this.#status.behind,
          watched: this.#status.watched,
          observations: step.observations.length,
          ms,
        },
        'step',
      );
      this.#warn(step.warnings);
      for (const { type, intentId, data } of step.observations)
        this.#log.info(
          { type, intentId, hash: data.hash, ...('level' in data && { finality: data.level }) },
          'observed',
        );
      const last = inUse.at(-1);
      // Before the cursor moves: a payment whose sender is to be screened is not forgotten.
      if (last) await unasked.note(unaskedAmong(step.observations, observer.network.chain, last));
      const seen = {
        network: this.name,
        observations: step.observations,
        began,
        traceOf: (id: IntentId) => sets.traceOf(id),
      };
      if (!(await publishObservations(publisher, seen, ended, this.#log, () => this.#progress()))) return null;
      if (last) rebroadcaster.look(last, synchronisedAt, ended);
      this.#metrics.stepped();
      return { cursor: step.cursor, observed: step.observations.length > 0, behind: step.behind > 0n };
    } finally {
      for (const set of inUse) set.release();
    }
  }

  /** Measures one look at the chain. */
  async #looking<Step extends { readonly head: bigint }>(began: number, look: Promise<Step>): Promise<Step> {
    try {
      const step = await look;
      this.#metrics.looked(began, step.head);
      return step;
    } catch (error) {
      this.#metrics.failed(began);
      throw error;
    }
  }

  /** Runs it; after a failure that may pass, waits, longer each time. */
  async #tryTo(work: () => Promise<void>, ended: AbortSignal): Promise<void> {
    try {
      await work();
      this.#progress();
    } catch (error) {
      this.#progress();
      if (error instanceof BrokenLogError || error instanceof VersionGapError) throw error;
      if (error instanceof LeaseLostError || ended.aborted) return;
      this.#status = { ...this.#status, problem: error instanceof Error ? error.message : String(error) };
      if (error instanceof RpcUnavailableError || error instanceof LogUnavailableError || isDatabaseAway(error))
        this.#log.warn({ err: error }, 'cannot watch now');
      else this.#log.error({ err: error }, 'a step failed');
      await this.#backOff.wait(ended);
    }
  }

  #progress(): void {
    this.#progressAt = performance.now();
  }

  /** Says each warning when it comes up, not with every step that repeats it. */
  #warn(warnings: readonly string[]): void {
    for (const warning of warnings)
      if (!this.#warned.includes(warning)) this.#log.warn({ warning }, 'the observer warns');
    this.#warned = warnings;
  }
}
