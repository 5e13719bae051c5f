import { z } from 'zod';
import { buildIntentResponse, intentResponse, listIntentsResponse, submitIntentResponse } from './api/intent.ts';
import { listIntentsQuery } from './api/intent-list.ts';
import {
  buildIntentRequest,
  createIntentRequest,
  emptyRequest,
  simulateIntentRequest,
  submitIntentRequest,
  updateIntentRequest,
} from './api/intent-requests.ts';
import { deliveriesResponse, deliveryResponse, listDeliveriesQuery } from './deliveries.ts';
import { intentEventsResponse } from './intent-events.ts';
import { intentId } from './scalars.ts';
import type { Operation, Success } from './operation.ts';

const intentPath = z.object({
  id: intentId.meta({ description: 'The id of the payment intent.', example: 'pi_5mUj8xNgYq3vWJ2hTfKd7' }),
});
const deliveryPath = z.object({
  id: z.string().meta({ description: 'The id of the delivery.', example: 'whd_5mUj8xNgYq3vWJ2hTfKd7' }),
});
const json = (description: string, schema: z.ZodType): Success => ({
  description,
  content: { 'application/json': schema },
});
const CONFLICTS = [
  'intent.invalid_state',
  'intent.already_fulfilled',
  'intent.expired',
  'intent.submission_in_progress',
] as const;

