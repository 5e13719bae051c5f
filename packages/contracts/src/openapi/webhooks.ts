import { type DepositEventType, hasPayment, type PublicEventType } from '@pf/domain';
import { z } from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { publicIntent } from '../api/intent.ts';
import { depositEvents } from '../deposits.ts';
import { endpointEvents, type EndpointEventType } from '../endpoint-events.ts';
import { FAILING_DAYS } from '../endpoints.ts';
import { intentEvent, overpayment, paymentClaim, unexpectedPayment } from '../intent-events.ts';
import { paymentLinkEvents, type PaymentLinkEventType } from '../payment-links.ts';
import { EVENT_EXAMPLES, HEADER_EXAMPLES } from './event-examples.ts';

type WebhookType = PublicEventType | PaymentLinkEventType | DepositEventType | EndpointEventType;

/** Events that do not belong to an intent. */
const OTHER_EVENTS: Readonly<Partial<Record<WebhookType, z.ZodType>>> = {
  ...paymentLinkEvents,
  ...depositEvents,
  ...endpointEvents,
};

/** When the service sends each type, as in docs/reference/contract.md. */
const TRIGGERS: Readonly<Record<WebhookType, string>> = {
  'intent.created': 'The intent was created.',
  'intent.detected': "A payer's app has the id.",
  'intent.pending': 'A transaction was broadcast.',
  'intent.confirmed': 'The payment has sufficient confirmations.',
  'intent.finalized': 'The payment is final on chain.',
  'intent.failed': 'The transaction reverted, or is dead after a reorg.',
  'intent.expired': 'The intent has expired.',
  'intent.cancelled': 'The intent was cancelled.',
  'intent.retry_required': 'The transaction was dropped: build and sign another.',
  'intent.extra_payment': 'A paid intent was paid again.',
  'intent.mismatched_payment': 'A payment with another amount, token, recipient, sender or reference.',
  'intent.mismatch_withdrawn': 'A payment that was reported as mismatched matches after all, or is of another intent.',
  'intent.payment_claimed': 'A reported payment is claimed for other intents, too. No new payment.',
  'intent.late_payment': 'The payment came after expiry, cancellation or failure.',
  'intent.overpaid': 'The payment is final and was more than the amount, which its intent accepts.',
  'payment_link.paid': 'An intent of a payment link was confirmed, and no other had paid the link.',
  'payment_link.extra_payment': 'A payment link that was paid was paid again, by another of its intents.',
  'payment_link.cancelled': 'The payment link was cancelled.',
  'payment_link.expired': 'The payment link has expired.',
  'deposit.received': 'Money has arrived that pays no intent. Sent again where it landed again after it was lost.',
  'deposit.finalized': 'The deposit is final on chain.',
  'deposit.lost': 'A reorg has undone the deposit.',
  'deposit.withdrawn': 'The deposit turned out to pay an intent, whose own events tell of it.',
  'deposit.ignored': 'The account ignores the deposit.',
  'deposit.reopened': 'The account has reopened the deposit.',
  'deposit.assigned': 'The account has assigned the deposit to an intent, whose own events tell of the payment.',
  'deposit.unassigned': 'The account has undone the assignment of the deposit.',
  'webhook_endpoint.disabled':
    'Another endpoint of the account was disabled: it returned 410, or had accepted nothing ' +
    `for ${FAILING_DAYS} days.`,
  'webhook_endpoint.test': 'A test event was requested.',
};

/** The schema of the body of each type. */
export const WEBHOOK_BODIES = Object.fromEntries(
  (Object.keys(TRIGGERS) as WebhookType[]).map((type) => [
    type,
    OTHER_EVENTS[type] ??
      intentEvent.extend({
        type: z.literal(type),
        data: z.strictObject({
          intent: publicIntent,
          ...(hasPayment(type) && { payment: unexpectedPayment }),
          ...(type === 'intent.payment_claimed' && { claim: paymentClaim }),
          ...(type === 'intent.overpaid' && { overpayment }),
        }),
      }),
  ]),
) as unknown as Readonly<Record<WebhookType, z.ZodType>>;

/** The body of any webhook. */
export const webhookEvent = z.discriminatedUnion(
  'type',
  Object.values(WEBHOOK_BODIES) as unknown as readonly [z.ZodObject<{ type: z.ZodLiteral<string> }>],
);

const header = (description: string, example: string | undefined) =>
  z.string().meta({ description, ...(example !== undefined && { example }) });
const headers = z.object({
  'webhook-id': header('The id of the event: the same in every attempt.', HEADER_EXAMPLES['webhook-id']),
  'webhook-timestamp': header('When it was sent, in seconds since 1970.', HEADER_EXAMPLES['webhook-timestamp']),
  'webhook-signature': header(
    '`v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`, keyed with the decoded secret. During a rotation ' +
      'there are several, separated by a space.',
    undefined,
  ),
  'X-PF-Signature': header('Hex of HMAC-SHA256 over the body, keyed with the whole text of the secret.', undefined),
  'X-PF-Event-Id': header('The id of the event.', HEADER_EXAMPLES['X-PF-Event-Id']),
  'X-PF-Delivery-Id': header('The id of the delivery.', HEADER_EXAMPLES['X-PF-Delivery-Id']),
  'X-PF-Attempt': header('The number of the attempt, from 1.', HEADER_EXAMPLES['X-PF-Attempt']),
  'X-PF-Api-Version': header('The version that the endpoint is pinned to.', HEADER_EXAMPLES['X-PF-Api-Version']),
});

/** The `webhooks` of the OpenAPI document: what the service sends to the account's URLs. */
export const webhookOperations = (): Readonly<Record<string, ZodOpenApiPathItemObject>> =>
  Object.fromEntries(
    (Object.keys(TRIGGERS) as WebhookType[]).map((type) => [
      type,
      {
        post: {
          operationId: `on_${type}`.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
          tags: ['Webhooks'],
          summary: TRIGGERS[type],
          description:
            'Verify the signature over the raw body before you parse it, and respond with 2xx within 15 seconds. A ' +
            'webhook may arrive twice: ignore an `eventId` that you have already processed.',
          security: [],
          requestParams: { header: headers },
          requestBody: {
            required: true,
            content: { 'application/json': { schema: WEBHOOK_BODIES[type], example: EVENT_EXAMPLES[type] } },
          },
          responses: {
            '2XX': { description: 'Accepted. It is not sent again.' },
            '410': { description: 'The endpoint is disabled.' },
            default: { description: 'It is sent again later.' },
          },
        },
      },
    ]),
  );
