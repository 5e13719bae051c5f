import type { Queryable } from '../ledger/projection.ts';
import { placeOf } from '../privacy/sealing.ts';
import { type Database, inTransaction } from '../postgres/database.ts';
import { currentPrefix, decrypt, encrypt, type Keyring, UnreadableSecretError } from './keyring.ts';

const CANARY = 'canary';
/** Rows of one transaction. */
const AT_ONCE = 500;

/**
 * Verifies at the start of a process that its SECRETS_KEY is that of the others: one that were not would read no
 * webhook secret, and write some that the others cannot read. The first process leaves the canary for the others.
 * @throws UnreadableSecretError
 */
export async function verifySecretsKey({ sql }: Database, keyring: Keyring): Promise<void> {
  let known = await canary(sql);
  if (known === undefined) {
    const { rows } = await sql.query<{ id: string; ciphertext: Buffer }>(
      'SELECT id, ciphertext FROM service.webhook_secrets ORDER BY created_at DESC LIMIT 1',
    );
    for (const { id, ciphertext } of rows) decrypt(keyring, id, ciphertext);
    await sql.query('INSERT INTO service.secrets_canary (id, ciphertext) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      CANARY,
      encrypt(keyring, CANARY, CANARY),
    ]);
    known = await canary(sql);
  }
  if (known !== undefined) decrypt(keyring, CANARY, known);
}

const canary = async (sql: Queryable): Promise<Buffer | undefined> =>
  (await sql.query<{ ciphertext: Buffer }>('SELECT ciphertext FROM service.secrets_canary WHERE id = $1', [CANARY]))
    .rows[0]?.ciphertext;

/**
 * The same for a process that reads no webhook secrets, and has no right to: by what the others have left.
 * @throws UnreadableSecretError
 */
export async function compareSecretsKey({ sql }: Database, keyring: Keyring): Promise<void> {
  const left = await canary(sql);
  if (left !== undefined) decrypt(keyring, CANARY, left);
}

export interface RotatedSecrets {
  readonly rotated: number;
  /** Of rows that no key of the ring can read: they stay as they are. */
  readonly unreadable: readonly string[];
}

/** What is encrypted with SECRETS_KEY, by row. */
const ENCRYPTED = ['service.webhook_secrets', 'service.idempotent_answers', 'service.recovery_keys'] as const;

/**
 * Encrypts every secret with the first key of the ring, while services that have all keys of the ring are running. May
 * be interrupted and repeated.
 */
export async function rotateSecretsKey(database: Database, keyring: Keyring): Promise<RotatedSecrets> {
  const unreadable: string[] = [];
  let rotated = 0;
  for (const table of ENCRYPTED) {
    const done = await rotateTable(database, keyring, table);
    rotated += done.rotated;
    unreadable.push(...done.unreadable);
  }
  const keys = await rotateIntentKeys(database, keyring);
  rotated += keys.rotated;
  unreadable.push(...keys.unreadable);
  // Last: until then a process with the former key alone could still read something.
  if (unreadable.length === 0)
    await database.sql.query(
      `INSERT INTO service.secrets_canary (id, ciphertext) VALUES ($1, $2)
       ON CONFLICT (id) DO UPDATE SET ciphertext = excluded.ciphertext`,
      [CANARY, encrypt(keyring, CANARY, CANARY)],
    );
  return { rotated, unreadable };
}

/** An intent's id and the version of its event. */
type Place = readonly [string, number];

/** As rotateTable, for the keys of events. */
async function rotateIntentKeys(database: Database, keyring: Keyring): Promise<RotatedSecrets> {
  const prefix = currentPrefix(keyring);
  const unreadable: string[] = [];
  let rotated = 0;
  for (let after: Place | null = ['', 0]; after !== null;) {
    const from: Place = after;
    after = await inTransaction<Place | null>(database, async (client) => {
      const { rows } = await client.query<{ intent_id: string; version: number; ciphertext: Buffer }>(
        `SELECT intent_id, version, ciphertext FROM service.intent_keys
          WHERE (intent_id, version) > ($1, $2) ORDER BY intent_id, version LIMIT $3 FOR UPDATE`,
        [...from, AT_ONCE],
      );
      const renewed = rows.flatMap((row) => {
        if (row.ciphertext.subarray(0, prefix.length).equals(prefix)) return [];
        const place = placeOf({ intentId: row.intent_id, version: row.version });
        try {
          return [{ ...row, ciphertext: encrypt(keyring, place, decrypt(keyring, place, row.ciphertext), true) }];
        } catch (error) {
          if (!(error instanceof UnreadableSecretError)) throw error;
          unreadable.push(place);
          return [];
        }
      });
      await client.query(
        `UPDATE service.intent_keys AS key SET ciphertext = renewed.ciphertext
           FROM unnest($1::text[], $2::integer[], $3::bytea[]) AS renewed (intent_id, version, ciphertext)
          WHERE key.intent_id = renewed.intent_id AND key.version = renewed.version`,
        [
          renewed.map((row) => row.intent_id),
          renewed.map((row) => row.version),
          renewed.map(({ ciphertext }) => ciphertext),
        ],
      );
      rotated += renewed.length;
      const last = rows.at(-1);
      return rows.length < AT_ONCE || !last ? null : [last.intent_id, last.version];
    });
  }
  return { rotated, unreadable };
}

async function rotateTable(
  database: Database,
  keyring: Keyring,
  table: (typeof ENCRYPTED)[number],
): Promise<RotatedSecrets> {
  const prefix = currentPrefix(keyring);
  const unreadable: string[] = [];
  let rotated = 0;
  for (let after: string | null = ''; after !== null;) {
    const from: string = after;
    after = await inTransaction(database, async (client) => {
      const { rows } = await client.query<{ id: string; ciphertext: Buffer }>(
        `SELECT id, ciphertext FROM ${table}
          WHERE id > $1 AND substring(ciphertext FROM 1 FOR $2) <> $3 ORDER BY id LIMIT $4 FOR UPDATE`,
        [from, prefix.length, prefix, AT_ONCE],
      );
      const renewed = rows.flatMap(({ id, ciphertext }) => {
        try {
          return [{ id, ciphertext: encrypt(keyring, id, decrypt(keyring, id, ciphertext), true) }];
        } catch (error) {
          if (!(error instanceof UnreadableSecretError)) throw error;
          unreadable.push(id);
          return [];
        }
      });
      await client.query(
        `UPDATE ${table} s SET ciphertext = renewed.ciphertext
           FROM unnest($1::text[], $2::bytea[]) AS renewed (id, ciphertext) WHERE s.id = renewed.id`,
        [renewed.map(({ id }) => id), renewed.map(({ ciphertext }) => ciphertext)],
      );
      rotated += renewed.length;
      return rows.length < AT_ONCE ? null : (rows.at(-1)?.id ?? null);
    });
  }
  return { rotated, unreadable };
}
