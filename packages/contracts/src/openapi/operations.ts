import { z } from 'zod';
import { buildIntentRequest, buildIntentResponse, createIntentRequest, emptyRequest, intentResponse, submitIntentRequest, submitIntentResponse } from '../api.ts';
import { intentId } from '../scalars.ts';
import type { Operation, Success } from './operation.ts';

const intentPath = z.object({ id: intentId.meta({ description: 'The id of the payment intent.', example: 'pi_5mUj8xNgYq3vWJ2hTfKd7' }) });
const json = (description: string, schema: z.ZodType): Success => ({ description, content: { 'application/json': schema } });

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
    errors: ['plan.upgrade_required', 'chain.not_available', 'token.not_available', 'address.sanctions_match', 'screening.unavailable'],
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
    errors: ['intent.not_found', 'intent.invalid_state', 'intent.already_fulfilled', 'intent.expired', 'intent.submission_in_progress'],
  },
  detectIntent: {
    id: 'detectIntent',
    method: 'post',
    path: '/intents/{id}/detected',
    tag: 'Payment',
    summary: 'Say that a payer was found',
    description: "The payer's app has learnt the id, by sound, QR or link. The first call sets `detectedAt` and fires `intent.detected`; later ones change nothing.",
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
    errors: ['intent.not_found', 'intent.invalid_state', 'intent.already_fulfilled', 'intent.expired', 'intent.submission_in_progress', 'chain.not_available', 'address.not_payable', 'transaction.rejected', 'rpc.unavailable'],
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
      'intent.not_found', 'intent.invalid_state', 'intent.already_fulfilled', 'intent.expired', 'intent.submission_in_progress', 'chain.not_available',
      'address.sanctions_match', 'transaction.malformed', 'transaction.mismatch', 'transaction.rejected', 'rpc.unavailable', 'transaction.not_visible', 'screening.unavailable',
    ],
  },
} as const satisfies Readonly<Record<string, Operation>>;
