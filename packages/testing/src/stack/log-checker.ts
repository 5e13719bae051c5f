import {
  encodeDeposit,
  encodeIntent,
  eventOf,
  type EventEnvelope,
  isDepositEvent,
  type LoggedDepositEvent,
  parseEvent,
  readRecord,
} from '@pf/contracts';
import { type Database, salvageDeposits } from '@pf/database';
import { type Deposit, evolve, type IntentId, type PaymentIntent } from '@pf/domain';
import type { EventLog, LogReader } from '@pf/event-log';
import { until } from '../until.ts';

/** The content of the whole log. */
export interface LogContents {
  readonly events: readonly EventEnvelope[];
  /** The fold of the log: every intent, from its events. */
  readonly intents: ReadonlyMap<IntentId, PaymentIntent>;
  readonly deposits: readonly Deposit[];
  readonly depositEvents: readonly LoggedDepositEvent[];
  /** The violated rules; empty when the log is consistent. */
  readonly problems: readonly string[];
}

/** Readers see a commit shortly after the writer: waits until they see everything that is projected. */
async function settledEnds(reader: LogReader, database: Database): Promise<readonly bigint[]> {
  const { rows } = await database.sql.query<{ partition: number; position: string }>(
    'SELECT partition, position FROM ledger.checkpoints',
  );
  return until('the log to show what is projected', async () => {
    const ends = await reader.endOffsets('intent.events');
    return rows.every(({ partition, position }) => (ends[partition] ?? 0n) >= BigInt(position)) && ends;
  });
}

/**
 * Reads all partitions of intent.events (read_committed) and folds them. Checks that versions have no gap and that each
 * command was decided once.
 */
export async function readWholeLog({
  log,
  database,
}: {
  readonly log: EventLog;
  readonly database: Database;
}): Promise<LogContents> {
  const events: EventEnvelope[] = [];
  const intents = new Map<IntentId, PaymentIntent>();
  const ofDeposits: LoggedDepositEvent[] = [];
  const problems: string[] = [];
  /** Where a command's events are: one decision appends them consecutively, in one partition. */
  const decided = new Map<string, { partition: number; lastIndex: number }>();
  const reader = await log.reader('checker');
  try {
    const ends = await settledEnds(reader, database);
    for (const [partition, end] of ends.entries()) {
      let index = 0;
      for await (const batch of reader.read('intent.events', partition, 0n, end)) {
        for (const record of batch.records) {
          const logged = readRecord(record.value ?? '');
          if (isDepositEvent(logged)) {
            ofDeposits.push(logged);
            index++;
            continue;
          }
          const event = parseEvent(record.value ?? '');
          events.push(event);
          const before = intents.get(event.intentId);
          if (event.version !== (before?.version ?? 0) + 1)
            problems.push(`${event.intentId}: version ${event.version} follows ${before?.version ?? 0}`);
          else intents.set(event.intentId, evolve(before, eventOf(event)));
          if (event.commandId !== null) {
            const earlier = decided.get(event.commandId);
            if (earlier && (earlier.partition !== partition || earlier.lastIndex !== index - 1))
              problems.push(`command ${event.commandId} was decided twice`);
            decided.set(event.commandId, { partition, lastIndex: index });
          }
          index++;
        }
      }
    }
  } finally {
    await reader.close();
  }
  const { deposits, unfit } = salvageDeposits([], ofDeposits);
  for (const { kind, index } of unfit) problems.push(`${ofDeposits[index]?.depositId}: an event of it is ${kind}`);
  return { events, intents, deposits: deposits.map(({ deposit }) => deposit), depositEvents: ofDeposits, problems };
}

/** The whole log, as soon as the projection is its fold. @param withinMs fails with the differences after it */
export async function readSettledLog(
  cluster: { readonly log: EventLog; readonly database: Database },
  withinMs: number,
): Promise<LogContents> {
  return await until(
    'the projection to be the fold of the log',
    async () => {
      const contents = await readWholeLog(cluster);
      const differences = await compareProjection(cluster.database, contents.intents, contents.deposits);
      if (differences.length > 0) throw new Error(differences.slice(0, 3).join('\n'));
      return contents;
    },
    withinMs,
  );
}

/** Compares the projection with the fold of the log, byte for byte; returns the differences. */
export async function compareProjection(
  database: Database,
  intents: ReadonlyMap<IntentId, PaymentIntent>,
  deposits: readonly Deposit[] = [],
): Promise<readonly string[]> {
  const { rows } = await database.sql.query<{ id: string; state: string }>(
    'SELECT id, state FROM ledger.intents UNION ALL SELECT id, document FROM ledger.deposits',
  );
  const projected = new Map(rows.map((row) => [row.id, row.state]));
  const folded = new Map<string, string>([
    ...[...intents].map(([id, intent]) => [id, encodeIntent(intent)] as const),
    ...deposits.map((deposit) => [deposit.id, encodeDeposit(deposit)] as const),
  ]);
  const problems: string[] = [];
  for (const [id, logged] of folded) {
    const state = projected.get(id);
    if (state === undefined) problems.push(`${id} is in the log but not in the projection`);
    else if (state !== logged) problems.push(`${id} differs: the projection has ${state}, the log ${logged}`);
  }
  for (const id of projected.keys())
    if (!folded.has(id)) problems.push(`${id} is in the projection but not in the log`);
  return problems;
}
