import { randomUUID } from 'node:crypto';
import { FAILING_DAYS } from '@pf/contracts';
import {
  acquireLanes,
  type Database,
  disableFailingEndpoint,
  dueDeliveries,
  type DueDelivery,
  type EndpointHealth,
  type Lane,
  releaseLanes,
  rememberHealth,
  settleAttempts,
} from '@pf/database';
import { BackOff, boundedCache, count, type Logger, within } from '@pf/runtime';
import { Batches } from './batches.ts';
import type { Deliverer, Made } from './deliverer.ts';
import { FairSlots, type Share, type Starter } from './fair-slots.ts';
import { ReceiverHealth } from './receiver-health.ts';
import { type Pace, type Rooms, watchSlots } from './slot-gauges.ts';

/** Within a minute of a process's death its lanes are free again, and have been found by a sweep. */
const LEASE_MS = 45_000;
/** A lease is renewed when so much of it is left. */
const RENEW_MS = 30_000;
/** An attempt begins only if the lease lasts so much longer: it takes 15 s, and its result is to be written. */
const ATTEMPT_MS = 18_000;
/** Deliveries of a lane in memory, and how few are left when the next are read. */
const READ = 128;
const READ_AT = 64;
/** Lanes in a statement that reads, and results in one that writes: their size is bounded. */
const LANES_AT_ONCE = 100;
const RESULTS_AT_ONCE = 500;
/** Statements of a kind under way together: a small one does not wait for a large one. */
const STATEMENTS_AT_ONCE = 2;
/** A result that is written a moment later delays nothing but the end of its lane. */
const RESULTS_EVERY_MS = 25;
/** How long a lane rests after a fault of ours: twice as long after each. */
const FIRST_FAULT_REST_MS = 1_000;
const LONGEST_FAULT_REST_MS = 60_000;
/** Between two tries to write results. */
const WRITE_AGAIN_MS = 1_000;
/** How soon a lane looks again whether the projection shows what is due: usually it does within a moment. */
const FIRST_LOOK_MS = 10;
const SOON_MS = 100;
const SOON_FOR_MS = 3_000;
const LATER_MS = 1_000;
/** Longer, and it is left to the sweeps. */
const LOOKS_MS = 60_000;
const KNOWN_RECEIVERS = 50_000;
const DISABLED_AFTER_MS = FAILING_DAYS * 24 * 3_600_000;

/** How many attempts may be under way at once in a process. */
export interface Shares {
  readonly live: Readonly<Record<Pace, Share>>;
  /** Test mode takes nothing from live mode. */
  readonly test: Readonly<Record<Pace, Share>>;
  /** To one URL, and to one that is slow. */
  readonly perUrl: number;
  readonly perSlowUrl: number;
  /** An attempt that takes longer is late, milliseconds: it goes on in a slot for slow URLs. */
  readonly lateAfterMs: number;
}

export interface LanesDependencies {
  readonly database: Database;
  readonly deliverer: Deliverer;
  readonly log: Logger;
  /** Milliseconds since 1970, by a clock that all processes share. */
  readonly now: () => number;
  readonly shares: Shares;
  /** Wakes lanes of any process. Must neither throw nor be waited for. */
  readonly announce: (endpointIds: readonly string[]) => void;
  /** Gets deliveries with a new attempt. Must neither throw nor be waited for. */
  readonly attempted: (deliveries: readonly DueDelivery[]) => void;
}

/** What a run needs of its lanes. */
interface RunsOf {
  now(): number;
  slotsOf(run: Run): FairSlots;
  begin(run: Run, delivery: DueDelivery, slots: FairSlots): void;
  readonly perSlowUrl: number;
}

