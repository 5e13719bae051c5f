import type { Clock } from '@pf/clock';
import { commandSeal, type Database, EventSealer, type Keyring, openEvents, settleErasures } from '@pf/database';
import { type Logger, PeriodicTask } from '@pf/runtime';
import type { PersonalData } from './writer.ts';

/** Recovery keys are made a week ahead, so a failed round is no harm. */
const ROUND_MS = 60 * 60 * 1000;

export interface PersonalDataOptions {
  /** Of SECRETS_KEY; null: the process has none, and cannot open sealed events. */
  readonly keyring: Keyring | null;
  /** Whether new events are sealed. */
  readonly seal: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The keys of events: resolves when events can be sealed. */
export async function createPersonalData(
  database: Database,
  { keyring, seal, clock, log }: PersonalDataOptions,
): Promise<PersonalData & { stop(): Promise<void> }> {
  const sealer = seal && keyring !== null ? new EventSealer(database, keyring) : null;
  await sealer?.renew(clock.now());
  const rounds =
    sealer &&
    new PeriodicTask({
      pauseMs: ROUND_MS,
      async work() {
        await clock.prove();
        await sealer.renew(clock.now());
      },
      onFailure: (error) => log.warn({ err: error }, 'recovery keys could not be renewed: will retry'),
    });
  rounds?.start();
  return {
    sealer,
    commands: keyring && commandSeal(keyring),
    open: (events) => openEvents(database.sql, keyring, events),
    settle: (ids) => settleErasures(database, ids),
    stop: async () => rounds?.stop(),
  };
}
