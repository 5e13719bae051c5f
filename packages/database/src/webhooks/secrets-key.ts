import { ConfigurationError } from '@pf/runtime';
import type { Queryable } from '../ledger/projection.ts';
import { coldKeyPlace, plainColdKey } from '../ledger/cold-keys.ts';
import { placeOf } from '../privacy/sealing.ts';
import { type Database, inTransaction } from '../postgres/database.ts';
import { sponsorPlace } from '../sponsors/sponsors.ts';
import { currentPrefix, decrypt, encrypt, type Keyring, UnreadableSecretError } from './keyring.ts';

const CANARY = 'canary';
/** Rows of one transaction. */
const AT_ONCE = 500;

/**
 * Verifies at the start of a process that its SECRETS_KEY is that of the others: one that were not would read no
 * webhook secret, and write some that the others cannot read. The first process leaves the canary for the others.
 * @throws ConfigurationError
 */
export async function verifySecretsKey({ sql }: Database, keyring: Keyring): Promise<void> {
  let known = await canary(sql);
  if (known === undefined) {
    const { rows } = await sql.query<{ id: string; ciphertext: Buffer }>(
      'SELECT id, ciphertext FROM service.webhook_secrets ORDER BY created_at DESC LIMIT 1',
    );
    for (const { id, ciphertext } of rows) mustDecrypt(keyring, id, ciphertext);
    await sql.query('INSERT INTO service.secrets_canary (id, ciphertext) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      CANARY,
      encrypt(keyring, CANARY, CANARY),
    ]);
    known = await canary(sql);
  }
  if (known !== undefined) mustDecrypt(keyring, CANARY, known);
}

/**
 * The same for a process that reads no webhook secrets, and has no right to: by what the others have left.
 * @throws ConfigurationError
 */
export async function compareSecretsKey({ sql }: Database, keyring: Keyring): Promise<void> {
  const left = await canary(sql);
  if (left !== undefined) mustDecrypt(keyring, CANARY, left);
}

const canary = async (sql: Queryable): Promise<Buffer | undefined> =>
  (await sql.query<{ ciphertext: Buffer }>('SELECT ciphertext FROM service.secrets_canary WHERE id = $1', [CANARY]))
    .rows[0]?.ciphertext;

function mustDecrypt(keyring: Keyring, id: string, ciphertext: Buffer): void {
  try {
    decrypt(keyring, id, ciphertext);
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    throw new ConfigurationError(
      `${error.message}. Set SECRETS_KEY to that of the other services; to replace it, see docs/operations/deploy.md.`,
      { cause: error },
    );
  }
}

export interface RotatedSecrets {
  readonly rotated: number;
  /** Of rows that no key of the ring can read: they stay as they are. */
  readonly unreadable: readonly string[];
}

/** A table with a column that is encrypted with SECRETS_KEY. */
interface Encrypted {
  readonly table: string;
  /** Default: `ciphertext` */
  readonly column?: string;
  /** The text of what is stored as it is; null where it is encrypted. Default: all is. */
  readonly plain?: (stored: Buffer) => string | null;
  /** The columns of its primary key in order; all are after `first`. */
  readonly key: readonly { readonly column: string; readonly type: 'text' | 'integer'; readonly first: string | 0 }[];
  /** What the ciphertext is bound to, by the values of the key. */
  readonly id: (...key: readonly (string | number)[]) => string;
}

const byId = (table: string): Encrypted => ({
  table,
  key: [{ column: 'id', type: 'text', first: '' }],
  id: String,
});

const ENCRYPTED: readonly Encrypted[] = [
  ...['service.webhook_secrets', 'service.idempotent_answers', 'service.recovery_keys'].map(byId),
  {
    table: 'service.intent_keys',
    key: [
      { column: 'intent_id', type: 'text', first: '' },
      { column: 'version', type: 'integer', first: 0 },
    ],
    id: (intentId, version) => placeOf({ intentId: String(intentId), version: Number(version) }),
  },
  {
    table: 'service.sponsors',
    key: [
      { column: 'account_id', type: 'text', first: '' },
      { column: 'chain', type: 'text', first: '' },
    ],
    id: (accountId, chain) => sponsorPlace(String(accountId), String(chain)),
  },
  { ...byId('ledger.cold_intents'), column: 'key', plain: plainColdKey, id: (id) => coldKeyPlace(String(id)) },
];

/**
 * Encrypts every secret with the first key of the ring, while services that have all keys of the ring are running. May
 * be interrupted and repeated.
 */
export async function rotateSecretsKey(database: Database, keyring: Keyring): Promise<RotatedSecrets> {
  const unreadable: string[] = [];
  let rotated = 0;
  for (const encrypted of ENCRYPTED) {
    const done = await rotateTable(database, keyring, encrypted);
    rotated += done.rotated;
    unreadable.push(...done.unreadable);
  }
  // Last: until then a process with the former key alone could still read something.
  if (unreadable.length === 0)
    await database.sql.query(
      `INSERT INTO service.secrets_canary (id, ciphertext) VALUES ($1, $2)
       ON CONFLICT (id) DO UPDATE SET ciphertext = excluded.ciphertext`,
      [CANARY, encrypt(keyring, CANARY, CANARY)],
    );
  return { rotated, unreadable };
}

async function rotateTable(
  database: Database,
  keyring: Keyring,
  { table, column: stored = 'ciphertext', plain = () => null, key, id: idOf }: Encrypted,
): Promise<RotatedSecrets> {
  const prefix = currentPrefix(keyring);
  const columns = key.map(({ column }) => column).join(', ');
  const numbered = (text: (number: number, index: number) => string): string =>
    key.map((_, index) => text(index + 1, index)).join(', ');
  const unreadable: string[] = [];
  let rotated = 0;
  let after: readonly (string | number)[] | null = key.map(({ first }) => first);
  while (after !== null) {
    const from: readonly (string | number)[] = after;
    after = await inTransaction(database, async (client) => {
      const { rows } = await client.query<{ key: (string | number)[]; ciphertext: Buffer }>(
        `SELECT json_build_array(${columns}) AS key, ${stored} AS ciphertext FROM ${table}
          WHERE (${columns}) > (${numbered((number) => `$${number}`)})
          ORDER BY ${columns} LIMIT $${key.length + 1} FOR UPDATE`,
        [...from, AT_ONCE],
      );
      const renewed = rows.flatMap((row) => {
        const isCurrent = row.ciphertext.subarray(0, prefix.length).equals(prefix);
        if (isCurrent && plain(row.ciphertext) === null) return [];
        const id = idOf(...row.key);
        try {
          const text = plain(row.ciphertext) ?? decrypt(keyring, id, row.ciphertext);
          return [{ ...row, ciphertext: encrypt(keyring, id, text, true) }];
        } catch (error) {
          if (!(error instanceof UnreadableSecretError)) throw error;
          unreadable.push(id);
          return [];
        }
      });
      await client.query(
        `UPDATE ${table} AS kept SET ${stored} = renewed.ciphertext
           FROM unnest(${numbered((number, index) => `$${number}::${key[index]?.type}[]`)}, $${key.length + 1}::bytea[])
             AS renewed (${columns}, ciphertext)
          WHERE (${key.map(({ column }) => `kept.${column}`).join(', ')})
            = (${key.map(({ column }) => `renewed.${column}`).join(', ')})`,
        [...key.map((_, index) => renewed.map((row) => row.key[index])), renewed.map(({ ciphertext }) => ciphertext)],
      );
      rotated += renewed.length;
      return rows.length < AT_ONCE ? null : (rows.at(-1)?.key ?? null);
    });
  }
  return { rotated, unreadable };
}