/** A URL that has been woken. */
class Run implements Starter {
  readonly endpointId: string;
  /** What is known of the lane while its lease is held. */
  lane: Lane | null = null;
  failingSince: Date | null = null;
  health: ReceiverHealth | null = null;
  leasedUntil = 0;
  /** A statement about it is under way: nothing else is begun meanwhile. */
  asking = false;
  /** Something may be due that has not been read. */
  dirty = true;
  /** Read and not begun, in order. */
  readonly queue: DueDelivery[] = [];
  /** Read and not settled. */
  readonly held = new Set<string>();
  /** The intents of the attempts under way. */
  readonly intents = new Set<string>();
  running = 0;
  /** Of these, the ones that take long. */
  late = 0;
  /** Until when what is due waited for this URL or its account, not for us; milliseconds since 1970. */
  heldUntil = Number.NEGATIVE_INFINITY;
  timer: NodeJS.Timeout | null = null;
  /** Since when, by performance.now(), it waits for the projection. */
  looksSince: number | null = null;
  looks = 0;
  #faults = 0;
  #restUntil = 0;
  readonly #lanes: RunsOf;

  constructor(endpointId: string, lanes: RunsOf) {
    this.endpointId = endpointId;
    this.#lanes = lanes;
  }

  get owner(): string {
    return this.lane ? `${this.lane.accountId} ${this.lane.livemode ? 'live' : 'test'}` : '';
  }

  get pace(): Pace {
    if (this.health?.failing) return 'failing';
    return this.late > 0 || this.health?.slow ? 'slow' : 'quick';
  }

  canStart(slots: FairSlots): boolean {
    return (
      this.queue.length > 0 &&
      this.running < this.#atOnce &&
      this.#lanes.slotsOf(this) === slots &&
      this.leasedUntil - this.#lanes.now() >= ATTEMPT_MS &&
      this.#next() !== -1
    );
  }

