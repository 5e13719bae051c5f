import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { LogRecord, NewRecord, PartitionWork, BatchResult } from '../../src/index.ts';

/** A test's command: `refuse` leads to no event, `copies` to several. */
export interface TestCommand {
  readonly id: number;
  readonly refuse?: boolean;
  readonly copies?: number;
  readonly pad?: string;
}

export interface TestEvent {
  readonly id: number;
  /** Counts the events of a partition from 1; without a gap if there was one writer. */
  readonly version: number;
}

export interface Projected {
  readonly position: bigint;
  readonly count: number;
  /** Hash over all values, in order. */
  readonly hash: string;
}

/** Called at the places where a test kills or suspends a process. */
export type Moment = 'decided' | 'committed' | 'projected';

export interface Hooks {
  /** Decides on what the ledger has then, like the service, and not on what was projected last. */
  readonly rereads?: boolean;
  published?(partition: number, ids: readonly number[]): void;
  lost?(partition: number): void;
  at?(moment: Moment, partition: number): Promise<void>;
}

interface Context {
  readonly values: readonly string[];
  readonly ids: readonly number[];
}

const START: Projected = { position: 0n, count: 0, hash: '' };

/** The fold of a log, which its projection must equal. */
export function fold(state: Projected, values: readonly string[], position: bigint): Projected {
  let { count, hash } = state;
  for (const value of values) {
    count++;
    hash = createHash('sha1')
      .update(hash + value)
      .digest('hex');
  }
  return { position, count, hash };
}

/** A projection in a file shared by processes, as services share Postgres; changed by compare-and-set. */
export class Ledger {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file, { timeout: 5_000 });
    this.#database.exec(
      `PRAGMA journal_mode = WAL;
       PRAGMA synchronous = OFF;
       CREATE TABLE IF NOT EXISTS projection (partition INTEGER PRIMARY KEY, position TEXT, count INTEGER, hash TEXT)`,
    );
  }

  load(partition: number): Projected {
    const row = this.#database
      .prepare('SELECT position, count, hash FROM projection WHERE partition = ?')
      .get(partition);
    return row
      ? { position: BigInt(String(row['position'])), count: Number(row['count']), hash: String(row['hash']) }
      : START;
  }

  move(partition: number, from: bigint, to: Projected): boolean {
    this.#database.prepare('INSERT OR IGNORE INTO projection VALUES (?, ?, 0, ?)').run(partition, '0', '');
    return (
      this.#database
        .prepare('UPDATE projection SET position = ?, count = ?, hash = ? WHERE partition = ? AND position = ?')
        .run(String(to.position), to.count, to.hash, partition, String(from)).changes === 1
    );
  }

  /** Puts an earlier state back, as a failover to a copy that lags does. */
  setBack(partition: number, { position, count, hash }: Projected): void {
    this.#database
      .prepare('UPDATE projection SET position = ?, count = ?, hash = ? WHERE partition = ?')
      .run(String(position), count, hash, partition);
  }

  close(): void {
    this.#database.close();
  }
}

/** The tests' work: one event per command, numbered within its partition. */
export class LedgerWork implements PartitionWork<Context> {
  readonly #ledger: Ledger;
  readonly #states = new Map<number, Projected>();
  readonly #hooks: Hooks;
  /** Events found in the log when a partition was acquired. */
  caughtUp = 0;

  constructor(ledger: Ledger, hooks: Hooks = {}) {
    this.#ledger = ledger;
    this.#hooks = hooks;
  }

  async checkpoint(partition: number): Promise<bigint> {
    return this.#ledger.load(partition).position;
  }

  async catchUp(partition: number, from: bigint, records: readonly LogRecord[], next: bigint): Promise<boolean> {
    this.caughtUp += records.length;
    return this.#ledger.move(
      partition,
      from,
      fold(
        this.#ledger.load(partition),
        records.map(({ value }) => value ?? ''),
        next,
      ),
    );
  }

  async acquired(partition: number): Promise<void> {
    this.#states.set(partition, this.#ledger.load(partition));
  }

  lost(partition: number): void {
    this.#states.delete(partition);
    this.#hooks.lost?.(partition);
  }

  async decide(partition: number, records: readonly LogRecord[]): Promise<BatchResult<Context>> {
    if (this.#hooks.rereads) this.#states.set(partition, this.#ledger.load(partition));
    let version = this.#states.get(partition)?.count ?? 0;
    const commands = records.map(({ value }) => JSON.parse(value ?? '') as TestCommand);
    const append = commands
      .filter(({ refuse }) => !refuse)
      .flatMap(({ id, copies = 1, pad }): NewRecord[] => {
        return Array.from({ length: copies }, () => ({
          partition,
          key: String(id),
          value: JSON.stringify({ id, version: ++version, ...(pad ? { pad } : {}) }),
          headers: { commandId: String(id) },
        }));
      });
    await this.#hooks.at?.('decided', partition);
    const position = this.#states.get(partition)?.position ?? 0n;
    return {
      append,
      position,
      context: { values: append.map(({ value }) => value), ids: commands.map(({ id }) => id) },
    };
  }

  async project(partition: number, from: bigint, next: bigint, { values }: Context): Promise<boolean> {
    await this.#hooks.at?.('committed', partition);
    const state = fold(this.#states.get(partition) ?? START, values, next);
    this.#states.set(partition, state);
    const moved = this.#ledger.move(partition, from, state);
    await this.#hooks.at?.('projected', partition);
    return moved;
  }

  published(partition: number, { ids }: Context): void {
    this.#hooks.published?.(partition, ids);
  }
}
