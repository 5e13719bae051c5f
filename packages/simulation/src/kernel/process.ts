import { AsyncLocalStorage } from 'node:async_hooks';
import type { Random } from './random.ts';

/** What the patched globals need of the kernel that runs the current process. */
export interface Scheduler {
  now(): number;
  /** Runs `work` in the process after `ms`, unless the process was killed; later, while it is stopped. */
  after(process: SimulatedProcess, ms: number, work: () => void): Cancelable;
}

/** A scheduled entry. Canceling one that has run does nothing. */
export interface Cancelable {
  canceled: boolean;
}

/** How a process's clock differs from true time. */
export interface Clock {
  /** Added to true time, in milliseconds. A jump of the clock is a change of it. */
  skewMs: number;
  /** 0.001 gains a millisecond a second. Its timers run that much too fast. */
  drift: number;
}

/**
 * A process of the simulated system: whatever runs in its context reads its clock and its randomness. A kill ends it
 * for good; the process that is started in its place is another, with the next incarnation.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly incarnation: number;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly clock: Clock;
  readonly startedAt: number;
  /** False once killed: its entries are dropped. */
  alive = true;
  /** True between SIGSTOP and SIGCONT: its entries wait. */
  stopped = false;

  constructor(
    name: string,
    incarnation: number,
    options: { readonly scheduler: Scheduler; readonly random: Random; readonly clock: Clock },
  ) {
    this.name = name;
    this.incarnation = incarnation;
    this.scheduler = options.scheduler;
    this.random = options.random;
    this.clock = options.clock;
    this.startedAt = this.scheduler.now();
  }

  /** What Date.now() says in it. */
  wallClock(): number {
    return Math.floor(this.scheduler.now() + this.clock.skewMs + this.clock.drift * this.#age());
  }

  /** What performance.now() says in it: milliseconds since its start. */
  monotonicClock(): number {
    return this.#age() * (1 + this.clock.drift);
  }

  #age(): number {
    return this.scheduler.now() - this.startedAt;
  }
}

export const contexts = new AsyncLocalStorage<SimulatedProcess>();

/** The process whose code is running. @throws Error outside of every simulated process */
export function currentProcess(used: string): SimulatedProcess {
  const process = contexts.getStore();
  if (process === undefined)
    throw new Error(`${used} was used outside of a simulated process: its result would not repeat with the seed.`);
  return process;
}