  start(slots: FairSlots): void {
    const [delivery] = this.queue.splice(this.#next(), 1);
    if (delivery) this.#lanes.begin(this, delivery, slots);
  }

  holdBack(): void {
    this.heldUntil = this.#lanes.now();
  }

  /** Whether what is due waits for the response to this delivery: for its place, or as an event of the same intent. */
  isWaitingFor({ intentId }: DueDelivery): boolean {
    return (
      this.running >= this.#atOnce || (intentId !== null && this.queue.some((waiting) => waiting.intentId === intentId))
    );
  }

  /** A fault of ours, such as a database that is unavailable: the receiver has nothing to do with it. */
  faulted(): void {
    const ms = Math.min(FIRST_FAULT_REST_MS * 2 ** this.#faults++, LONGEST_FAULT_REST_MS);
    this.#restUntil = this.#lanes.now() + ms;
    this.dirty = true;
  }

  faultless(): void {
    this.#faults = 0;
  }

  restMs(): number {
    const now = this.#lanes.now();
    return Math.max(this.#restUntil - now, this.health?.restMs(now) ?? 0, 0);
  }

  /** Gives back what has not begun: it stays due. */
  drop(): void {
    if (this.queue.length === 0) return;
    for (const { deliveryId } of this.queue.splice(0)) this.held.delete(deliveryId);
    this.dirty = true;
  }

  get #atOnce(): number {
    const { atOnce } = this.health ?? { atOnce: 0 };
    return this.pace === 'slow' ? Math.min(atOnce, this.#lanes.perSlowUrl) : atOnce;
  }

  /** Events of an intent go out one after the other. */
  #next(): number {
    return this.queue.findIndex(({ intentId }) => intentId === null || !this.intents.has(intentId));
  }
}

interface Result extends Made {
  readonly run: Run;
  readonly delivery: DueDelivery;
}

/**
 * Sends what is due. All of a URL's deliveries go through its lane, which one process has at a time: it reads what is
 * due, sends it in order, writes the results and releases the lane. Everything is read and written for many lanes at
 * once. The states are drawn in docs/internals/webhooks.md.
 */
export class Lanes {
  readonly #dependencies: LanesDependencies;
  readonly #holder = randomUUID();
  readonly #runs = new Map<string, Run>();
  readonly #health = boundedCache<string, ReceiverHealth>(KNOWN_RECEIVERS);
  readonly #slots: Rooms;
  readonly #unwatch: () => void;
  readonly #ofRuns: RunsOf;
  readonly #acquires = new Batches<Run>(LANES_AT_ONCE, STATEMENTS_AT_ONCE, (runs) => this.#acquire(runs));
  readonly #reads = new Batches<Run>(LANES_AT_ONCE, STATEMENTS_AT_ONCE, (runs) => this.#read(runs));
  readonly #results = new Batches<Result>(RESULTS_AT_ONCE, 1, (results) => this.#settle(results), RESULTS_EVERY_MS);
  readonly #releases = new Batches<Run>(LANES_AT_ONCE, STATEMENTS_AT_ONCE, (runs) => this.#release(runs));
  readonly #stopping = new AbortController();
  readonly #ended = new AbortController();
  #emptied: () => void = () => undefined;
  #failed = false;

  constructor(dependencies: LanesDependencies) {
    this.#dependencies = dependencies;
    const { live, test, perSlowUrl } = dependencies.shares;
    this.#slots = { live: slotsBy(live), test: slotsBy(test) };
    this.#unwatch = watchSlots(this.#slots);
    this.#ofRuns = {
      now: dependencies.now,
      slotsOf: (run) => this.#slotsOf(run),
      begin: (...begun) => void this.#attempt(...begun),
      perSlowUrl,
    };
  }

  /** Something may be due for this URL. */
  wake(endpointId: string): void {
    if (this.#stopping.signal.aborted) return;
    let run = this.#runs.get(endpointId);
    if (!run) {
      run = new Run(endpointId, this.#ofRuns);
      this.#runs.set(endpointId, run);
    }
    run.dirty = true;
    this.#advance(run);
  }

  /** Begins nothing more, waits for attempts under way and their results, and releases all lanes. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort();
    const emptied = new Promise<void>((resolve) => (this.#emptied = resolve));
    for (const run of [...this.#runs.values()]) this.#advance(run);
    if (this.#runs.size > 0) await within(timeoutMs, emptied);
    this.#unwatch();
    this.#ended.abort();
  }

  /** Takes the next step of a lane. Called after everything that happens to it. */
  #advance(run: Run): void {
    const stopping = this.#stopping.signal.aborted;
    const restMs = run.restMs();
    const resting = stopping || restMs > 0;
    // Another process goes on, and is told until when the account held it back.
    if (stopping && run.queue.length > 0 && this.#slotsOf(run).isFull(run.owner)) run.holdBack();
    if (resting) run.drop();
    else if (run.lane) this.#slotsOf(run).offer(run);
    if (run.asking) return;
    const leasedMs = run.leasedUntil - this.#dependencies.now();
    if (!resting && (run.dirty || run.queue.length > 0) && leasedMs < RENEW_MS) this.#ask(run, this.#acquires);
    else if (!resting && run.dirty && run.queue.length < READ_AT) this.#ask(run, this.#reads);
    else if (run.held.size > 0) return;
    else if (run.lane) this.#ask(run, this.#releases);
    else if (run.dirty && !stopping) this.#wakeIn(run, restMs);
    else this.#forget(run);
  }

  #ask(run: Run, batches: Batches<Run>): void {
    run.asking = true;
    batches.add(run);
  }

  #slotsOf({ lane, pace }: Run): FairSlots {
    return this.#slots[lane?.livemode ? 'live' : 'test'][pace];
  }

  async #acquire(runs: readonly Run[]): Promise<void> {
    const { database, now, shares } = this.#dependencies;
    const at = now();
    const until = at + LEASE_MS;
    const lease = { holder: this.#holder, now: new Date(at), until: new Date(until) };
    const ids = runs.map(({ endpointId }) => endpointId);
    const lanes = await this.#try(() => acquireLanes(database, ids, lease));
    const acquired = new Map(lanes?.map((lane) => [lane.endpointId, lane]));
    for (const run of runs) {
      run.asking = false;
      const lane = acquired.get(run.endpointId);
      if (lane) {
        run.lane = lane;
        run.failingSince = lane.failingSince;
        run.leasedUntil = until;
        run.heldUntil = Math.max(run.heldUntil, lane.heldUntil?.getTime() ?? run.heldUntil);
        // What woke another process meanwhile is read too.
        run.dirty = true;
        run.health = this.#health.get(run.endpointId) ?? new ReceiverHealth(shares.perUrl, lane.failingSince !== null);
        this.#health.set(run.endpointId, run.health);
      } else {
        run.lane = null;
        run.leasedUntil = 0;
        run.drop();
        // Another process has it, and looks again because it was asked for.
        run.dirty = false;
        if (lanes === null) run.faulted();
      }
      this.#advance(run);
    }
  }

  async #read(runs: readonly Run[]): Promise<void> {
    const { database, now } = this.#dependencies;
    for (const run of runs) run.dirty = false;
    const wanted = runs.map(({ endpointId, queue }) => ({ endpointId, count: READ - queue.length }));
    const except = runs.flatMap(({ held }) => [...held]);
    const found = await this.#try(() => dueDeliveries(database, wanted, except, new Date(now())));
    const byLane = Map.groupBy(found ?? [], ({ endpointId }) => endpointId);
    for (const [index, run] of runs.entries()) {
      const due = byLane.get(run.endpointId) ?? [];
      run.asking = false;
      if (found === null) run.faulted();
      else if (due.length === wanted[index]?.count) run.dirty = true;
      if (due.length > 0) run.looksSince = null;
      for (const delivery of due) {
        run.held.add(delivery.deliveryId);
        run.queue.push(delivery);
      }
      this.#advance(run);
    }
  }

