import { depositIdOf, EVENT_SCHEMA_VERSION, type EventEnvelope, eventIdOf, newIntentId } from '@pf/contracts';
import { type Database, fold, type ProjectionBatch, ProjectionWriter, readCheckpoint } from '@pf/database';
import {
  type AccountId,
  type Deposit,
  evolveDeposit,
  type IntentEvent,
  type IntentId,
  Ledger,
  type Received,
  view,
} from '@pf/domain';
import { deposits, type ExpectedEvent } from '@pf/domain/testing';

const PARTITION = 0;

/** Whose intent it is, and when each of its events happened. */
export interface History {
  readonly accountId: string;
  readonly livemode?: boolean;
  readonly events: readonly (readonly [at: number, event: ExpectedEvent])[];
}

/** Projects the events of a new intent, as its writer would. */
export async function addIntent(
  database: Database,
  { accountId, livemode = false, events }: History,
): Promise<IntentId> {
  const id = newIntentId(PARTITION);
  const ledger = new Ledger();
  const envelopes = events.map(([at, { type, data }], index): EventEnvelope => {
    const own = type === 'intent.created' ? { ...data, accountId: accountId as AccountId, livemode } : data;
    const version = index + 1;
    const intent = ledger.apply({ type, intentId: id, version, at, data: own } as IntentEvent);
    return {
      eventId: eventIdOf(id, version),
      type,
      schemaVersion: EVENT_SCHEMA_VERSION,
      intentId: id,
      version,
      accountId: accountId as AccountId,
      livemode,
      commandId: null,
      at: new Date(at).toISOString(),
      trace: { traceparent: null, requestId: null },
      data: own,
      intent: view(intent),
    };
  });
  await project(database, envelopes.length, fold([], envelopes));
  return id;
}

/** Projects a deposit, as its writer would. */
export async function addDeposit(
  database: Database,
  { at, received, ...after }: { at: number; received: Partial<Received> } & Partial<Pick<Deposit, 'level' | 'state'>>,
): Promise<Deposit> {
  const data = deposits.received(received);
  // Of one partition, which is the first.
  const depositId = depositIdOf(data.accountId, data.chain, data.arrival, 1);
  const deposit = {
    ...evolveDeposit(undefined, { type: 'deposit.received', depositId, version: 1, at, data }),
    ...after,
  };
  await project(database, 1, { ...fold([], []), deposits: [{ deposit, before: 0 }] });
  return deposit;
}

async function project(
  database: Database,
  records: number,
  folded: Omit<ProjectionBatch, 'partition' | 'from' | 'next' | 'outcomes'>,
): Promise<void> {
  const { position: from } = await readCheckpoint(database, PARTITION);
  const batch = { partition: PARTITION, from, next: from + BigInt(records), outcomes: [] };
  if (!(await new ProjectionWriter(database.sql).project({ ...folded, ...batch })))
    throw new Error('another writer has projected');
}
