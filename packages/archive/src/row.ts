import { isDepositEvent, type LoggedEvent, type LoggedRecord, readRecord } from '@pf/contracts';
import type { LogRecord } from '@pf/event-log';
import { boolean, type Columns, integer, text, time } from './columns.ts';

/**
 * One record of intent.events, with what analysts filter by in columns of their own. The record itself is `event`,
 * byte for byte. A record that no version of the code can read is archived too: only its columns are empty.
 */
export interface Row {
  readonly intentId: string | null;
  readonly version: number | null;
  /** The event's type; `unreadable` where the record cannot be read. */
  readonly type: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly eventId: string | null;
  readonly accountId: string | null;
  readonly livemode: boolean | null;
  readonly partition: number;
  readonly offset: bigint;
  /** Of the intent after the event, as integrators see it. */
  readonly intent: LoggedEvent['intent'] | null;
  readonly event: string | null;
}

/** The columns of the events' files, with their types in SQL. docs/reference/archive.md describes them. */
export const EVENT_COLUMNS: Columns<Row> = {
  intent_id: text((row) => row.intentId),
  version: integer((row) => row.version),
  type: text((row) => row.type),
  at: time('at', (row) => row.at),
  event_id: text((row) => row.eventId),
  account_id: text((row) => row.accountId),
  livemode: boolean((row) => row.livemode),
  partition: integer((row) => row.partition),
  log_offset: { type: 'BIGINT', staged: 'BIGINT', value: (row) => row.offset },
  state: text((row) => row.intent?.state),
  direction: text((row) => row.intent?.direction),
  chain: text((row) => row.intent?.chain),
  token: text((row) => row.intent?.token),
  amount: {
    type: 'DECIMAL(38, 18)',
    staged: 'VARCHAR',
    from: 'try_cast(amount AS DECIMAL(38, 18))',
    value: (row) => row.intent?.amount ?? null,
  },
  requestor: text((row) => row.intent?.requestor),
  fulfiller: text((row) => row.intent?.fulfiller),
  tx_signature: text((row) => row.intent?.txSignature),
  event: text((row) => row.event),
};

export function toRow({ partition, offset, timestamp, key, value }: LogRecord): Row {
  const event = readable(value);
  if (event === null)
    return {
      intentId: key,
      version: null,
      type: 'unreadable',
      at: timestamp,
      eventId: null,
      accountId: null,
      livemode: null,
      partition,
      offset,
      intent: null,
      event: value,
    };
  const { type, at, eventId, accountId, livemode } = event;
  // What is of a deposit has no intent, and no version of one.
  const { intentId, version, intent } = isDepositEvent(event) ? { intentId: null, version: null, intent: null } : event;
  return {
    intentId,
    version,
    type,
    at: Date.parse(at),
    eventId,
    accountId,
    livemode,
    partition,
    offset,
    intent,
    event: value,
  };
}

function readable(value: string | null): LoggedRecord | null {
  try {
    return readRecord(value ?? '');
  } catch (error) {
    // Damaged; the archive keeps what is there, and whoever reads the ledger meets it.
    if (error instanceof Error) return null;
    throw error;
  }
}

/** `2026-11-23`, in UTC. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
