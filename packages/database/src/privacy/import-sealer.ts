import { type EventEnvelope, isForeign, readEvent } from '@pf/contracts';
import type { Instant } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import type { Keyring } from '../webhooks/keyring.ts';
import { EventSealer } from './intent-keys.ts';
import { type IntentKey, sealEvent } from './sealing.ts';

/** Only to see what sealing leaves: the result is not kept. */
const THROWAWAY = { keyring: Buffer.alloc(32), recovery: { id: '', key: Buffer.alloc(32) } };

/** Seals the events of another log, from before events were sealed, on their way into a new one. */
export class ImportSealer {
  readonly #database: Database;
  readonly #sealer: EventSealer;

  private constructor(database: Database, sealer: EventSealer) {
    this.#database = database;
    this.#sealer = sealer;
  }

  static async open(database: Database, keyring: Keyring, now: Instant): Promise<ImportSealer> {
    const sealer = new EventSealer(database, keyring);
    await sealer.renew(now);
    return new ImportSealer(database, sealer);
  }

  /** What a record and its sealed form have in common: equal where one is the other, sealed. */
  form(value: string): string {
    const event = documentOf(value);
    if (event === null) return value;
    const { sealed: _, ...rest } = sealEvent(event, THROWAWAY.keyring, THROWAWAY.recovery).event;
    return JSON.stringify({ ...rest, schemaVersion: 0 });
  }

  /**
   * Seals records of a partition that are not in the log yet, and stores their keys. Records that are sealed, or that
   * this code does not understand, stay as they are.
   */
  async seal(partition: number, values: readonly string[]): Promise<readonly string[]> {
    const keys: IntentKey[] = [];
    const sealed = values.map((value) => {
      const event = documentOf(value);
      if (event === null || event.sealed !== undefined) return value;
      const { event: result, key } = this.#sealer.seal(event);
      if (key) keys.push(key);
      return result === event ? value : JSON.stringify(result);
    });
    await this.#store(partition, keys);
    return sealed;
  }

  /** A key from an attempt that was interrupted before its event was appended opens nothing: it is replaced. */
  async #store(partition: number, keys: readonly IntentKey[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#database.sql.query(
      `INSERT INTO service.intent_keys (partition, intent_id, version, ciphertext, at)
       SELECT $1, * FROM unnest($2::text[], $3::integer[], $4::bytea[], $5::timestamptz[])
       ON CONFLICT (intent_id, version) DO UPDATE SET ciphertext = excluded.ciphertext`,
      [
        partition,
        keys.map(({ intentId }) => intentId),
        keys.map(({ version }) => version),
        keys.map(({ ciphertext }) => ciphertext),
        keys.map(({ at }) => at),
      ],
    );
  }
}

/** The event with every field that the record has, also those that this code does not know; null for other records. */
function documentOf(value: string): EventEnvelope | null {
  try {
    return isForeign(readEvent(value)) ? null : (JSON.parse(value) as EventEnvelope);
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}
