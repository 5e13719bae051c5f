import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { decode, encode } from './json.ts';
import type { TransactionMeta } from './meta.ts';
import type { Account } from './runtime.ts';

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS accounts (address TEXT PRIMARY KEY, lamports TEXT NOT NULL, owner TEXT NOT NULL,
    executable INTEGER NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS transactions (sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    signature TEXT NOT NULL UNIQUE, slot INTEGER NOT NULL, time INTEGER NOT NULL, wire BLOB NOT NULL,
    meta TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS transactions_slot ON transactions (slot);
  CREATE TABLE IF NOT EXISTS mentions (address TEXT NOT NULL, sequence INTEGER NOT NULL,
    PRIMARY KEY (address, sequence)) WITHOUT ROWID;
`;

const accountRow = z.object({
  address: z.string(),
  lamports: z.string().transform(BigInt),
  owner: z.string(),
  executable: z.number().transform(Boolean),
  data: z.instanceof(Uint8Array),
});
const transactionRow = z.object({
  sequence: z.number(),
  signature: z.string(),
  slot: z.number(),
  time: z.number(),
  wire: z.instanceof(Uint8Array),
  meta: z.string().transform((text) => decode(text) as TransactionMeta),
});

/** A transaction in a block, landed or failed. */
export interface Landed {
  /** Its position in the order of execution. */
  readonly sequence: number;
  readonly signature: string;
  readonly slot: number;
  /** Seconds since 1970. */
  readonly time: number;
  readonly wire: Uint8Array;
  readonly meta: TransactionMeta;
}

/**
 * The accounts, transactions and metadata of a chain, in SQLite: in a folder, where they survive a kill, or in memory.
 */
export class Ledger {
  readonly #database: DatabaseSync;

  /** @param folder null: in memory */
  constructor(folder: string | null) {
    if (folder !== null) mkdirSync(folder, { recursive: true });
    this.#database = new DatabaseSync(folder === null ? ':memory:' : path.join(folder, 'ledger.sqlite'));
    this.#database.exec(SCHEMA);
  }

  /** Runs `work` in a database transaction. */
  together<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }
  fact<T>(name: string, schema: z.ZodType<T>): T | null {
    const row = this.#database.prepare('SELECT value FROM facts WHERE name = ?').get(name);
    return row === undefined ? null : schema.parse(decode(String(row['value'])));
  }
  setFact(name: string, value: unknown): void {
    this.#database.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?)').run(name, encode(value));
  }

  *accounts(): Generator<readonly [string, Account]> {
    for (const row of this.#database.prepare('SELECT * FROM accounts').iterate()) {
      const { address, ...account } = accountRow.parse(row);
      yield [address, account];
    }
  }
  setAccount(address: string, account: Account | null): void {
    if (account === null) this.#database.prepare('DELETE FROM accounts WHERE address = ?').run(address);
    else {
      const { lamports, owner, executable, data } = account;
      this.#database
        .prepare('INSERT OR REPLACE INTO accounts VALUES (?, ?, ?, ?, ?)')
        .run(address, String(lamports), owner, Number(executable), data);
    }
  }

  append({ signature, slot, time, wire, meta }: Omit<Landed, 'sequence'>, mentioned: Iterable<string>): void {
    const { lastInsertRowid } = this.#database
      .prepare('INSERT INTO transactions (signature, slot, time, wire, meta) VALUES (?, ?, ?, ?, ?)')
      .run(signature, slot, time, wire, encode(meta));
    const mention = this.#database.prepare('INSERT OR IGNORE INTO mentions VALUES (?, ?)');
    for (const address of mentioned) mention.run(address, lastInsertRowid);
  }
  transaction(signature: string): Landed | null {
    const row = this.#database.prepare('SELECT * FROM transactions WHERE signature = ?').get(signature);
    return row === undefined ? null : transactionRow.parse(row);
  }
  /** The transactions of slots `from` to `to`, oldest first. */
  between(from: number, to: number): Landed[] {
    return this.#database
      .prepare('SELECT * FROM transactions WHERE slot BETWEEN ? AND ? ORDER BY sequence')
      .all(from, to)
      .map((row) => transactionRow.parse(row));
  }
  /**
   * The transactions with this address, newest first, older than `before` and newer than `after`, none above `slot`.
   */
  mentioning(
    address: string,
    {
      slot,
      before,
      after,
      limit,
    }: { readonly slot: number; readonly before: number; readonly after: number; readonly limit: number },
  ): Landed[] {
    return this.#database
      .prepare(
        'SELECT t.* FROM mentions m JOIN transactions t USING (sequence) WHERE m.address = ? AND m.sequence < ? ' +
          'AND m.sequence > ? AND t.slot <= ? ORDER BY m.sequence DESC LIMIT ?',
      )
      .all(address, before, after, slot, limit)
      .map((row) => transactionRow.parse(row));
  }
  /** The transactions after this position, none above `slot`, oldest first. */
  after(sequence: number, slot: number): Landed[] {
    return this.#database
      .prepare('SELECT * FROM transactions WHERE sequence > ? AND slot <= ? ORDER BY sequence')
      .all(sequence, slot)
      .map((row) => transactionRow.parse(row));
  }
  /** The position of the newest transaction; 0: there is none. */
  lastSequence(): number {
    return Number(this.#database.prepare('SELECT max(sequence) AS last FROM transactions').get()?.['last'] ?? 0);
  }
  /** The number of transactions. */
  count(): number {
    return Number(this.#database.prepare('SELECT count(*) AS count FROM transactions').get()?.['count']);
  }
  /** Deletes every transaction above `slot`. */
  truncate(slot: number): void {
    this.#database
      .prepare('DELETE FROM mentions WHERE sequence IN (SELECT sequence FROM transactions WHERE slot > ?)')
      .run(slot);
    this.#database.prepare('DELETE FROM transactions WHERE slot > ?').run(slot);
  }
  close(): void {
    this.#database.close();
  }
}
