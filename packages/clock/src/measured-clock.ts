import type { Instant } from '@pf/domain';
import {
  count,
  isRecordingMetrics,
  type Logger,
  type MetricLabels,
  PeriodicTask,
  registerGauge,
  within,
} from '@pf/runtime';
import { type Clock, ClockUnprovenError } from './clock.ts';
import { judge, type Lead, leadOf, middleOf, type Moment, narrowed } from './lead.ts';

/** While the clock is proven. */
const MEASURE_EVERY_MS = 10_000;
/** Before a batch is decided on a proof older than this, as after a SIGSTOP, the clock is measured again. */
const PROVEN_FOR_MS = 30_000;
/** While it is not proven: how soon a clock that was set right counts again. */
const RETRY_MS = 1_000;
/** A response that takes longer could prove nothing. */
const READ_WITHIN_MS = 4_000;
/** Readings of one reference in a row until its interval is narrow enough: the first may open a connection. */
const READINGS = 3;
/** The wall clock and the steady clock drift apart by less in any time between two measurements. */
const STEP_MS = 200;

export type ReferenceName = MetricLabels<'payments.clock.offset'>['reference'];

/** A clock that this process is compared with. */
export interface TimeReference {
  readonly name: ReferenceName;
  /** What the reference's clock shows, in ms since 1970. Rejects if it is unavailable. */
  read(): Promise<Instant>;
}

/**
 * - `right`: within the tolerance of every reference.
 * - `wrong`: outside of it for at least one.
 * - `unproven`: not measured lately, stepped since, or measured too roughly.
 */
export type ClockStanding = 'right' | 'wrong' | 'unproven';

/** For the health page; offsets in ms, positive where this process is ahead. */
export interface ClockReport {
  readonly standing: ClockStanding;
  readonly offsets: Readonly<Partial<Record<ReferenceName, number>>>;
}

export interface MeasuredClockOptions {
  /** Every one must agree: a clock that agrees with one of two cannot know which of them is wrong. */
  readonly references: readonly TimeReference[];
  readonly log: Logger;
  /** What this process does while its clock is wrong, for the alarm: `it …`. */
  readonly whileWrong: string;
  /** ms since 1970. Default: Date.now */
  readonly wall?: () => Instant;
  /** ms of a clock that is never stepped. Default: performance.now */
  readonly steady?: () => number;
}

interface Reading {
  readonly lead: Lead;
  readonly taken: Moment;
}

/**
 * The wall clock of this process, compared with references as NTP does. It is trusted only while the last comparison is
 * recent, found it right, and the wall clock has not been stepped since, which the steady clock shows at once.
 */
export class MeasuredClock implements Clock {
  readonly #references: readonly TimeReference[];
  readonly #log: Logger;
  readonly #whileWrong: string;
  readonly #wall: () => Instant;
  readonly #steady: () => number;
  readonly #readings = new Map<ReferenceName, Reading>();
  readonly #listeners = new Set<(standing: ClockStanding) => void>();
  readonly #stopping = new AbortController();
  readonly #measurements: PeriodicTask;
  readonly #unregister: readonly (() => void)[];
  #measuring: Promise<void> | null = null;
  #measuredAt = Number.NEGATIVE_INFINITY;
  #announced: ClockStanding = 'unproven';

