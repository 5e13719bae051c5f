import { parseEvent } from '@pf/contracts';
import {
  type Database,
  type DeliverableEvent,
  type OutstandingDelivery,
  recordDeliveries,
  webhookPositions,
} from '@pf/database';
import { isPublic } from '@pf/domain';
import type { GroupWork, LogRecord } from '@pf/event-log';
import { count, type Logger } from '@pf/runtime';
import { BatchTrace } from './batch-trace.ts';

/** Turns intent.events into deliveries. The position in the log moves in the transaction that writes them. */
export class EventConsumer implements GroupWork {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #announce: (deliveries: readonly OutstandingDelivery[]) => void;

  /** @param announce gets new deliveries once they are committed; must neither throw nor be waited for */
  constructor({
    database,
    log,
    now,
    announce,
  }: {
    database: Database;
    log: Logger;
    now: () => number;
    announce: (deliveries: readonly OutstandingDelivery[]) => void;
  }) {
    this.#database = database;
    this.#log = log;
    this.#now = now;
    this.#announce = announce;
  }

  positions(partitions: readonly number[]): Promise<ReadonlyMap<number, bigint>> {
    return webhookPositions(this.#database, partitions);
  }

  async handle(
    partition: number,
    from: bigint,
    { records, next }: { readonly records: readonly LogRecord[]; readonly next: bigint },
  ): Promise<boolean> {
    const trace = new BatchTrace(
      partition,
      records.flatMap((record) => this.#read(record) ?? []),
    );
    const deliveries = await trace.run((events) =>
      recordDeliveries(this.#database, { partition, from, next, events, at: new Date(this.#now()) }),
    );
    if (deliveries === null) return false;
    if (deliveries.length > 0) this.#announce(deliveries);
    return true;
  }

  /** Null for private events, and for unreadable ones: such a record must not block the webhooks of its partition. */
  #read({ topic, partition, offset, value }: LogRecord): DeliverableEvent | null {
    try {
      const { eventId, type, intentId, version, accountId, livemode, trace } = parseEvent(value ?? '');
      return isPublic(type) ? { eventId, eventType: type, intentId, version, accountId, livemode, ...trace } : null;
    } catch (error) {
      // Nothing is lost: the log keeps it, and setting the position back repeats no delivery:
      // docs/operations/runbooks/event-unreadable.md
      count('payments.alarms', { alarm: 'unreadable_event' });
      this.#log.error(
        { err: error, alarm: 'unreadable_event', topic, partition, offset: String(offset) },
        'an event cannot be read and got no webhook',
      );
      return null;
    }
  }
}
