import { DEPOSIT_EVENT_TYPES, PUBLIC_EVENT_TYPES } from '@pf/domain';
import { z } from 'zod';
import type { Plan } from './account.ts';
import { must, word } from './api/fields.ts';
import { pageQuery, pageResponse } from './api/paging.ts';
import { ENDPOINT_EVENT_TYPES } from './endpoint-events.ts';
import { PAYMENT_LINK_EVENT_TYPES } from './payment-links.ts';

/** `pending`: an attempt is due, now or later. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** How long after their event deliveries are listed and can be retried. */
export const DELIVERY_DAYS = 30;
/**
 * Of these, how many that were accepted are kept of an account in one mode, by its plan, beside those of the last day;
 * null: all. A free account could make 57 million a month. What was not accepted is kept all the same.
 */
export const ACCEPTED_KEPT: Readonly<Record<Plan, number | null>> = { free: 100_000, growth: null, scale: null };
/**
 * Deliveries of an account in one mode that are outstanding or have failed, beyond which an endpoint that does not keep
 * up gets no others: the events are kept once, and it gets them when it has accepted what it has.
 */
export const UNDELIVERED_MAX = 10_000;

/** What a webhook can tell of. */
export const DELIVERED_TYPES = [
  ...PUBLIC_EVENT_TYPES,
  ...PAYMENT_LINK_EVENT_TYPES,
  ...DEPOSIT_EVENT_TYPES,
  ...ENDPOINT_EVENT_TYPES,
] as const;

/** GET /webhooks: filters are combined with AND. */
export const listDeliveriesQuery = z.strictObject({
  ...pageQuery,
  intentId: word('a payment intent id', 64)
    .optional()
    .meta({ description: 'Deliveries of events of this payment intent.' }),
  eventId: word('an event id', 64).optional().meta({ description: 'Deliveries of this event: one for each URL.' }),
  type: z
    .enum(DELIVERED_TYPES, must(`one of ${DELIVERED_TYPES.join(', ')}`))
    .optional()
    .meta({ description: 'Deliveries of events of this type.' }),
  status: z
    .enum(DELIVERY_STATUSES, must(`one of ${DELIVERY_STATUSES.join(', ')}`))
    .optional()
    .meta({
      description:
        '`pending`: an attempt is still due. `delivered`: accepted by the receiver. `failed`: all attempts failed.',
    }),
});
export type ListDeliveriesQuery = z.infer<typeof listDeliveriesQuery>;

const time = z.iso.datetime({ precision: 3 });

/**
 * A webhook delivery in responses (docs/reference/contract.md): always all fields, null where there is no value yet.
 */
export const webhookDelivery = z.strictObject({
  id: z.string(),
  eventId: z.string(),
  type: z.string(),
  intentId: z.string().nullable(),
  url: z.string(),
  responseStatus: z.number().int().nullable(),
  attemptCount: z.number().int().nonnegative(),
  lastAttemptedAt: time.nullable(),
  deliveredAt: time.nullable(),
  failedAt: time.nullable(),
  nextAttemptAt: time.nullable(),
});
export type WebhookDelivery = z.infer<typeof webhookDelivery>;

/** GET /webhooks. */
export const deliveriesResponse = z.strictObject({ deliveries: z.array(webhookDelivery), ...pageResponse });
/** POST /webhooks/{id}/retry. */
export const deliveryResponse = z.strictObject({ delivery: webhookDelivery });
