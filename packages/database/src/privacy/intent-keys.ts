import { randomBytes } from 'node:crypto';
import type { EventEnvelope, LoggedEvent } from '@pf/contracts';
import type { Instant } from '@pf/domain';
import type { Queryable } from '../ledger/projection.ts';
import type { Database } from '../postgres/database.ts';
import { decrypt, encrypt, type Keyring } from '../webhooks/keyring.ts';
import {
  type IntentKey,
  isSealed,
  openEvent,
  recoveredKey,
  type RecoveryKey,
  sealEvent,
  storedKey,
} from './sealing.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * A recovery key is made some days before its own, so that a backup of Postgres has it, and lives for as many days
 * after it: for so long a key that Postgres has lost is recovered from its event.
 */
export const RECOVERY_DAYS = 8;

/** Sealed events need SECRETS_KEY, and the process has none. */
export class NoSecretsKeyError extends Error {
  override readonly name = 'NoSecretsKeyError';
}

export interface OpenedEvents {
  /** In their order. One whose key is gone says nothing of a person. */
  readonly events: readonly LoggedEvent[];
  /** Keys that Postgres lacked and that a recovery key gave back: to be stored with the projection. */
  readonly recovered: readonly IntentKey[];
  /** Events whose key is nowhere: of erased intents, or lost. */
  readonly missing: number;
}

/**
 * Opens the sealed ones among these events, with the keys that Postgres has and else with recovery keys.
 * @param keyring null: the process has no SECRETS_KEY
 * @throws NoSecretsKeyError
 */
export async function openEvents(
  queryable: Queryable,
  keyring: Keyring | null,
  events: readonly LoggedEvent[],
): Promise<OpenedEvents> {
  const sealed = events.filter(isSealed);
  if (sealed.length === 0) return { events, recovered: [], missing: 0 };
  if (keyring === null)
    throw new NoSecretsKeyError('The log has sealed events: set SECRETS_KEY to that of the other services');
  const keys = await storedKeys(queryable, keyring, sealed);
  const without = sealed.filter((event) => !keys.has(event.eventId));
  const recoveryKeys = await recoveryKeysOf(queryable, keyring, without);
  const recovered: IntentKey[] = [];
  for (const event of without) {
    const recoveryKey = recoveryKeys.get(event.sealed?.recovery ?? '');
    const found = recoveryKey && recoveredKey(event, recoveryKey, keyring);
    if (!found || !readable(() => openEvent(event, found.key))) continue;
    keys.set(event.eventId, found.key);
    recovered.push(found.stored);
  }
  let missing = 0;
  return {
    events: events.map((event) => {
      if (!isSealed(event)) return event;
      const key = keys.get(event.eventId);
      const opened = key && readable(() => openEvent(event, key));
      if (!opened) missing++;
      return opened ?? event;
    }),
    recovered,
    missing,
  };
}

/** By the id of the event. */
async function storedKeys(
  queryable: Queryable,
  keyring: Keyring,
  events: readonly EventEnvelope[],
): Promise<Map<string, Buffer>> {
  const { rows } = await queryable.query<{ intent_id: IntentKey['intentId']; version: number; ciphertext: Buffer }>({
    name: 'intent-keys',
    text: `SELECT intent_id, version, ciphertext FROM service.intent_keys
             JOIN unnest($1::text[], $2::integer[]) AS wanted (intent_id, version) USING (intent_id, version)`,
    values: [events.map(({ intentId }) => intentId), events.map(({ version }) => version)],
  });
  const places = new Map(events.map(({ intentId, version, eventId }) => [`${intentId}/${version}`, eventId]));
  const keys = new Map<string, Buffer>();
  for (const { intent_id: intentId, version, ciphertext } of rows) {
    const eventId = places.get(`${intentId}/${version}`);
    const key = readable(() => storedKey({ intentId, version, ciphertext }, keyring));
    if (eventId !== undefined && key) keys.set(eventId, key);
  }
  return keys;
}

async function recoveryKeysOf(
  queryable: Queryable,
  keyring: Keyring,
  events: readonly EventEnvelope[],
): Promise<ReadonlyMap<string, Buffer>> {
  const ids = [...new Set(events.flatMap(({ sealed }) => sealed?.recovery ?? []))];
  if (ids.length === 0) return new Map();
  const { rows } = await queryable.query<StoredRecoveryKey>(
    'SELECT id, ciphertext FROM service.recovery_keys WHERE id = ANY($1)',
    [ids],
  );
  return new Map(rows.flatMap((row) => readable(() => [[row.id, recoveryKeyIn(row, keyring)]] as const) ?? []));
}

interface StoredRecoveryKey {
  readonly id: string;
  readonly ciphertext: Buffer;
}

const recoveryKeyIn = ({ id, ciphertext }: StoredRecoveryKey, keyring: Keyring): Buffer =>
  Buffer.from(decrypt(keyring, id, ciphertext), 'base64');

/** Undefined where a key does not fit, or what it opens is damaged: an event without its key must stop nothing. */
function readable<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

const dayOf = (at: Instant): string => new Date(at).toISOString().slice(0, 10);

/** Seals the events of a process: with the recovery key of their day. */
export class EventSealer {
  readonly #database: Database;
  readonly #keyring: Keyring;
  #recoveryKeys: ReadonlyMap<string, RecoveryKey> = new Map();

  constructor(database: Database, keyring: Keyring) {
    this.#database = database;
    this.#keyring = keyring;
  }

  /**
   * Makes the recovery keys of the coming days, deletes those whose time is over, and reads what the others have made.
   * To be called before the first event is sealed, and then every hour.
   */
  async renew(now: Instant): Promise<void> {
    const { sql } = this.#database;
    const days = Array.from({ length: RECOVERY_DAYS + 1 }, (_, index) => dayOf(now + (index - 1) * DAY_MS));
    await sql.query(
      `INSERT INTO service.recovery_keys (id, ciphertext)
       SELECT id, ciphertext FROM unnest($1::text[], $2::bytea[]) AS made (id, ciphertext) ON CONFLICT DO NOTHING`,
      [days, days.map((day) => encrypt(this.#keyring, day, randomBytes(32).toString('base64')))],
    );
    await sql.query('DELETE FROM service.recovery_keys WHERE id < $1', [dayOf(now - (RECOVERY_DAYS - 1) * DAY_MS)]);
    const { rows } = await sql.query<StoredRecoveryKey>(
      'SELECT id, ciphertext FROM service.recovery_keys WHERE id = ANY($1)',
      [days],
    );
    this.#recoveryKeys = new Map(rows.map((row) => [row.id, { id: row.id, key: recoveryKeyIn(row, this.#keyring) }]));
  }

  /** @throws Error if renew() was never called */
  seal(event: EventEnvelope): ReturnType<typeof sealEvent> {
    const day = event.at.slice(0, 10);
    // The clock of the log may be ahead by more than a day, and renewals may have failed for days.
    const recoveryKey = this.#recoveryKeys.get(day) ?? [...this.#recoveryKeys.values()].at(-1);
    if (!recoveryKey) throw new Error('there is no recovery key: renew() comes first');
    return sealEvent(event, this.#keyring, recoveryKey);
  }
}
