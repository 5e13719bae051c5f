import { isDepositEvent, type LoggedDepositEvent, NewerVersionError, readRecord } from '@pf/contracts';
import type { DeliverableEvent, DeliveryBatch, NewDelivery, PlainArrival, WebhookStore } from '@pf/database';
import { isDepositEventType, isEventType, isPublicType } from '@pf/domain';
import type { GroupWork, LogRecord } from '@pf/event-log';
import { count, Gathering, type Logger } from '@pf/runtime';
import { BatchTrace } from './batch-trace.ts';

/**
 * Gets new deliveries once they are committed, and the events that they are among. Must neither throw nor be waited
 * for.
 */
type Announce = (deliveries: readonly NewDelivery[], events: readonly DeliverableEvent[]) => void;

/**
 * Turns intent.events into deliveries. The position in the log moves in the transaction that writes them, and the
 * partitions whose events came with one fetch share it.
 */
export class EventConsumer implements GroupWork {
  readonly #store: WebhookStore;
  readonly #log: Logger;
  readonly #batches: Gathering<DeliveryBatch, boolean>;

  constructor({
    store,
    log,
    now,
    announce,
  }: {
    store: WebhookStore;
    log: Logger;
    now: () => number;
    announce: Announce;
  }) {
    this.#store = store;
    this.#log = log;
    this.#batches = new Gathering(async (batches) => {
      const { moved, due } = await store.recordDeliveries(batches, new Date(now()));
      if (due.length > 0)
        announce(
          due,
          batches.flatMap(({ partition, events }) => (moved.has(partition) ? events : [])),
        );
      return batches.map(({ partition }) => moved.has(partition));
    });
  }

  positions(partitions: readonly number[]): Promise<ReadonlyMap<number, bigint>> {
    return this.#store.positions(partitions);
  }

  async handle(
    partition: number,
    from: bigint,
    { records, next }: { readonly records: readonly LogRecord[]; readonly next: bigint },
  ): Promise<boolean> {
    const found = records.flatMap((record) => this.#read(record) ?? []);
    return new BatchTrace(partition, found).run((events) => this.#batches.add({ partition, from, next, events }));
  }

  /** Null for private events, and for unreadable ones: such a record must not block the webhooks of its partition. */
  #read({ topic, partition, offset, value }: LogRecord): DeliverableEvent | null {
    try {
      const event = readRecord(value ?? '');
      const { eventId, type, version, accountId, livemode, trace } = event;
      // A public event of a newer version: whether integrators know it is not known here.
      if (
        (type.startsWith('intent.') && !isEventType(type)) ||
        (type.startsWith('deposit.') && !isDepositEventType(type))
      )
        throw new NewerVersionError(`${type} is not an event type that this version knows`);
      if (!isPublicType(type) && !isDepositEventType(type)) return null;
      const intentId = isDepositEvent(event) ? event.depositId : event.intentId;
      const plainArrival = isDepositEvent(event) ? plainArrivalOf(event) : null;
      return {
        ...{ eventId, eventType: type, intentId, version, accountId, livemode, ...trace },
        ...(plainArrival && { plainArrival }),
      };
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

/** The transfer of a deposit that may pay an intent by its amount: of a token, in a block, and for no other intent. */
function plainArrivalOf({ type, deposit }: Pick<LoggedDepositEvent, 'type' | 'deposit'>): PlainArrival | null {
  const { chain, tokenAddress, recipient, amountBaseUnits, blockTime, reason } = deposit;
  if (type !== 'deposit.received' || reason !== 'no_reference') return null;
  if (tokenAddress === null || blockTime === null) return null;
  return { chain, tokenAddress, recipient, amountBaseUnits, at: Date.parse(blockTime) };
}
