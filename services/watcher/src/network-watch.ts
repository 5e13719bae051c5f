import { randomUUID } from 'node:crypto';
import {
  type Bookmark,
  type Bookmarks,
  type ChainObserver,
  type Cursor,
  RpcUnavailableError,
  type Step,
} from '@pf/chains';
import type { Clock } from '@pf/clock';
import { isDatabaseUnavailable, type NetworkWatches, type Shard, type UnscreenedPayments, UNSPLIT } from '@pf/database';
import { type DepositObservation, type IntentId, type Observation, VersionGapError } from '@pf/domain';
import { LogUnavailableError, type Publisher } from '@pf/event-log';
import { BackOff, count, inWork, type Logger, pause } from '@pf/runtime';
import { Lease, LeaseLostError } from './lease.ts';
import { publishObservations } from './observations.ts';
import type { Known, Rebroadcaster } from './rebroadcaster.ts';
import { unscreenedAmong } from './sender-screening.ts';
import { settledWithin } from './settled-within.ts';
import { type WatchFacts, WatchMetrics } from './watch-metrics.ts';
import { BrokenLogError, LogBehindError, type WatchSets } from './watch-sets.ts';
import { ProjectionSetBackError, type WatchedIntents } from './watched-intents.ts';

/**
 * Between two attempts of a standby to acquire the lease, plus up to half at random, so that several do not ask in
 * step.
 */
const STAND_BY_MS = 2_000;
/**
 * A step without observations stores its cursor no more often than this: repeating it after a crash has no effect.
 */
const STORE_EVERY_MS = 5_000;
/** How long a running step may still take after SIGTERM, or after the lease is lost. */
const FINISH_MS = 5_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;
/** Before the log is read again that could not be followed: a person has to fix it, and each attempt loads all. */
const BROKEN_PAUSE_MS = 30_000;

export interface NetworkWatchDependencies {
  readonly observer: ChainObserver;
  readonly sets: WatchSets;
  readonly watches: NetworkWatches;
  readonly publisher: Publisher;
  /** Signs what it observes, as the watcher of this network; absent: nothing is signed. */
  readonly observationKey?: Uint8Array;
  readonly rebroadcaster: Rebroadcaster;
  readonly unscreened: Pick<UnscreenedPayments, 'note'>;
  /** How long the lease lasts without renewal: after a holder was killed, the network is not watched for this long. */
  readonly leaseMs: number;
  /** What of the network it watches, as its `sets` do: default, all of it. */
  readonly shard?: Shard;
  readonly clock: Pick<Clock, 'provenTime'>;
  readonly log: Logger;
}

/** How a watch is doing, for the health page. */
export interface WatchStatus extends WatchFacts {
  /** Why the last attempt failed; null where it succeeded. */
  readonly problem: string | null;
}

const isInterruption = (error: unknown): boolean =>
  error instanceof RpcUnavailableError ||
  error instanceof LogUnavailableError ||
  error instanceof LogBehindError ||
  error instanceof ProjectionSetBackError ||
  isDatabaseUnavailable(error);

const referenceOf = ({ data }: Observation): readonly string[] => ('level' in data ? [data.transfer.reference] : []);
const mayBeUndone = (one: Observation): boolean => one.type === 'landed' && one.data.level === 'confirmed';

/** Warnings of one step that are logged: what strangers write into transactions must not fill the log. */
const WARNINGS_MAX = 50;

/** Of a watch that does not have the lease. */
const IDLE = {
  role: 'standby',
  head: null,
  behind: null,
  watched: null,
  setAside: null,
  unshown: null,
  readOnceMs: null,
} as const;

/** What a step knows of the intents. */
interface StepView {
  /** Each set that it was given, which does not change before the step ends; the last one is the newest. */
  readonly held: WatchedIntents[];
  /** How current the newest is; null while the clock is unproven. */
  known: Known | null;
  /** Whether it has all intents that payers may know. */
  isWhole: boolean;
}

interface StepTaken {
  readonly cursor: Cursor;
  readonly bookmarks: ReadonlyMap<string, Bookmark | null>;
  /** Whether it knew all intents that payers may know. */
  readonly isWhole: boolean;
  readonly observed: boolean;
  readonly behind: boolean;
}

/** The watch over one network, or a shard of it: stands by until it has the lease, then goes from step to step. */
export class NetworkWatch {
  readonly #dependencies: NetworkWatchDependencies;
  readonly #log: Logger;
  readonly #holder = randomUUID();
  readonly #shard: Shard;
  readonly #backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #progressAt = performance.now();
  #status: Omit<WatchStatus, 'loaded' | 'shard'> = { ...IDLE, shards: null, problem: null };
  #warned: readonly string[] = [];
  readonly #metrics: WatchMetrics;

