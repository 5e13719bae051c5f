import { MeasuredClock } from '@pf/clock';
import type { WorldDependencies } from './world-dependencies.ts';

/** The clock of the current process, measured against the simulated Kafka and Postgres. */
export async function startClock({ kernel, broker, database, log }: WorldDependencies): Promise<MeasuredClock> {
  const read = (server: string, time: () => number) => (): Promise<number> =>
    kernel.call(server, time, () => new Error(`${server} did not respond`), { what: 'read the clock' });
  const clock = new MeasuredClock({
    references: [
      { name: 'postgres', read: read(database.name, () => database.now()) },
      { name: 'kafka', read: read(broker.name, () => broker.time()) },
    ],
    log,
    whileWrong: 'it neither decides nor broadcasts',
  });
  await clock.start();
  return clock;
}
