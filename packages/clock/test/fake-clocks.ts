import { createLogger } from '@pf/runtime';
import { MeasuredClock, type MeasuredClockOptions, type ReferenceName } from '../src/measured-clock.ts';

/** A process, Kafka and Postgres, each with a clock that a test sets. Time passes only where the test says so. */
export class FakeClocks {
  /** True time, in ms. */
  time = 1_800_000_000_000;
  /** By how much the process's wall clock is ahead of true time. */
  wallLead = 0;
  /** By how much each reference's clock is ahead, and how long a request and its response take. */
  readonly references = {
    kafka: { lead: 0, request: 1, response: 1, available: true, reads: 0 },
    postgres: { lead: 0, request: 1, response: 1, available: true, reads: 0 },
  } satisfies Record<ReferenceName, object>;

  clock(options: Partial<MeasuredClockOptions> = {}): MeasuredClock {
    return new MeasuredClock({
      references: (['kafka', 'postgres'] as const).map((name) => ({ name, read: () => this.#read(name) })),
      log: createLogger('test', 'silent'),
      whileWrong: 'it does nothing',
      wall: () => this.time + this.wallLead,
      steady: () => this.time - 1_700_000_000_000,
      ...options,
    });
  }

  async #read(name: ReferenceName): Promise<number> {
    const reference = this.references[name];
    reference.reads += 1;
    if (!reference.available) throw new Error(`${name} is unavailable`);
    this.time += reference.request;
    const shown = this.time + reference.lead;
    this.time += reference.response;
    return shown;
  }
}