  constructor(dependencies: NetworkWatchDependencies) {
    this.#dependencies = dependencies;
    this.#log = dependencies.log;
    this.#shard = dependencies.shard ?? UNSPLIT;
    this.#metrics = new WatchMetrics(this.name, () => this.status);
  }

  get name(): string {
    return this.#dependencies.observer.network.name;
  }

  get status(): WatchStatus {
    const { sets, observer } = this.#dependencies;
    const { index, count } = this.#shard;
    return { ...this.#status, shard: `${index}/${count}`, loaded: sets.sizeOf(observer.network.chain) };
  }

  /** The newest block, where this process watches and has read up to it. */
  get readTo(): bigint | null {
    const { role, behind, head } = this.#status;
    return role === 'active' && behind === '0' && head !== null ? BigInt(head) : null;
  }

  /** Milliseconds since the last step, failed attempt, or attempt to acquire the lease. */
  idleMs(): number {
    return performance.now() - this.#progressAt;
  }

  /**
   * Watches until `stop` aborts, then releases the lease. Whatever fails is retried; where the log cannot be followed,
   * with an alarm.
   */
  async run(stop: AbortSignal): Promise<void> {
    const unregister = this.#metrics.start();
    try {
      while (!stop.aborted) await this.#attempt(() => this.#term(stop), stop);
    } finally {
      unregister();
      this.#status = { ...this.#status, role: 'stopped' };
    }
  }

  /** Tries to acquire the lease, and watches until it ends. */
  async #term(stop: AbortSignal): Promise<void> {
    const { watches, observer, leaseMs, sets } = this.#dependencies;
    // A standby has the intents already when it takes over: with a lease that waits for them nothing is watched.
    await sets.follow(() => this.#progress());
    const lease = await Lease.acquire(watches, observer.network.chain, this.#shard, this.#holder, leaseMs, this.#log);
    this.#progress();
    if (!lease) {
      const shards = await watches.shards(observer.network.chain);
      this.#status = { ...IDLE, shards, problem: this.#misplaced(shards) };
      await pause(STAND_BY_MS * (1 + Math.random() / 2), stop);
      return;
    }
    this.#status = { ...this.#status, role: 'active', shards: this.#shard.count, problem: null };
    this.#metrics.activated();
    this.#log.info(
      { shard: this.status.shard, epoch: lease.epoch.toString(), first: lease.cursor === null },
      'watching',
    );
    try {
      await this.#watch(lease, stop);
    } finally {
      await lease
        .release()
        .catch((error: unknown) => this.#log.warn({ err: error }, 'releasing the lease failed: it expires by itself'));
      await this.#dependencies.rebroadcaster.idle();
    }
  }

  /** Why it never gets the lease, where its network is split into another number of shards. Logged when it is new. */
  #misplaced(shards: number): string | null {
    if (shards === this.#shard.count) return null;
    const problem =
      `${this.name} is split into ${shards} shards, and this process is set to watch ${this.status.shard}: ` +
      'it stands by. Change WATCH_SHARD, or split the network with pf watch split';
    if (problem !== this.#status.problem) this.#log.warn({ shards, shard: this.status.shard }, problem);
    return problem;
  }

  async #watch(lease: Lease, stop: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([stop, lease.lost]);
    const { watches, observer } = this.#dependencies;
    let cursor = lease.cursor;
    /** Of the steps since the stored cursor. */
    const changed = new Map<string, Bookmark | null>();
    const bookmarks: Bookmarks = async () => {
      const known = new Map(await watches.bookmarks(observer.network.chain, this.#shard));
      for (const [recipient, bookmark] of changed)
        if (bookmark === null) known.delete(recipient);
        else known.set(recipient, bookmark);
      return known;
    };
    let stored = { cursor, at: performance.now() };
    // Steps have gone on from the stored cursor without knowing all intents: it waits where they began.
    let isBlind = false;
    const store = async (): Promise<void> => {
      if (cursor === null || cursor === stored.cursor) return;
      await lease.moveCursor(cursor, changed);
      changed.clear();
      stored = { cursor, at: performance.now() };
    };
    while (!ended.aborted) {
      await this.#attempt(async () => {
        const step = await inWork(`step ${this.#dependencies.observer.network.name}`, () =>
          this.#step(cursor, bookmarks, ended),
        );
        if (step === null) return;
        if (isBlind && step.isWhole) {
          this.#log.warn('a hanging transaction of the log has ended: what was read in the meantime is read again');
          isBlind = false;
          cursor = stored.cursor;
          changed.clear();
          return;
        }
        cursor = step.cursor;
        for (const [recipient, bookmark] of step.bookmarks) changed.set(recipient, bookmark);
        const isFirst = stored.cursor === null;
        isBlind = !step.isWhole && !isFirst;
        const isDue = isFirst || step.observed || performance.now() - stored.at >= STORE_EVERY_MS;
        if (isDue && !isBlind) await store();
        this.#backOff.reset();
        if (!step.behind) await this.#rest(ended);
      }, ended);
    }
    if (lease.lost.aborted)
      this.#log.warn({ err: lease.lost.reason as unknown }, 'the lease is lost: no longer watching');
    else if (!isBlind) await store();
  }

  /** Until the next step is due, or a hint makes it due: never sooner than while a payment is under way. */
  async #rest(ended: AbortSignal): Promise<void> {
    if (ended.aborted) return;
    const { observer } = this.#dependencies;
    const { intervalMs } = observer;
    const soonestMs = Math.min(intervalMs, observer.network.pollMs.awaiting);
    const over = new AbortController();
    const end = (): void => over.abort('over');
    ended.addEventListener('abort', end, { once: true });
    const hinted = observer.hinted?.(over.signal);
    await pause(soonestMs, over.signal);
    await Promise.race([pause(intervalMs - soonestMs, over.signal), ...(hinted === undefined ? [] : [hinted])]);
    ended.removeEventListener('abort', end);
    end();
  }

  /** Null where it ended before all its observations were acknowledged: the cursor stays where it was. */
  async #step(cursor: Cursor | null, bookmarks: Bookmarks, ended: AbortSignal): Promise<StepTaken | null> {
    const began = performance.now();
    const view: StepView = { held: [], known: null, isWhole: true };
    try {
      const step = await this.#observe(cursor, bookmarks, view, began, ended);
      this.#report(step, view, began);
      await this.#noteUnscreened(step.observations, view);
      await this.#storeBytes(step.observations, ended);
      // An intent that is not known may name what seems to name none: it is read again.
      const deposits = view.isWhole ? (step.deposits ?? []) : [];
      if (!(await this.#publish([...step.observations, ...deposits], began, ended))) return null;
      this.#broadcastAgain(view, ended);
      this.#metrics.stepped();
      return {
        cursor: step.cursor,
        bookmarks: step.bookmarks ?? new Map<string, Bookmark | null>(),
        isWhole: view.isWhole,
        observed: step.observations.length + deposits.length > 0,
        behind: step.behind > 0n,
      };
    } finally {
      for (const set of view.held) set.release();
    }
  }

  /** Reads the chain up to its head. */
  #observe(
    cursor: Cursor | null,
    bookmarks: Bookmarks,
    view: StepView,
    began: number,
    ended: AbortSignal,
  ): Promise<Step> {
    const { observer } = this.#dependencies;
    const step = observer.step(cursor, () => this.#synchronize(view), bookmarks);
    return this.#measured(began, settledWithin(step, ended, FINISH_MS));
  }

  /** Brings the intents up to the end of the log, and holds them as they are then until the step ends. */
  async #synchronize(view: StepView): Promise<WatchedIntents> {
    const { observer, sets, clock } = this.#dependencies;
    const now = clock.provenTime();
    const at = performance.now();
    // Without a proven clock it is not known which submissions can no longer be released.
    view.known = now === null ? null : { now, asOf: (id) => now - Math.max(0, at - sets.knownAt(id)) };
    const set = await sets.synchronize(observer.network.chain, () => this.#progress());
    view.held.push(set);
    view.isWhole = sets.isWhole;
    return set;
  }

  /** To the health page, the metrics and the log. */
  #report(step: Step, view: StepView, began: number): void {
    const { head, behind, observations, warnings, setAside, givenUp = 0, disproved = 0, unshown, readOnceMs } = step;
    const facts = { head: head.toString(), behind: behind.toString(), watched: view.held.at(-1)?.size ?? null };
    this.#status = {
      role: 'active',
      shards: this.#shard.count,
      ...facts,
      setAside: setAside ?? null,
      // A step that has found no new block says nothing of it: with a gap the alert would begin to wait again.
      unshown: unshown ?? this.#status.unshown,
      readOnceMs: readOnceMs ?? null,
      problem: null,
    };
    const ms = Math.round(performance.now() - began);
    this.#log.debug({ ...facts, observations: observations.length, ms }, 'step');
    this.#warn(warnings);
    // Also none: an increase can be told only of a count that was there before.
    count('payments.watcher.given_up', { network: this.name }, givenUp);
    count('payments.watcher.disproved', { network: this.name }, disproved);
    for (const { type, intentId, data } of observations)
      this.#log.info({ type, intentId, hash: data.hash, ...('level' in data && { finality: data.level }) }, 'observed');
  }