  async #attempt(run: Run, delivery: DueDelivery, slots: FairSlots): Promise<void> {
    const { owner } = run;
    let done = (): void => slots.done(owner);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      run.late += 1;
      // From now on it keeps none of those waiting whose URLs are quick.
      const slow = this.#slotsOf(run);
      if (run.lane && slow !== slots) {
        if (slow.take(owner)) {
          slots.done(owner);
          done = () => slow.done(owner);
        } else if (slots.setAside()) done = () => slots.doneAside(owner);
      }
      this.#advance(run);
    }, this.#dependencies.shares.lateAfterMs);
    run.running += 1;
    if (delivery.intentId !== null) run.intents.add(delivery.intentId);
    const { now } = this.#dependencies;
    const began = now();
    if (run.pace !== 'quick') run.holdBack();
    try {
      const { outcome, settled } = await this.#dependencies.deliverer.attempt(delivery, run.heldUntil);
      run.faultless();
      // Its lane is not released before, so another process waits for it, too.
      if (run.isWaitingFor(delivery) || this.#stopping.signal.aborted) run.holdBack();
      run.health?.took(late);
      if (settled.reason === null) run.health?.succeeded();
      else run.health?.failed(began, now());
      this.#results.add({ run, delivery, settled, outcome });
    } catch (error) {
      // Nothing was sent, and nothing is counted.
      this.#dependencies.log.warn({ err: error, deliveryId: delivery.deliveryId }, 'a webhook could not be sent');
      run.held.delete(delivery.deliveryId);
      run.faulted();
    }
    clearTimeout(timer);
    if (late) run.late -= 1;
    run.running -= 1;
    if (delivery.intentId !== null) run.intents.delete(delivery.intentId);
    done();
    this.#advance(run);
  }

  async #settle(results: readonly Result[]): Promise<void> {
    const { database, log } = this.#dependencies;
    const { signal } = this.#ended;
    const backOff = new BackOff(100, WRITE_AGAIN_MS);
    // What was sent is known here only: it is written as soon as the database is back.
    for (let written = false; !written && !signal.aborted;) {
      try {
        await settleAttempts(
          database,
          results.map(({ settled }) => settled),
        );
        written = true;
      } catch (error) {
        log.warn({ err: error, attempts: results.length }, 'results of attempts cannot be written now');
        await backOff.wait(signal);
      }
    }
    const runs = Map.groupBy(results, ({ run }) => run);
    for (const { run, settled } of results) run.held.delete(settled.deliveryId);
    await this.#judge(runs);
    this.#dependencies.attempted(results.map(({ delivery }) => delivery));
    for (const run of runs.keys()) this.#advance(run);
  }

  /** Remembers which URLs fail, and disables those that have failed for too long. */
  async #judge(runs: ReadonlyMap<Run, readonly Result[]>): Promise<void> {
    const { database, log } = this.#dependencies;
    const changed: EndpointHealth[] = [];
    const disabled: { readonly endpointId: string; readonly by: 'gone' | 'failing'; readonly at: Date }[] = [];
    for (const [run, results] of runs) {
      const { endpointId } = run;
      const failed = results.find(({ settled }) => settled.reason !== null)?.settled;
      const gone = results.some(({ outcome }) => outcome === 'gone');
      const failingSince = results.some(({ settled }) => settled.reason === null)
        ? null
        : (run.failingSince ?? failed?.at ?? null);
      if (failingSince?.getTime() !== run.failingSince?.getTime()) changed.push({ endpointId, failingSince });
      run.failingSince = failingSince;
      const tooLong = failed && failingSince && failed.at.getTime() - failingSince.getTime() >= DISABLED_AFTER_MS;
      if (failed && (gone || tooLong)) disabled.push({ endpointId, by: gone ? 'gone' : 'failing', at: failed.at });
    }
    try {
      if (changed.length > 0) await rememberHealth(database, changed);
      for (const endpoint of disabled) {
        const told = await disableFailingEndpoint(database, endpoint);
        log.warn(endpoint, 'a webhook URL is disabled');
        count('payments.endpoints.disabled', { reason: endpoint.by });
        this.#dependencies.announce(told);
      }
    } catch (error) {
      // The next attempt that fails shows it again.
      log.warn({ err: error }, 'the health of URLs cannot be written now');
      for (const run of runs.keys()) run.failingSince = null;
    }
  }

  async #release(runs: readonly Run[]): Promise<void> {
    const { database, now } = this.#dependencies;
    const lanes = runs.map(({ endpointId, heldUntil }) => ({
      endpointId,
      heldUntil: Number.isFinite(heldUntil) ? new Date(heldUntil) : null,
    }));
    const by = { holder: this.#holder, now: new Date(now()) };
    const released = await this.#try(() => releaseLanes(database, lanes, by));
    for (const run of runs) {
      run.asking = false;
      run.lane = null;
      run.leasedUntil = 0;
      const answer = released?.get(run.endpointId);
      if (answer?.woken === true) run.dirty = true;
      // A lane that rests is woken by its timer; one whose release failed is free when its lease ends.
      else if (answer?.due === true && !run.dirty) this.#lookAgain(run);
      this.#advance(run);
    }
  }

  /** What is due is not projected yet: the lane is free for others until it is. */
  #lookAgain(run: Run): void {
    const now = performance.now();
    if (run.looksSince === null) {
      run.looksSince = now;
      run.looks = 0;
    }
    if (now - run.looksSince > LOOKS_MS) return;
    this.#wakeIn(
      run,
      now - run.looksSince < SOON_FOR_MS ? Math.min(FIRST_LOOK_MS * 2 ** run.looks++, SOON_MS) : LATER_MS,
    );
  }

  #wakeIn(run: Run, ms: number): void {
    if (run.timer !== null) return;
    run.timer = setTimeout(() => {
      run.timer = null;
      this.wake(run.endpointId);
    }, ms);
  }

  #forget(run: Run): void {
    if (run.timer !== null && !this.#stopping.signal.aborted) return;
    if (run.timer !== null) clearTimeout(run.timer);
    this.#runs.delete(run.endpointId);
    if (this.#runs.size === 0) this.#emptied();
  }

  /** Null if the database is unavailable; logged once an outage. */
  async #try<Answer>(statement: () => Promise<Answer>): Promise<Answer | null> {
    try {
      const answer = await statement();
      this.#failed = false;
      return answer;
    } catch (error) {
      if (!this.#failed) this.#dependencies.log.warn({ err: error }, 'due deliveries cannot be read now');
      this.#failed = true;
      return null;
    }
  }
}

function slotsBy({ quick, slow, failing }: Readonly<Record<Pace, Share>>): Readonly<Record<Pace, FairSlots>> {
  return { quick: new FairSlots(quick), slow: new FairSlots(slow), failing: new FairSlots(failing) };
}
