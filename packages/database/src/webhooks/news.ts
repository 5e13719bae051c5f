import type { Instant } from '@pf/domain';

/** A plain transfer, as the log tells of it. */
export interface PlainArrival {
  readonly chain: string;
  readonly tokenAddress: string;
  readonly recipient: string;
  readonly amountBaseUnits: string;
  /** The time of its block. */
  readonly at: Instant;
}

/** A public event of an intent as deliveries need it. */
export interface DeliverableEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly intentId: string;
  readonly version: number;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly traceparent: string | null;
  readonly requestId: string | null;
  /** Only of a deposit that has arrived, or arrived again, and may pay an intent by its amount. */
  readonly plainArrival?: PlainArrival;
}

/** What an account is told: an event of an intent, or one that has a text of its own. */
export interface News extends Omit<DeliverableEvent, 'intentId' | 'version' | 'plainArrival'> {
  /** Null for what is of no intent. What is of one is sent when the projection shows its version. */
  readonly intentId: string | null;
  readonly version: number | null;
  /** The text of the webhook, where it is not that of the intent's event. */
  readonly body?: string;
}