  /** Before the cursor moves, so that no payment whose sender has to be screened is forgotten. */
  async #noteUnscreened(observations: readonly Observation[], { held }: StepView): Promise<void> {
    const { observer, unscreened } = this.#dependencies;
    const set = held.at(-1);
    if (!set) return;
    // Payments are reported some time after they were matched, by another process too.
    await set.recall(observations.flatMap(referenceOf));
    const foreign = unscreenedAmong(observations, observer.network.chain, set);
    await unscreened.note(foreign);
  }

  /** Before they are reported: a reorg may undo them. */
  async #storeBytes(observations: readonly Observation[], ended: AbortSignal): Promise<void> {
    const landed = observations.filter(mayBeUndone).map(({ intentId, data }) => ({ intentId, hash: data.hash }));
    await this.#dependencies.rebroadcaster.store(landed, ended);
  }

  /** @returns false where it ended before the log had acknowledged all of them */
  #publish(
    observations: readonly (Observation | DepositObservation)[],
    began: number,
    ended: AbortSignal,
  ): Promise<boolean> {
    const { publisher, sets, observer, observationKey: key = null } = this.#dependencies;
    const { chain } = observer.network;
    const traceOf = (id: IntentId): ReturnType<WatchSets['traceOf']> => sets.traceOf(id);
    const seen = { network: this.name, chain, key, observations, began, traceOf };
    return publishObservations(publisher, seen, ended, this.#log, () => this.#progress());
  }

  #broadcastAgain({ held, known }: StepView, ended: AbortSignal): void {
    const set = held.at(-1);
    if (set && known !== null) this.#dependencies.rebroadcaster.look(set, known, ended);
  }

  /** Measures one step on the chain. */
  async #measured<Step extends { readonly head: bigint }>(began: number, running: Promise<Step>): Promise<Step> {
    try {
      const step = await running;
      this.#metrics.advanced(began, step.head);
      return step;
    } catch (error) {
      this.#metrics.failed(began);
      throw error;
    }
  }

  /** Runs the work; after a failure that may pass, waits with a growing pause. */
  async #attempt(work: () => Promise<void>, ended: AbortSignal): Promise<void> {
    try {
      await work();
      this.#progress();
    } catch (error) {
      this.#progress();
      if (error instanceof BrokenLogError || error instanceof VersionGapError) return this.#alarm(error, ended);
      if (error instanceof LeaseLostError || ended.aborted) return;
      if (error instanceof ProjectionSetBackError) this.#dependencies.sets.drop();
      this.#status = { ...this.#status, problem: error instanceof Error ? error.message : String(error) };
      if (isInterruption(error)) this.#log.warn({ err: error }, 'watching is interrupted');
      else this.#log.error({ err: error }, 'a step failed');
      await this.#backOff.wait(ended);
    }
  }

  /** The log has something impossible: nothing is observed until it can be followed again. */
  async #alarm(error: Error, ended: AbortSignal): Promise<void> {
    // An event that waited while a step held its set; everything else was dropped where it was found.
    if (error instanceof VersionGapError) this.#dependencies.sets.drop();
    this.#status = { ...this.#status, problem: error.message };
    count('payments.alarms', { alarm: 'broken_log' });
    this.#log.error(
      { err: error, alarm: 'broken_log', runbook: 'docs/operations/runbooks/log-unfollowable.md' },
      'the log cannot be followed: the network is not watched',
    );
    await pause(BROKEN_PAUSE_MS, ended);
  }

  #progress(): void {
    this.#progressAt = performance.now();
  }

  /** Logs each warning when it first occurs, not with every step that repeats it. */
  #warn(warnings: readonly string[]): void {
    const before = new Set(this.#warned);
    const fresh = warnings.filter((warning) => !before.has(warning));
    for (const warning of fresh.slice(0, WARNINGS_MAX)) this.#log.warn({ warning }, 'the observer warns');
    const more = fresh.length - WARNINGS_MAX;
    if (more > 0) this.#log.warn({ more }, 'the observer warns of more than is logged');
    this.#warned = warnings;
  }
}
