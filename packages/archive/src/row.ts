import { type LoggedEvent, readEvent } from '@pf/contracts';
import type { LogRecord } from '@pf/event-log';

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
  const { intentId, version, type, at, eventId, accountId, livemode, intent } = event;
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

function readable(value: string | null): LoggedEvent | null {
  try {
    return readEvent(value ?? '');
  } catch (error) {
    // Damaged; the archive keeps what is there, and whoever reads the ledger meets it.
    if (error instanceof Error) return null;
    throw error;
  }
}

/** `2026-11-23`, in UTC. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
