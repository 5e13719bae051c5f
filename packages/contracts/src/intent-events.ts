import {
  LATE_STATES,
  PAYMENT_TERMS,
  payerView,
  PUBLIC_EVENT_TYPES,
  type PublicClaim,
  type PublicOverpayment,
  type PublicPayment,
} from '@pf/domain';
import { z } from 'zod';
import { payerIntent, publicIntent } from './api/intent.ts';
import { PAGE_LIMIT } from './api/limits.ts';
import { pageLimit, pageQuery, pageResponse } from './api/paging.ts';
import { address, intentId, reference, tokenAddress, transactionHash } from './scalars.ts';

/** In the events of payments that the intent did not ask for, or was thought not to (docs/reference/contract.md). */
export const unexpectedPayment = z.strictObject({
  txSignature: transactionHash,
  sender: address,
  recipient: address,
  tokenAddress,
  amount: z.string().nullable(),
  amountBaseUnits: z.string().regex(/^\d{1,20}$/),
  reference,
  differs: z.array(z.enum(PAYMENT_TERMS)),
  late: z.enum(LATE_STATES).nullable(),
  claimed: z.literal(true).exactOptional(),
}) satisfies z.ZodType<PublicPayment>;

/** Who else claims a payment that was reported for the intent. */
export const paymentClaim = z.strictObject({
  txSignature: transactionHash,
  intentIds: z.array(intentId),
}) satisfies z.ZodType<PublicClaim>;

/** What a payment was more than its intent asks for. */
export const overpayment = z.strictObject({
  txSignature: transactionHash,
  amount: z.string(),
  amountBaseUnits: z.string().regex(/^\d{1,20}$/),
}) satisfies z.ZodType<PublicOverpayment>;

/** The body of a webhook, of a streamed event and of a history entry (docs/reference/contract.md): the same bytes. */
export const intentEvent = z.strictObject({
  eventId: z.string(),
  type: z.enum(PUBLIC_EVENT_TYPES),
  createdAt: z.iso.datetime({ precision: 3 }),
  livemode: z.boolean(),
  data: z.strictObject({
    intent: publicIntent,
    payment: unexpectedPayment.exactOptional(),
    claim: paymentClaim.exactOptional(),
    overpayment: overpayment.exactOptional(),
  }),
});

/** An event as payers see it: without other intents of the account. */
export const payerEvent = intentEvent.extend({
  data: z.strictObject({
    intent: payerIntent,
    payment: unexpectedPayment.exactOptional(),
    overpayment: overpayment.exactOptional(),
  }),
});

/** What payers see of an event. @param body as it is stored, with the whole intent */
export function payerEventOf(body: string): string {
  const { eventId, type, createdAt, livemode, data } = JSON.parse(body) as z.infer<typeof intentEvent>;
  const { intent, payment, overpayment: more } = data;
  return JSON.stringify({
    eventId,
    type,
    createdAt,
    livemode,
    data: { intent: payerView(intent), ...(payment && { payment }), ...(more && { overpayment: more }) },
  });
}

/** The pages of a history are as long as they may be: that of an ordinary intent is one page. */
const EVENTS_LIMIT = PAGE_LIMIT.max;

/** GET /intents/{id}/events. Other parameters were never refused here. */
export const listEventsQuery = z.object({ ...pageQuery, limit: pageLimit(EVENTS_LIMIT) });

/** GET /intents/{id}/events with `Accept: application/json`: a page of the history, oldest first. */
export const intentEventsResponse = z.strictObject({ events: z.array(intentEvent), ...pageResponse });
export const payerEventsResponse = z.strictObject({ events: z.array(payerEvent), ...pageResponse });

/** The first message of a stream: `event: snapshot`, with this as its data. */
export const SNAPSHOT = 'snapshot';
export const streamSnapshot = z.strictObject({ intent: publicIntent });

/** Interval of the comments that keep a stream alive. The API key is checked again with each. */
export const STREAM_COMMENT_MS = 15_000;