/** Every operation of the API, in the order of the documentation. */
export const OPERATIONS = {
  createIntent: {
    id: 'createIntent',
    method: 'post',
    path: '/intents',
    tag: 'Payment Intents',
    summary: 'Create a payment intent',
    description:
      'A request to be paid, or with `direction: "send"` the intention to pay.\n\nThe same `idempotencyKey` within 24 hours answers with the intent that it made first, whatever else the body says: status 200 and `Idempotent-Replayed: true`.',
    scope: 'full',
    request: { body: createIntentRequest },
    answers: {
      201: json('The new intent, in state `created`.', intentResponse),
      200: {
        ...json('The intent that was created with this `idempotencyKey` before.', intentResponse),
        headers: z.object({ 'Idempotent-Replayed': z.literal('true') }),
      },
    },
    errors: [
      'plan.upgrade_required',
      'chain.not_available',
      'token.not_available',
      'address.sanctions_match',
      'screening.unavailable',
    ],
  },
  getIntent: {
    id: 'getIntent',
    method: 'get',
    path: '/intents/{id}',
    tag: 'Payment Intents',
    summary: 'Fetch a payment intent',
    description: 'The intent as it is now. What this key has written before is in it.',
    scope: 'payer',
    request: { params: intentPath },
    answers: { 200: json('The intent.', intentResponse) },
    errors: ['intent.not_found'],
  },
  listIntents: {
    id: 'listIntents',
    method: 'get',
    path: '/intents',
    tag: 'Payment Intents',
    summary: 'List payment intents',
    description: "Those of the key's mode, newest first, where all filters hold. `nextCursor` leads to the next page.",
    scope: 'full',
    request: { query: listIntentsQuery },
    answers: { 200: json('A page of intents.', listIntentsResponse) },
    errors: ['chain.not_available', 'token.not_available'],
  },
  updateIntent: {
    id: 'updateIntent',
    method: 'patch',
    path: '/intents/{id}',
    tag: 'Payment Intents',
    summary: 'Update a payment intent',
    description:
      '`updatedAt` must be the one last read: a stale update is refused with 409. `metadata` is merged key by key in any state (`null` removes a key, or all); `amount` and `ttlSeconds` change only in `created`, before the first build.',
    scope: 'full',
    request: { params: intentPath, body: updateIntentRequest },
    answers: { 200: json('The intent as it is now.', intentResponse) },
    errors: [
      'intent.not_found',
      'intent.stale_update',
      'intent.invalid_state',
      'intent.already_fulfilled',
      'intent.expired',
      'plan.upgrade_required',
    ],
  },
  cancelIntent: {
    id: 'cancelIntent',
    method: 'post',
    path: '/intents/{id}/cancel',
    tag: 'Payment Intents',
    summary: 'Cancel a payment intent',
    description: 'Only while it is `created` and no submission is under way.',
    scope: 'full',
    request: { params: intentPath, body: emptyRequest },
    answers: { 200: json('The cancelled intent.', intentResponse) },
    errors: ['intent.not_found', ...CONFLICTS],
  },
  refundIntent: {
    id: 'refundIntent',
    method: 'post',
    path: '/intents/{id}/refund',
    tag: 'Payment Intents',
    summary: 'Refund a payment intent',
    description:
      'Makes the intent that pays back a `confirmed` or `finalized` one: same chain, token and amount, the wallets exchanged, `direction: "send"`. One live refund at a time; when it ends unpaid, another may be made.',
    scope: 'full',
    request: { params: intentPath, body: emptyRequest },
    answers: { 201: json('The refund, an intent in state `created`.', intentResponse) },
    errors: [
      'intent.not_found',
      'intent.invalid_state',
      'intent.already_refunded',
      'address.sanctions_match',
      'screening.unavailable',
    ],
  },
  detectIntent: {
    id: 'detectIntent',
    method: 'post',
    path: '/intents/{id}/detected',
    tag: 'Payment',
    summary: 'Say that a payer was found',
    description:
      "The payer's app has learnt the id, by sound, QR or link. The first call sets `detectedAt` and fires `intent.detected`; later ones change nothing.",
    scope: 'payer',
    request: { params: intentPath, body: emptyRequest },
    answers: { 200: json('The intent.', intentResponse) },
    errors: ['intent.not_found', 'intent.invalid_state', 'intent.expired'],
  },
  buildIntent: {
    id: 'buildIntent',
    method: 'post',
    path: '/intents/{id}/build',
    tag: 'Payment',
    summary: 'Build the unsigned transaction',
    description:
      'The transaction that pays this intent, ready for the wallet of `fulfiller` to sign. Asked again, the same bytes come back while they can still land; afterwards (a Solana blockhash lives about 30 seconds) new ones are built.',
    scope: 'payer',
    request: { params: intentPath, body: buildIntentRequest },
    answers: { 200: json('The intent and its unsigned transaction.', buildIntentResponse) },
    errors: [
      'intent.not_found',
      ...CONFLICTS,
      'chain.not_available',
      'address.not_payable',
      'transaction.rejected',
      'rpc.unavailable',
    ],
  },
  submitIntent: {
    id: 'submitIntent',
    method: 'post',
    path: '/intents/{id}/submit',
    tag: 'Payment',
    summary: 'Submit the signed transaction',
    description:
      'Checks what the transaction does, broadcasts it and moves the intent to `pending`. The same transaction again is harmless. Wallets that sign and send by themselves give the hash instead.',
    scope: 'payer',
    request: { params: intentPath, body: submitIntentRequest },
    answers: { 200: json('The intent, and the hash or signature of the transaction.', submitIntentResponse) },
    errors: [
      'intent.not_found',
      ...CONFLICTS,
      'chain.not_available',
      'address.sanctions_match',
      'transaction.malformed',
      'transaction.mismatch',
      'transaction.rejected',
      'rpc.unavailable',
      'transaction.not_visible',
      'screening.unavailable',
    ],
  },
  intentEvents: {
    id: 'intentEvents',
    method: 'get',
    path: '/intents/{id}/events',
    tag: 'Payment',
    summary: 'Follow a payment intent',
    description:
      'With `Accept: text/event-stream`: server-sent events, first `event: snapshot` with `{intent}`, then each event as its webhook carries it: `id` is the version of the intent, `event` the type, `data` the body. `Last-Event-ID` goes on after that event, without gap or repeat. A comment comes every 15 s. The stream ends when the intent can get no further.\n\nWith `Accept: application/json`: the history.',
    scope: 'payer',
    request: {
      params: intentPath,
      headers: z.object({
        'Last-Event-ID': z.string().optional().meta({ description: 'The `id` of the last event that was read.' }),
      }),
    },
    answers: {
      200: {
        description: 'The stream, or the history.',
        content: {
          'application/json': intentEventsResponse,
          'text/event-stream': z.string().meta({ description: 'Server-sent events.' }),
        },
      },
    },
    errors: ['intent.not_found'],
  },
  listDeliveries: {
    id: 'listDeliveries',
    method: 'get',
    path: '/webhooks',
    tag: 'Webhooks',
    summary: 'List webhook deliveries',
    description: "Recent deliveries of the key's mode, newest first.",
    scope: 'full',
    request: { query: listDeliveriesQuery },
    answers: { 200: json('A page of deliveries.', deliveriesResponse) },
    errors: [],
  },
  retryDelivery: {
    id: 'retryDelivery',
    method: 'post',
    path: '/webhooks/{id}/retry',
    tag: 'Webhooks',
    summary: 'Send a webhook again',
    description: 'The same event and the same bytes, at once. Attempts are counted on.',
    scope: 'full',
    request: { params: deliveryPath, body: emptyRequest },
    answers: { 200: json('The delivery.', deliveryResponse) },
    errors: ['delivery.not_found'],
  },
  simulateIntent: {
    id: 'simulateIntent',
    method: 'post',
    path: '/test/intents/{id}/simulate',
    tag: 'Testing',
    summary: 'Simulate a state',
    description: 'Walks the intent to `targetState` as the chain would, with every event on the way. Test keys only.',
    scope: 'full',
    request: { params: intentPath, body: simulateIntentRequest },
    answers: { 200: json('The intent in its new state.', intentResponse) },
    errors: ['api_key.test_mode_required', 'intent.not_found', 'intent.invalid_state', 'intent.submission_in_progress'],
  },
} as const satisfies Readonly<Record<string, Operation>>;
