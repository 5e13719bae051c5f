import { z } from 'zod';
import {
  buildAuthorizationResponse,
  buildIntentResponse,
  createdIntentResponse,
  fetchIntentResponse,
  intentResponse,
  listIntentsResponse,
  payerAuthorizationResponse,
  payerBuildResponse,
  payerFetchResponse,
  payerCreatedResponse,
  payerIntentResponse,
  payerRelayedResponse,
  payerSubmitResponse,
  paymentRequiredResponse,
  refundIntentResponse,
  replayedIntentResponse,
  submitAuthorizationResponse,
  submitIntentResponse,
} from './api/intent.ts';
import { listIntentsQuery } from './api/intent-list.ts';
import {
  buildAuthorizationRequest,
  buildIntentRequest,
  createIntentRequest,
  emptyRequest,
  refundIntentRequest,
  simulateIntentRequest,
  submitAuthorizationRequest,
  submitIntentRequest,
  updateIntentRequest,
} from './api/intent-requests.ts';
import { assignDepositRequest, depositResponse, listDepositsQuery, listDepositsResponse } from './deposits.ts';
import { deliveriesResponse, deliveryResponse, listDeliveriesQuery } from './deliveries.ts';
import {
  attemptsResponse,
  createEndpointRequest,
  enabledEndpointResponse,
  enableEndpointRequest,
  endpointResponse,
  ENDPOINTS_MAX,
  FAILING_DAYS,
  endpointsResponse,
  newEndpointResponse,
  removedEndpointResponse,
  rotatedSecretResponse,
  rotateSecretRequest,
  SECRETS_MAX,
  testedEndpointResponse,
  updateEndpointRequest,
} from './endpoints.ts';
import { intentEventsResponse, listEventsQuery, payerEventsResponse } from './intent-events.ts';
import {
  chooseOfferRequest,
  createdPaymentLinkResponse,
  createPaymentLinkRequest,
  fetchPaymentLinkResponse,
  listPaymentLinksQuery,
  payerPaymentLinkResponse,
  paymentLinkResponse,
  paymentLinksResponse,
  replayedPaymentLinkResponse,
} from './payment-links.ts';
import { createReplayRequest, listReplaysQuery, replayResponse, replaysResponse } from './replays.ts';
import { intentId } from './scalars.ts';
import {
  paymasterRequest,
  paymasterResponse,
  removedSponsorResponse,
  setSponsorRequest,
  sponsorPath,
  sponsorResponse,
  sponsorsResponse,
} from './sponsors.ts';
import type { Operation, Success } from './operation.ts';

const intentPath = z.object({
  id: intentId.meta({ description: 'The id of the payment intent.', example: 'pi_5mUj8xNgYq3vWJ2hTfKd7' }),
});
const deliveryPath = z.object({
  id: z.string().meta({ description: 'The id of the delivery.', example: 'whd_5mUj8xNgYq3vWJ2hTfKd7' }),
});
const endpointPath = z.object({
  id: z.string().meta({ description: 'The id of the webhook endpoint.', example: 'whe_5mUj8xNgYq3vWJ2hTfKd7' }),
});
const replayPath = z.object({
  id: z.string().meta({ description: 'The id of the webhook replay.', example: 'whr_5mUj8xNgYq3vWJ2hTfKd7' }),
});
const linkPath = z.object({
  id: z.string().meta({ description: 'The id of the payment link.', example: 'pl_5mUj8xNgYq3vWJ2hTfKd7' }),
});
const depositPath = z.object({
  id: z.string().meta({ description: 'The id of the deposit.', example: 'dp_5mUj8xNgYq3vWJ2hTfKd7' }),
});
const json = <Schema extends z.ZodType>(description: string, schema: Schema) =>
  ({
    description,
    content: { 'application/json': schema },
  }) satisfies Success;
/** The response to a request whose idempotency key was used before. */
const repeated = <Schema extends z.ZodType>(
  schema: Schema,
  description = 'The response to an earlier request with this `idempotencyKey`, repeated.',
) =>
  ({
    ...json(description, schema),
    headers: z.object({ 'Idempotent-Replayed': z.literal('true') }),
  }) satisfies Success;
const CONFLICTS = [
  'intent.invalid_state',
  'intent.already_fulfilled',
  'intent.expired',
  'intent.submission_in_progress',
] as const;

/** Of what an account does about a deposit. */
const DEPOSIT_CONFLICTS = ['deposit.not_found', 'deposit.invalid_state', 'deposit.unavailable'] as const;

/** Of each way to build a payment. */
const BUILD_ERRORS = [
  'intent.not_found',
  'intent.unavailable',
  ...CONFLICTS,
  'intent.original_unpaid',
  'chain.not_available',
  'address.not_payable',
  'transaction.rejected',
  'intent.too_many_builds',
  'rpc.unavailable',
] as const;

