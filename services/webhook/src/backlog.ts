import { countOutstanding, type Database, type Outstanding } from '@pf/database';
import { type Logger, registerGauge, isRecordingMetrics, PeriodicTask } from '@pf/runtime';

const PAUSE_MS = 10_000;
const MAX_COUNTED = 10_000;

/** Counts the outstanding deliveries every ten seconds, if metrics are exported. @returns ends it */
export function watchBacklog(database: Database, log: Logger, now: () => number): { stop(): Promise<void> } {
  let outstanding: Outstanding | null = null;
  const task = new PeriodicTask({
    name: 'backlog',
    pauseMs: PAUSE_MS,
    // A count that cannot be repeated is out of date: none is exported until the next one.
    work: async () => {
      outstanding = null;
      outstanding = await countOutstanding(database, new Date(now()), MAX_COUNTED);
    },
    onFailure: (error) => log.warn({ err: error }, 'outstanding deliveries cannot be counted'),
  });
  const unregister = [
    registerGauge('payments.deliveries.outstanding', () =>
      outstanding
        ? [
            [outstanding.due, { status: 'due' }],
            [outstanding.waiting, { status: 'waiting' }],
          ]
        : [],
    ),
    registerGauge('payments.deliveries.due.age', () =>
      outstanding
        ? [[outstanding.dueSince === null ? 0 : Math.max(0, now() - outstanding.dueSince.getTime()) / 1_000, {}]]
        : [],
    ),
  ];
  if (isRecordingMetrics()) task.start();
  return {
    async stop() {
      for (const end of unregister) end();
      await task.stop();
    },
  };
}
