import { countOutstanding, type Database, type Outstanding } from '@pf/database';
import { type Logger, registerGauge, isRecording, PeriodicTask } from '@pf/runtime';

const LOOK_EVERY_MS = 10_000;
const COUNTED_AT_MOST = 10_000;

/** Looks every ten seconds how much is still to be sent, where metrics are exported. @returns ends it */
export function watchBacklog(database: Database, log: Logger, now: () => number): { stop(): Promise<void> } {
  let found: Outstanding | null = null;
  const rounds = new PeriodicTask({
    pauseMs: LOOK_EVERY_MS,
    // What was found before is not what is now: nothing is told until it is known again.
    work: async () => {
      found = null;
      found = await countOutstanding(database, new Date(now()), COUNTED_AT_MOST);
    },
    onFailure: (error) => log.warn({ err: error }, 'how much is still to be sent is not known now'),
  });
  const unlook = [
    registerGauge('payments.deliveries.outstanding', () =>
      found
        ? [
            [found.due, { status: 'due' }],
            [found.waiting, { status: 'waiting' }],
          ]
        : [],
    ),
    registerGauge('payments.deliveries.due.age', () =>
      found ? [[found.dueSince === null ? 0 : Math.max(0, now() - found.dueSince.getTime()) / 1_000, {}]] : [],
    ),
  ];
  if (isRecording()) rounds.start();
  return {
    async stop() {
      for (const end of unlook) end();
      await rounds.stop();
    },
  };
}