/** Of operations that call the account's sponsor. */
const SPONSOR_ERRORS = ['sponsor.refused', 'sponsor.unavailable'] as const;

const SUBMIT_ERRORS = [
  'intent.not_found',
  'intent.unavailable',
  ...CONFLICTS,
  'intent.original_unpaid',
  'intent.limit_reached',
  'chain.not_available',
  'address.sanctions_match',
  'address.not_payable',
  'transaction.malformed',
  'transaction.mismatch',
  'transaction.rejected',
  'rpc.unavailable',
  'transaction.not_visible',
  'screening.unavailable',
] as const;

/** Of operations that screen wallets: also the one that gets what is paid to an address that stands for it. */
const SCREENING_ERRORS = [
  'address.sanctions_match',
  'address.not_payable',
  'rpc.unavailable',
  'screening.unavailable',
] as const;

/** Every operation of the API, in the order in which the documentation lists them. */
export const OPERATIONS = {
  createIntent: {
    id: 'createIntent',
    method: 'post',
    path: '/intents',
    tag: 'Payment Intents',
    summary: 'Create a payment intent',
    description:
      'Creates a request to be paid or, with `direction: "send"`, a payment that the fulfiller makes.\n\n' +
      'A request with an `idempotencyKey` that was used within the last 24 hours returns the intent that the first ' +
      'request created, whatever else the body contains, with status 200, the header `Idempotent-Replayed: true` and ' +
      '`replayed: true`. What it asks for otherwise is in `differs`: then it is not what you asked for.' +
      '\n\nWith `attribution: "amount"` the intent is paid by any transfer of exactly its `amount`, such as a ' +
      'withdrawal from an exchange. So that no other intent of the wallet has the same amount, up to 0.009999 is ' +
      'added: ask the payer for the `amount` of the response.' +
      '\n\nWith `accept: "at_least"` one transfer of the amount or more pays the intent. `amountReceived` says how ' +
      'much arrived, and `intent.overpaid` follows once a payment of more is final.' +
      '\n\nPass `paymentUrl` or `clientSecret` to the payer.',
    scope: 'full',
    request: { body: createIntentRequest },
    responses: {
      201: json('The new intent, in the state `created`.', createdIntentResponse),
      200: repeated(replayedIntentResponse, 'The intent that an earlier request created with this `idempotencyKey`.'),
    },
    errors: [
      'intent.unavailable',
      'plan.upgrade_required',
      'chain.not_available',
      'token.not_available',
      'amount.all_reserved',
      ...SCREENING_ERRORS,
    ],
  },
  getIntent: {
    id: 'getIntent',
    method: 'get',
    path: '/intents/{id}',
    tag: 'Payment Intents',
    summary: 'Fetch a payment intent',
    description:
      'Returns the current state of the intent, including every change that an earlier request has made. A key of ' +
      'scope `full` also gets what its payer needs.',
    scope: 'payer',
    solanaPay: true,
    request: { params: intentPath },
    responses: { 200: json('The intent.', fetchIntentResponse) },
    forPayers: payerFetchResponse,
    errors: ['intent.not_found', 'intent.unavailable'],
  },
  listIntents: {
    id: 'listIntents',
    method: 'get',
    path: '/intents',
    tag: 'Payment Intents',
    summary: 'List payment intents',
    description:
      'Returns the intents of the account in the mode of the API key, newest first. Filters are combined with AND. ' +
      'To get the next page, pass `nextCursor` as `cursor`.',
    scope: 'full',
    request: { query: listIntentsQuery },
    responses: { 200: json('A page of intents.', listIntentsResponse) },
    errors: ['chain.not_available', 'token.not_available'],
  },
  updateIntent: {
    id: 'updateIntent',
    method: 'patch',
    path: '/intents/{id}',
    tag: 'Payment Intents',
    summary: 'Update a payment intent',
    description:
      '`updatedAt` must be the current value of the intent; a stale value returns 409. `metadata` is merged key by ' +
      'key in any state: a `null` value removes its key, and `metadata: null` removes all keys. `amount` and ' +
      '`ttlSeconds` can change only in the state `created`, before the first build.',
    scope: 'full',
    request: { params: intentPath, body: updateIntentRequest },
    responses: { 200: json('The updated intent.', intentResponse) },
    errors: [
      'intent.not_found',
      'intent.unavailable',
      'intent.stale_update',
      'intent.invalid_state',
      'intent.limit_reached',
      'plan.upgrade_required',
    ],
  },
  cancelIntent: {
    id: 'cancelIntent',
    method: 'post',
    path: '/intents/{id}/cancel',
    tag: 'Payment Intents',
    summary: 'Cancel a payment intent',
    description: 'Cancels an intent in the state `created`, unless a transaction for it has been submitted.',
    scope: 'full',
    request: { params: intentPath, body: emptyRequest },
    responses: { 200: json('The cancelled intent.', intentResponse) },
    errors: ['intent.not_found', 'intent.unavailable', ...CONFLICTS],
  },
  refundIntent: {
    id: 'refundIntent',
    method: 'post',
    path: '/intents/{id}/refund',
    tag: 'Payment Intents',
    summary: 'Refund a payment intent',
    description:
      'Creates a linked intent that pays back a `confirmed` or `finalized` one: same chain, token and amount, ' +
      'requestor and fulfiller swapped, `direction: "send"`. An intent has at most one open or paid refund; if the ' +
      'refund expires, fails or is cancelled, you can create another.\n\n' +
      '`to` pays another address than the wallet that paid. It is required where a deposit that was assigned by hand ' +
      "has paid the intent: exchanges and bridges pay from wallets that are not the payer's.",
    scope: 'full',
    request: { params: intentPath, body: refundIntentRequest },
    responses: { 201: json('The refund intent, in the state `created`.', refundIntentResponse) },
    errors: [
      'intent.not_found',
      'intent.unavailable',
      'intent.invalid_state',
      'intent.already_refunded',
      'intent.limit_reached',
      ...SCREENING_ERRORS,
    ],
  },
  createPaymentLink: {
    id: 'createPaymentLink',
    method: 'post',
    path: '/payment-links',
    tag: 'Payment Links',
    summary: 'Create a payment link',
    description:
      'Offers several ways to pay one amount: each with a chain, a token and the wallet that is paid. The payer ' +
      'chooses one on the page `url`, and the intent is created then, with the `metadata` of the link. The first ' +
      'intent that is paid cancels the others.\n\n' +
      'With `attribution: "amount"` its intents are also paid by any transfer of exactly their amount, with ' +
      '`accept: "at_least"` by one of more.\n\n' +
      'Pass `url` or `clientSecret` to the payer. A repeat with the same `idempotencyKey` within 24 hours returns ' +
      'the same link, with status 200, the header `Idempotent-Replayed: true` and `replayed: true`; `differs` says ' +
      'what it asks for otherwise.',
    scope: 'full',
    request: { body: createPaymentLinkRequest },
    responses: {
      201: json('The new link, in the state `open`.', createdPaymentLinkResponse),
      200: repeated(
        replayedPaymentLinkResponse,
        'The link that an earlier request with this `idempotencyKey` created.',
      ),
    },
    errors: ['plan.upgrade_required', 'chain.not_available', 'token.not_available', ...SCREENING_ERRORS],
  },
  getPaymentLink: {
    id: 'getPaymentLink',
    method: 'get',
    path: '/payment-links/{id}',
    tag: 'Payment Links',
    summary: 'Fetch a payment link',
    description:
      'Returns the link, with the intents that its payers have begun. A key of scope `full` also gets what its payer ' +
      'needs.',
    scope: 'full',
    paymentLink: true,
    request: { params: linkPath },
    responses: { 200: json('The link.', fetchPaymentLinkResponse) },
    forPayers: payerPaymentLinkResponse,
    errors: ['payment_link.not_found'],
  },
  listDeposits: {
    id: 'listDeposits',
    method: 'get',
    path: '/deposits',
    tag: 'Deposits',
    summary: 'List deposits',
    description:
      'Returns the deposits of the account in the mode of the API key, newest first: transfers to wallets that its ' +
      'intents name, which pay none of them. Filters are combined with AND.',
    scope: 'full',
    request: { query: listDepositsQuery },
    responses: { 200: json('A page of deposits.', listDepositsResponse) },
    errors: ['chain.not_available', 'token.not_available'],
  },
  getDeposit: {
    id: 'getDeposit',
    method: 'get',
    path: '/deposits/{id}',
    tag: 'Deposits',
    summary: 'Fetch a deposit',
    description: 'Returns the current state of the deposit.',
    scope: 'full',
    request: { params: depositPath },
    responses: { 200: json('The deposit.', depositResponse) },
    errors: ['deposit.not_found'],
  },
  ignoreDeposit: {
    id: 'ignoreDeposit',
    method: 'post',
    path: '/deposits/{id}/ignore',
    tag: 'Deposits',
    summary: 'Ignore a deposit',
    description:
      'The deposit becomes `ignored`: the account knows of the money, and need do nothing about it. Ignoring it ' +
      'again changes nothing.',
    scope: 'full',
    request: { params: depositPath, body: emptyRequest },
    responses: { 200: json('The ignored deposit.', depositResponse) },
    errors: DEPOSIT_CONFLICTS,
  },
  reopenDeposit: {
    id: 'reopenDeposit',
    method: 'post',
    path: '/deposits/{id}/reopen',
    tag: 'Deposits',
    summary: 'Reopen a deposit',
    description: 'The ignored deposit becomes `open` again. Reopening it again changes nothing.',
    scope: 'full',
    request: { params: depositPath, body: emptyRequest },
    responses: { 200: json('The open deposit.', depositResponse) },
    errors: DEPOSIT_CONFLICTS,
  },
  assignDeposit: {
    id: 'assignDeposit',
    method: 'post',
    path: '/deposits/{id}/assign',
    tag: 'Deposits',
    summary: 'Assign a deposit',
    description:
      'The deposit becomes `assigned`: it pays the payment intent, as a transfer with the reference of the intent ' +
      'would, late where the intent has ended, and as an extra payment where it is paid. The events of the intent ' +
      'follow within moments. Network, token, recipient and amount must be those of the intent. Assigning the ' +
      'deposit to the same intent again changes nothing. The wallets are screened again, its sender among them.',
    scope: 'full',
    request: { params: depositPath, body: assignDepositRequest },
    responses: { 200: json('The assigned deposit.', depositResponse) },
    errors: [
      ...DEPOSIT_CONFLICTS,
      'intent.not_found',
      'intent.limit_reached',
      'intent.unavailable',
      'deposit.mismatch',
      ...SCREENING_ERRORS,
    ],
  },
  unassignDeposit: {
    id: 'unassignDeposit',
    method: 'post',
    path: '/deposits/{id}/unassign',
    tag: 'Deposits',
    summary: 'Undo the assignment of a deposit',
    description:
      'The deposit becomes `open` again, and the payment intent that it had paid becomes `failed`, unless an extra ' +
      'payment takes its place. Possible while the intent has no refund, and not where it is final and was paid ' +
      'again. Undoing it again changes nothing.',
    scope: 'full',
    request: { params: depositPath, body: emptyRequest },
    responses: { 200: json('The open deposit.', depositResponse) },
    errors: [...DEPOSIT_CONFLICTS, 'intent.already_refunded', 'intent.invalid_state', 'intent.unavailable'],
  },
  listPaymentLinks: {
    id: 'listPaymentLinks',
    method: 'get',
    path: '/payment-links',
    tag: 'Payment Links',
    summary: 'List payment links',
    description: 'Returns the payment links of the account in the mode of the API key, newest first.',
    scope: 'full',
    request: { query: listPaymentLinksQuery },
    responses: { 200: json('A page of links.', paymentLinksResponse) },
    errors: [],
  },
  cancelPaymentLink: {
    id: 'cancelPaymentLink',
    method: 'post',
    path: '/payment-links/{id}/cancel',
    tag: 'Payment Links',
    summary: 'Cancel a payment link',
    description:
      'Its offers can no longer be chosen, and its open intents are cancelled within seconds. A payment whose ' +
      'transaction has been submitted continues: if it lands, the link becomes `paid`. Cancelling a link again ' +
      'changes nothing.',
    scope: 'full',
    request: { params: linkPath, body: emptyRequest },
    responses: { 200: json('The cancelled link.', paymentLinkResponse) },
    errors: ['payment_link.not_found', 'payment_link.invalid_state'],
  },
  chooseOffer: {
    id: 'chooseOffer',
    method: 'post',
    path: '/payment-links/{id}/choose',
    tag: 'Payment Links',
    summary: 'Choose an offer of a payment link',
    description:
      'Creates the intent that pays an offer, and returns what its payer needs. However often this is called, an ' +
      'offer has one intent; it gets another only when that one has ended unpaid and the link is still open. Another ' +
      'offer can be chosen at any time until the link is paid. The intent expires with its link, but not before ' +
      '60 seconds.',
    scope: 'full',
    paymentLink: true,
    request: { params: linkPath, body: chooseOfferRequest },
    responses: { 200: json('The intent that pays the offer.', createdIntentResponse) },
    forPayers: payerCreatedResponse,
    errors: [
      'payment_link.not_found',
      'payment_link.invalid_state',
      'payment_link.limit_reached',
      'intent.unavailable',
      'chain.not_available',
      'token.not_available',
      ...SCREENING_ERRORS,
    ],
  },
  detectIntent: {
    id: 'detectIntent',
    method: 'post',
    path: '/intents/{id}/detected',
    tag: 'Payment',
    summary: 'Report that a payer was found',
    description:
      "The payer's app calls this when it has received the id by sound, QR code or link. The first call sets " +
      '`detectedAt` and sends the event `intent.detected`; later calls change nothing.',
    scope: 'payer',
    request: { params: intentPath, body: emptyRequest },
    responses: { 200: json('The intent.', intentResponse) },
    forPayers: payerIntentResponse,
    errors: ['intent.not_found', 'intent.unavailable', 'intent.invalid_state', 'intent.expired'],
  },
  buildIntent: {
    id: 'buildIntent',
    method: 'post',
    path: '/intents/{id}/build',
    tag: 'Payment',
    summary: 'Build the unsigned transaction',
    description:
      'Returns the transaction that pays this intent, ready to be signed by the wallet `fulfiller`. Repeated calls ' +
      'return the same bytes for as long as they can land; after that (a Solana blockhash lives about 30 seconds) ' +
      'the transaction is built again.\n\n' +
      'With `sponsored`, on Tempo and Solana, another account pays the fee. The sponsor that is set for the chain ' +
      'names this account, and signs at `submit`. Without a sponsor, the payer signs first and your fee payer ' +
      'service second, and you submit what it returns; on Solana `feePayer` names its account.',
    scope: 'payer',
    solanaPay: true,
    request: { params: intentPath, body: buildIntentRequest },
    responses: { 200: json('The intent and its unsigned transaction.', buildIntentResponse) },
    forPayers: payerBuildResponse,
    errors: [...BUILD_ERRORS, ...SPONSOR_ERRORS],
  },
  submitIntent: {
    id: 'submitIntent',
    method: 'post',
    path: '/intents/{id}/submit',
    tag: 'Payment',
    summary: 'Submit the signed transaction',
    description:
      'Verifies that the transaction pays this intent, broadcasts it and moves the intent to `pending`. Submitting ' +
      'the same transaction again is safe. For wallets that sign and send in one step, pass the transaction hash ' +
      "instead. For a sponsored transaction, pass what the payer signed; the chain's sponsor adds its signature. " +
      'Without a sponsor, pass it with both signatures.',
    scope: 'payer',
    request: { params: intentPath, body: submitIntentRequest },
    responses: { 200: json('The intent, and the transaction hash (on Solana, its signature).', submitIntentResponse) },
    forPayers: payerSubmitResponse,
    errors: [...SUBMIT_ERRORS, ...SPONSOR_ERRORS],
  },
  buildAuthorization: {
    id: 'buildAuthorization',
    method: 'post',
    path: '/intents/{id}/authorization/build',
    tag: 'Payment',
    summary: 'Build an authorization to pay without gas',
    description:
      'Returns what the wallet `fulfiller` signs (EIP-712) so that another account pays the gas: an EIP-3009 ' +
      'authorization whose nonce is the reference of the intent. On Base, for USDC and EURC. It is valid for ten ' +
      'minutes, and not after the intent has ended.',
    scope: 'payer',
    request: { params: intentPath, body: buildAuthorizationRequest },
    responses: { 200: json('The intent and what its payer signs.', buildAuthorizationResponse) },
    forPayers: payerAuthorizationResponse,
    errors: [...BUILD_ERRORS, 'token.not_available'],
  },
  submitAuthorization: {
    id: 'submitAuthorization',
    method: 'post',
    path: '/intents/{id}/authorization/submit',
    tag: 'Payment',
    summary: 'Submit a signed authorization',
    description:
      'Verifies that the authorization pays this intent, and returns the call that moves the money: pass it to ' +
      'whoever pays the gas. The service sends nothing itself. Until the authorization is used, cancelled or ends, ' +
      'no other payer can pay. The intent stays `created` until the payment is found on chain. Submitting the same ' +
      'authorization again is safe.',
    scope: 'payer',
    request: { params: intentPath, body: submitAuthorizationRequest },
    responses: { 200: json('The intent, and the call to send.', submitAuthorizationResponse) },
    forPayers: payerRelayedResponse,
    errors: [
      'intent.not_found',
      'intent.unavailable',
      ...CONFLICTS,
      'intent.original_unpaid',
      'intent.limit_reached',
      'chain.not_available',
      'token.not_available',
      ...SCREENING_ERRORS,
      'transaction.mismatch',
      'transaction.rejected',
    ],
  },
  askPaymaster: {
    id: 'askPaymaster',
    method: 'post',
    path: '/intents/{id}/paymaster',
    tag: 'Payment',
    summary: 'Ask who pays the gas of a smart account',
    description:
      'The paymaster service of one intent, as wallets call it (ERC-7677, JSON-RPC): `pm_getPaymasterStubData` and ' +
      '`pm_getPaymasterData`, for a user operation that makes the transfer of this intent and nothing else, at a ' +
      'price of the chain and for 0.001 ETH at most: its simulation must log the transfer. Returns the response of ' +
      'the sponsor that is set for the chain, ten times for an intent. Wallets send no `Authorization`: give them ' +
      'the `paymasterUrl` of the intent.',
    scope: 'payer',
    paymaster: true,
    request: { params: intentPath, body: paymasterRequest },
    responses: { 200: json("The sponsor's response.", paymasterResponse) },
    errors: [
      'intent.not_found',
      'intent.unavailable',
      ...CONFLICTS,
      'intent.original_unpaid',
      'intent.limit_reached',
      'chain.not_available',
      ...SCREENING_ERRORS,
      'intent.too_many_builds',
      'sponsor.not_found',
      'transaction.malformed',
      'transaction.mismatch',
      'transaction.rejected',
      ...SPONSOR_ERRORS,
      'rpc.unavailable',
    ],
  },
  payByMpp: {
    id: 'payByMpp',
    method: 'post',
    path: '/intents/{id}/mpp',
    tag: 'Payment',
    summary: 'Pay by the Machine Payments Protocol',
    description:
      'Without a credential, returns 402 with the challenge that clients of MPP pay, on Tempo and Solana. Their ' +
      'second request carries the credential in `Authorization: Payment …`, which takes the place of the key or ' +
      'secret. Its payment is verified as in `submit`; the response then waits up to 20 s for its confirmation. ' +
      'After 202, follow the intent with the key or secret of the first request.',
    scope: 'payer',
    mpp: true,
    request: { params: intentPath, body: emptyRequest },
    responses: {
      200: {
        ...json('The payment is confirmed.', submitIntentResponse),
        headers: z.object({
          'Payment-Receipt': z.string().meta({ description: 'The receipt: JSON in base64url.' }),
        }),
      },
      202: json('The transaction was submitted, and is not confirmed yet.', submitIntentResponse),
      402: {
        description: 'Payment required: the challenge.',
        content: { 'application/problem+json': paymentRequiredResponse },
        headers: z.object({
          'WWW-Authenticate': z.string().meta({ description: 'The challenge: `Payment id="…", realm="…", …`.' }),
        }),
      },
    },
    forPayers: payerSubmitResponse,
    errors: [...SUBMIT_ERRORS, 'mpp.challenge_expired'],
  },
  intentEvents: {
    id: 'intentEvents',
    method: 'get',
    path: '/intents/{id}/events',
    tag: 'Payment',
    summary: 'Follow a payment intent',
    description:
      'With `Accept: text/event-stream`, streams server-sent events: first `event: snapshot` with `{intent}`, then ' +
      'every event with the body of its webhook: `id` is the version of the intent, `event` the event type, `data` ' +
      'the body. A request with `Last-Event-ID` resumes after that event, without gaps or repeats. A comment is sent ' +
      'every 15 s. The stream ends when the state of the intent can no longer change.\n\n' +
      'With `Accept: application/json`, returns the history, oldest first. An intent with more than `limit` events ' +
      'has several pages: pass `nextCursor` as `cursor`.',
    scope: 'payer',
    request: {
      params: intentPath,
      query: listEventsQuery,
      headers: z.object({
        'Last-Event-ID': z
          .string()
          .optional()
          .meta({ description: 'The `id` of the last event that the client received.' }),
      }),
    },
    responses: {
      200: {
        description: 'The event stream, or the history.',
        content: {
          'application/json': intentEventsResponse,
          'text/event-stream': z.string().meta({ description: 'Server-sent events.' }),
        },
      },
    },
    forPayers: payerEventsResponse,
    errors: ['intent.not_found', 'intent.unavailable'],
  },
  setSponsor: {
    id: 'setSponsor',
    method: 'put',
    path: '/sponsors/{chain}',
    tag: 'Sponsors',
    summary: 'Set the sponsor of a chain',
    description:
      "Registers your service that pays your payers' fees on a chain, and the headers that authenticate us to it; it " +
      'replaces the previous one. On Solana it implements the JSON-RPC of Kora (`getPayerSigner`, ' +
      '`signTransaction`), on Tempo `eth_signRawTransaction` of fee payer services: it then signs sponsored ' +
      'transactions. On Base it is a paymaster for smart accounts (ERC-7677), which may need a `context`, such as ' +
      '`{"policyId": "…"}`. All of it is stored encrypted and is not shown again.\n\n' +
      'In live mode the URL must start with `https://`.',
    scope: 'full',
    request: { params: sponsorPath, body: setSponsorRequest },
    responses: { 200: json('The sponsor.', sponsorResponse) },
    errors: ['chain.not_available'],
  },
  listSponsors: {
    id: 'listSponsors',
    method: 'get',
    path: '/sponsors',
    tag: 'Sponsors',
    summary: 'List sponsors',
    description: 'Returns the sponsors of the account in the mode of the API key, by chain.',
    scope: 'full',
    request: {},
    responses: { 200: json('The sponsors.', sponsorsResponse) },
    errors: [],
  },
  removeSponsor: {
    id: 'removeSponsor',
    method: 'delete',
    path: '/sponsors/{chain}',
    tag: 'Sponsors',
    summary: 'Remove the sponsor of a chain',
    description:
      'The service stops using the sponsor. A sponsored transaction that it has not signed can no longer be ' +
      'submitted without the signature of a fee payer.',
    scope: 'full',
    request: { params: sponsorPath },
    responses: { 200: json('The sponsor is removed.', removedSponsorResponse) },
    errors: ['sponsor.not_found'],
  },
  listDeliveries: {
    id: 'listDeliveries',
    method: 'get',
    path: '/webhooks',
    tag: 'Webhooks',
    summary: 'List webhook deliveries',
    description: 'Returns the recent deliveries of the account in the mode of the API key, newest first.',
    scope: 'full',
    request: { query: listDeliveriesQuery },
    responses: { 200: json('A page of deliveries.', deliveriesResponse) },
    errors: [],
  },
  retryDelivery: {
    id: 'retryDelivery',
    method: 'post',
    path: '/webhooks/{id}/retry',
    tag: 'Webhooks',
    summary: 'Retry a webhook delivery',
    description: 'Sends the same event with the same body again, immediately. `attemptCount` continues to count.',
    scope: 'full',
    request: { params: deliveryPath, body: emptyRequest },
    responses: { 200: json('The delivery.', deliveryResponse) },
    errors: ['delivery.not_found'],
  },
  deliveryAttempts: {
    id: 'deliveryAttempts',
    method: 'get',
    path: '/webhooks/{id}/attempts',
    tag: 'Webhooks',
    summary: 'List the attempts of a delivery',
    description:
      'Returns the attempts, oldest first: when each was made, how long it took, the status, why it failed, and the ' +
      'first 1 KiB of the response. `nextAttemptAt` is when the next one is made, `requestBody` what each attempt ' +
      'sends.',
    scope: 'full',
    request: { params: deliveryPath },
    responses: { 200: json('The attempts.', attemptsResponse) },
    errors: ['delivery.not_found'],
  },
  createEndpoint: {
    id: 'createEndpoint',
    method: 'post',
    path: '/webhook-endpoints',
    tag: 'Webhooks',
    summary: 'Create a webhook endpoint',
    description:
      'Sends the events of the mode of the API key to a URL, from now on. `eventTypes` selects types; without it, or ' +
      'with `null`, all are sent. The endpoint has a secret of its own, which only this response shows.\n\n' +
      `In live mode the URL must start with \`https://\`. An account has at most ${ENDPOINTS_MAX} endpoints in a ` +
      'mode.\n\n' +
      'If you did not receive the response, repeat the request with the same `idempotencyKey` within 24 hours: it ' +
      'returns the same endpoint and secret, with status 200 and the header `Idempotent-Replayed: true`.',
    scope: 'full',
    request: { body: createEndpointRequest },
    responses: {
      201: json('The new endpoint, and its secret.', newEndpointResponse),
      200: repeated(newEndpointResponse),
    },
    errors: ['webhook_endpoint.exists', 'webhook_endpoint.limit_reached'],
  },
  listEndpoints: {
    id: 'listEndpoints',
    method: 'get',
    path: '/webhook-endpoints',
    tag: 'Webhooks',
    summary: 'List webhook endpoints',
    description: 'Returns the endpoints of the account in the mode of the API key, oldest first.',
    scope: 'full',
    request: {},
    responses: { 200: json('The endpoints.', endpointsResponse) },
    errors: [],
  },
  getEndpoint: {
    id: 'getEndpoint',
    method: 'get',
    path: '/webhook-endpoints/{id}',
    tag: 'Webhooks',
    summary: 'Fetch a webhook endpoint',
    description: 'Returns an endpoint of the account.',
    scope: 'full',
    request: { params: endpointPath },
    responses: { 200: json('The endpoint.', endpointResponse) },
    errors: ['webhook_endpoint.not_found'],
  },
  updateEndpoint: {
    id: 'updateEndpoint',
    method: 'patch',
    path: '/webhook-endpoints/{id}',
    tag: 'Webhooks',
    summary: 'Update a webhook endpoint',
    description:
      'Changes the fields in the body. `eventTypes` applies to events from now on. While `paused` is `true`, ' +
      'deliveries wait; they are sent when it is set to `false`. To change the URL, create another endpoint.',
    scope: 'full',
    request: { params: endpointPath, body: updateEndpointRequest },
    responses: { 200: json('The endpoint.', endpointResponse) },
    errors: ['webhook_endpoint.not_found'],
  },
  removeEndpoint: {
    id: 'removeEndpoint',
    method: 'delete',
    path: '/webhook-endpoints/{id}',
    tag: 'Webhooks',
    summary: 'Remove a webhook endpoint',
    description: 'Stops sending to the endpoint. Its outstanding deliveries fail.',
    scope: 'full',
    request: { params: endpointPath },
    responses: { 200: json('The endpoint is removed.', removedEndpointResponse) },
    errors: ['webhook_endpoint.not_found'],
  },
  enableEndpoint: {
    id: 'enableEndpoint',
    method: 'post',
    path: '/webhook-endpoints/{id}/enable',
    tag: 'Webhooks',
    summary: 'Enable a webhook endpoint',
    description:
      'Enables an endpoint that was disabled because it returned 410 or had accepted nothing for ' +
      `${FAILING_DAYS} days. ` +
      'With `replay: true`, the events that it has missed since it began to fail are sent, too.',
    scope: 'full',
    request: { params: endpointPath, body: enableEndpointRequest },
    responses: { 200: json('The endpoint, and how many deliveries are sent again.', enabledEndpointResponse) },
    errors: ['webhook_endpoint.not_found'],
  },
  rotateEndpointSecret: {
    id: 'rotateEndpointSecret',
    method: 'post',
    path: '/webhook-endpoints/{id}/rotate-secret',
    tag: 'Webhooks',
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'Creates another secret, which only this response shows. It signs from `validFrom` on (default: now); for 24 ' +
      "hours after that, `webhook-signature` carries the previous secret's signature too. At most " +
      `${SECRETS_MAX} secrets overlap.\n\n` +
      'A repeat with the same `idempotencyKey` within 24 hours returns the same secret, with the header ' +
      '`Idempotent-Replayed: true`.',
    scope: 'full',
    request: { params: endpointPath, body: rotateSecretRequest },
    responses: {
      200: {
        ...json('The endpoint, and the new secret.', rotatedSecretResponse),
        headers: z.object({ 'Idempotent-Replayed': z.literal('true').optional() }),
      },
    },
    errors: ['webhook_endpoint.not_found', 'webhook_endpoint.limit_reached'],
  },
  testEndpoint: {
    id: 'testEndpoint',
    method: 'post',
    path: '/webhook-endpoints/{id}/test',
    tag: 'Webhooks',
    summary: 'Send a test event',
    description:
      'Sends `webhook_endpoint.test` to the endpoint, once, and waits up to 20 s for its response: `attempt` has the ' +
      'status, the duration, the reason for a failure and the first 1 KiB of the response. It is `null` if nothing ' +
      'was sent in that time: then see `GET /webhooks/{id}/attempts`.',
    scope: 'full',
    request: { params: endpointPath, body: emptyRequest },
    responses: { 200: json('What was sent, and the response.', testedEndpointResponse) },
    errors: ['webhook_endpoint.not_found', 'webhook_endpoint.not_enabled'],
  },
  createReplay: {
    id: 'createReplay',
    method: 'post',
    path: '/webhook-replays',
    tag: 'Webhooks',
    summary: 'Send many deliveries again',
    description:
      'Sends failed deliveries again: those of events from `since` to `until` (default: now), each to its own ' +
      'endpoint. `endpointId` and `eventTypes` select some of them; `status: "all"` includes those that arrived. ' +
      'With `toEndpointId` their events go to that endpoint instead, except those that it has accepted or will ' +
      'receive anyway.\n\n' +
      'It runs in the background at its own rate and skips outstanding deliveries, event types that an endpoint does ' +
      'not select, and disabled endpoints. A request with an `idempotencyKey` that was used within the last 24 hours ' +
      'returns the replay that the first request began, with status 200 and the header `Idempotent-Replayed: true`.',
    scope: 'full',
    request: { body: createReplayRequest },
    responses: {
      201: json('The new replay.', replayResponse),
      200: repeated(replayResponse, 'The replay that an earlier request with this `idempotencyKey` began.'),
    },
    errors: ['webhook_endpoint.not_found', 'webhook_endpoint.not_enabled', 'webhook_replay.limit_reached'],
  },
  listReplays: {
    id: 'listReplays',
    method: 'get',
    path: '/webhook-replays',
    tag: 'Webhooks',
    summary: 'List webhook replays',
    description: 'Returns the replays of the account in the mode of the API key, newest first.',
    scope: 'full',
    request: { query: listReplaysQuery },
    responses: { 200: json('A page of replays.', replaysResponse) },
    errors: [],
  },
  getReplay: {
    id: 'getReplay',
    method: 'get',
    path: '/webhook-replays/{id}',
    tag: 'Webhooks',
    summary: 'Fetch a webhook replay',
    description: 'Returns a replay and its progress. Its results are counted every few seconds.',
    scope: 'full',
    request: { params: replayPath },
    responses: { 200: json('The replay.', replayResponse) },
    errors: ['webhook_replay.not_found'],
  },
  cancelReplay: {
    id: 'cancelReplay',
    method: 'post',
    path: '/webhook-replays/{id}/cancel',
    tag: 'Webhooks',
    summary: 'Cancel a webhook replay',
    description:
      'Ends a replay. Only deliveries that are already due, about a thousand at most, are still sent. Cancelling a ' +
      'replay that has ended changes nothing.',
    scope: 'full',
    request: { params: replayPath, body: emptyRequest },
    responses: { 200: json('The replay.', replayResponse) },
    errors: ['webhook_replay.not_found'],
  },
  simulateIntent: {
    id: 'simulateIntent',
    method: 'post',
    path: '/test/intents/{id}/simulate',
    tag: 'Testing',
    summary: 'Simulate a state change',
    description:
      'Moves the intent to `targetState` as the chain would, through every state in between and with all their ' +
      'events. Test keys only.',
    scope: 'full',
    request: { params: intentPath, body: simulateIntentRequest },
    responses: { 200: json('The intent in its new state.', intentResponse) },
    errors: [
      'api_key.test_mode_required',
      'intent.not_found',
      'intent.unavailable',
      'intent.invalid_state',
      'intent.submission_in_progress',
      'intent.limit_reached',
    ],
  },
} as const satisfies Readonly<Record<string, Operation>>;