  constructor({
    references,
    log,
    whileWrong,
    wall = Date.now,
    steady = () => performance.now(),
  }: MeasuredClockOptions) {
    this.#references = references;
    this.#log = log;
    this.#whileWrong = whileWrong;
    this.#wall = wall;
    this.#steady = steady;
    this.#measurements = new PeriodicTask({
      pauseMs: RETRY_MS,
      work: async () => {
        if (this.standing !== 'right' || this.#steady() - this.#measuredAt >= MEASURE_EVERY_MS) await this.measure();
      },
      onFailure: (error) => log.warn({ err: error }, 'the clock could not be measured'),
    });
    this.#unregister = isRecordingMetrics() ? this.#registerGauges() : [];
  }

  /** Measures for the first time, and then again and again. Resolves after the first measurement, whatever it found. */
  async start(): Promise<void> {
    await this.measure();
    this.#measurements.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const unregister of this.#unregister) unregister();
    await this.#measurements.stop();
  }

  get standing(): ClockStanding {
    const now = this.#moment();
    let isProven = true;
    for (const { name } of this.#references) {
      const reading = this.#readings.get(name);
      const known = reading !== undefined && !this.#isOutdated(reading, now) ? judge(reading.lead) : 'unproven';
      if (known === 'wrong') return 'wrong';
      if (known === 'unproven') isProven = false;
    }
    return isProven ? 'right' : 'unproven';
  }

  now(): Instant {
    const time = this.provenTime();
    if (time === null) throw new ClockUnprovenError(this.#description());
    return time;
  }

  provenTime(): Instant | null {
    return this.standing === 'right' ? this.#wall() : null;
  }

  async prove(): Promise<void> {
    if (this.provenTime() !== null) return;
    await this.measure();
    this.now();
  }

  /**
   * The time of the first reference, which a wrong wall clock does not change: from its last reading and the steady
   * clock. The wall clock's time until it was read once.
   */
  referenceTime(): Instant {
    const [first] = this.#references;
    const reading = first && this.#readings.get(first.name);
    if (reading === undefined) return this.#wall();
    const { lead, taken } = reading;
    return Math.round(taken.wall - middleOf(lead) + (this.#steady() - taken.steady));
  }

  report(): ClockReport {
    const offsets = [...this.#readings].map(([name, { lead }]) => [name, Math.round(middleOf(lead))]);
    return { standing: this.standing, offsets: Object.fromEntries(offsets) as ClockReport['offsets'] };
  }

  /** Calls it with the standing after each measurement that changed it. @returns ends it */
  onChange(listener: (standing: ClockStanding) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads every reference. Callers that come meanwhile share the measurement. Never rejects. */
  measure(): Promise<void> {
    return (this.#measuring ??= this.#measure().finally(() => (this.#measuring = null)));
  }

  #registerGauges(): readonly (() => void)[] {
    return [
      registerGauge('payments.clock.offset', () =>
        [...this.#readings].map(([reference, { lead }]) => [middleOf(lead) / 1_000, { reference }]),
      ),
      registerGauge('payments.clock.right', () => [[this.standing === 'right' ? 1 : 0, {}]]),
    ];
  }

  async #measure(): Promise<void> {
    await Promise.all(this.#references.map((reference) => this.#compare(reference)));
    this.#measuredAt = this.#steady();
    const standing: ClockStanding = this.standing;
    if (standing === this.#announced || this.#stopping.signal.aborted) return;
    this.#announced = standing;
    const fields = { clock: this.report() };
    if (standing === 'wrong') {
      count('payments.alarms', { alarm: 'wrong_clock' });
      this.#log.error(
        { ...fields, alarm: 'wrong_clock', runbook: 'docs/operations/runbooks/wrong-clock.md' },
        `the clock of this process is wrong: until it is right again, ${this.#whileWrong}`,
      );
    } else if (standing === 'right') this.#log.info(fields, 'the clock is right');
    else this.#log.warn(fields, 'the clock could not be proven right');
    for (const listener of this.#listeners) listener(standing);
  }

  /** Reads a reference until it proves the clock right or wrong, a few times at most. */
  async #compare(reference: TimeReference): Promise<void> {
    let lead: Lead | null = null;
    for (let tries = 1; tries <= READINGS && !this.#stopping.signal.aborted; tries++) {
      const reading = await this.#read(reference);
      if (reading === null) return;
      lead = (lead && narrowed(lead, reading.lead)) ?? reading.lead;
      this.#readings.set(reference.name, { ...reading, lead });
      if (judge(lead) !== 'unproven') return;
    }
  }

  /** Null where the reference is unavailable: the last reading counts until it is old. */
  async #read(reference: TimeReference): Promise<Reading | null> {
    const asked = this.#moment();
    try {
      const shown = await within(READ_WITHIN_MS, reference.read());
      if (shown === undefined) return null;
      const taken = this.#moment();
      return { lead: leadOf(asked, taken, shown), taken };
    } catch (error) {
      this.#log.debug({ err: error, reference: reference.name }, 'a reference for the clock is unavailable');
      return null;
    }
  }

  #isOutdated({ taken }: Reading, now: Moment): boolean {
    const elapsed = now.steady - taken.steady;
    return elapsed > PROVEN_FOR_MS || Math.abs(now.wall - taken.wall - elapsed) > STEP_MS;
  }

  #moment(): Moment {
    return { wall: this.#wall(), steady: this.#steady() };
  }

  #description(): string {
    const { standing, offsets } = this.report();
    const shown = Object.entries(offsets).map(([name, ms]) => `${ms} ms from ${name}`);
    return `${standing}, ${shown.length === 0 ? 'not measured' : shown.join(', ')}`;
  }
}
