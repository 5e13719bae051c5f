import { z } from 'zod';
import { ENDPOINTS_MAX, SECRETS_MAX } from './endpoints.ts';
import { REPLAYS_MAX } from './replays.ts';

/** What the documentation says about an error, and what a client receives where no more specific message is known. */
interface ErrorText {
  /** One sentence or two, sent to the client: what is wrong, then what to do. */
  readonly message: string;
  /** When the API returns this error. */
  readonly cause: string;
  /** What the client can do about it. */
  readonly remedy: string;
  /**
   * A 5xx that its caller can cause at will, with a payer or a sponsor of its own: it does not count against our
   * objectives (docs/operations/slo.md). Absent: the service causes its 5xx.
   */
  readonly causedBy?: 'caller';
}
/** Temporary errors say how many seconds to wait before a retry, unless the response has a more precise number. */
export type ErrorEntry = ErrorText &
  (
    | { readonly status: 400 | 401 | 402 | 403 | 404 | 405 | 408 | 409 | 413 | 414 | 415 | 422 | 431 | 500 }
    | { readonly status: 429 | 503; readonly retryAfterSeconds: number }
  );

/**
 * The registry: every error that the API can return (docs/reference/contract.md). The OpenAPI document and
 * docs/reference/errors.md are generated from it, and a code that is not in it cannot be returned.
 */
export const ERRORS = {
  'request.malformed_json': {
    status: 400,
    message: 'The request body is not valid JSON. Send one JSON object, encoded as UTF-8.',
    cause: 'The body is not a single JSON document, or is not encoded as UTF-8.',
    remedy: 'Send one JSON object, encoded as UTF-8.',
  },
  'request.malformed_http': {
    status: 400,
    message: 'The request is not valid HTTP/1.1. The connection was closed.',
    cause: 'The bytes are not an HTTP/1.1 request, for example because the client spoke HTTPS to an HTTP port.',
    remedy: 'Use an HTTP client library, and check the scheme, host and port of the base URL.',
  },
  'request.validation_failed': {
    status: 400,
    message: 'The request is invalid.',
    cause:
      'A field is missing, unknown or invalid. `param` is the path of the first such field; `details.issues` lists ' +
      'all of them.',
    remedy: 'Correct the fields in `details.issues`: each entry states what the field must be.',
  },
  'api_key.missing': {
    status: 401,
    message: 'No API key was provided. Send it in the header "Authorization: Bearer <API_KEY>".',
    cause: 'The `Authorization` header is missing, or does not use the Bearer scheme.',
    remedy: 'Send `Authorization: Bearer <API_KEY>` with every request.',
  },
  'api_key.invalid': {
    status: 401,
    message:
      'The API key is invalid: it is unknown, incomplete, revoked or expired. Check the key, or create a new one.',
    cause: 'No active API key matches the one in the request.',
    remedy: 'Check that the whole key was copied. If it was revoked or has expired, create a new one.',
  },
  'api_key.test_mode_required': {
    status: 401,
    message: 'This endpoint is available in test mode only. Use a test key (pk_test_…).',
    cause: 'A live key was used for an endpoint that simulates payments.',
    remedy: 'Use a test key of the account.',
  },
  'api_key.insufficient_scope': {
    status: 401,
    message: 'This API key has the scope "payer", which does not allow this request. Use a key with the scope "full".',
    cause:
      'A key made for the apps of payers, or the client secret of an intent, was used for a request that only the ' +
      'account itself may make.',
    remedy: 'Make the request from your server, with a key of the scope `full`.',
  },
  'plan.upgrade_required': {
    status: 402,
    message: 'The plan of this account does not include this feature.',
    cause: 'The request uses a feature (`details.feature`) of a higher plan (`details.plan`).',
    remedy: 'Upgrade the account to that plan, or leave the feature out of the request.',
  },
  'intent.not_found': {
    status: 404,
    message: 'No payment intent has this id. Check the id, and whether the API key is of the same account and mode.',
    cause: 'The id is unknown, or belongs to another account or to the other mode.',
    remedy: 'Check the id, and that test intents are requested with a test key and live intents with a live key.',
  },
  'payment_link.not_found': {
    status: 404,
    message: 'No payment link has this id. Check the id, and whether the API key is of the same account and mode.',
    cause: 'The id is unknown, or belongs to another account or to the other mode.',
    remedy: 'Check the id, and that links of test mode are requested with a test key and live links with a live key.',
  },
  'deposit.not_found': {
    status: 404,
    message: 'No deposit has this id. Check the id, and whether the API key is of the same account and mode.',
    cause: 'There is no such deposit, or it belongs to another account or to the other mode.',
    remedy: 'Check the id, and the mode of the key.',
  },
  'delivery.not_found': {
    status: 404,
    message: 'No webhook delivery has this id. Check the id, and whether the API key is of the same account and mode.',
    cause: 'The id is unknown, or belongs to another account or to the other mode.',
    remedy: 'Use an id that `GET /webhooks` returned for the same account and mode.',
  },
  'webhook_endpoint.not_found': {
    status: 404,
    message: 'No webhook endpoint has this id. Check the id, and whether the API key is of the same account and mode.',
    cause: 'The id is unknown, was removed, or belongs to another account or to the other mode.',
    remedy: 'Use an id that `GET /webhook-endpoints` returned for the same account and mode.',
  },
  'webhook_replay.not_found': {
    status: 404,
    message: 'No webhook replay has this id. Check the id, and whether the API key is of the same account and mode.',
    cause: 'The id is unknown, or belongs to another account or to the other mode.',
    remedy: 'Use an id that `GET /webhook-replays` returned for the same account and mode.',
  },
  'sponsor.not_found': {
    status: 404,
    message: 'The account has no sponsor on this chain in this mode.',
    cause: 'None was set, or it was removed.',
    remedy: 'Use a chain that `GET /sponsors` returned for the same account and mode.',
  },
  'route.not_found': {
    status: 404,
    message: 'No endpoint has this path. All paths begin with /v1.',
    cause: 'The path is not one of this API.',
    remedy: 'Check the path: all of them begin with `/v1`.',
  },
  'request.method_not_allowed': {
    status: 405,
    message: 'This path does not support this method. Use one of the methods in the Allow header.',
    cause: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods in the `Allow` header of the response.',
  },
  'request.timeout': {
    status: 408,
    message: 'The request was not received in time. Send it again.',
    cause: 'The headers took longer than 10 seconds to arrive, or the whole request longer than 20 seconds.',
    remedy: 'Send the request again, over a stable connection.',
  },
  'request.uri_too_long': {
    status: 414,
    message: 'The path and query are longer than 16 KiB. Send a shorter query.',
    cause: 'The path and query alone exceed 16 KiB, the limit of the request line and headers together.',
    remedy: 'Send a shorter query: fewer or shorter filters.',
  },
  'request.headers_too_large': {
    status: 431,
    message: 'The request line and headers are larger than 16 KiB. Send fewer or shorter headers, and a shorter query.',
    cause: 'The request line and headers exceed 16 KiB, often because of cookies.',
    remedy: 'Send fewer or shorter headers, and a shorter query.',
  },
  'request.too_large': {
    status: 413,
    message: 'The request body is larger than 64 KiB. Send a smaller body.',
    cause: 'The body exceeds 64 KiB, the limit of every endpoint.',
    remedy: 'Send a smaller body, for example with less metadata.',
  },
  'request.unsupported_media_type': {
    status: 415,
    message: 'The request body must be uncompressed JSON in UTF-8, sent with "Content-Type: application/json".',
    cause: 'The `Content-Type`, its charset or the `Content-Encoding` of the request is not supported.',
    remedy: 'Send uncompressed JSON in UTF-8, with `Content-Type: application/json`.',
  },
  'intent.invalid_state': {
    status: 409,
    message: 'The state of this payment intent does not allow this request.',
    cause: 'The endpoint does not accept intents in the state `details.current_state`.',
    remedy: 'Fetch the intent, and decide by its state what to do.',
  },
  'intent.already_fulfilled': {
    status: 409,
    message: 'This payment intent has already been paid, or its payment is in progress.',
    cause: 'A transaction that pays the intent was broadcast, or has landed on chain.',
    remedy: 'Follow the intent instead of paying it again.',
  },
  'intent.expired': {
    status: 409,
    message: 'This payment intent has expired. Create a new one.',
    cause: 'The `expiresAt` of the intent has passed.',
    remedy: 'Create a new intent.',
  },
  'intent.stale_update': {
    status: 409,
    message: 'This payment intent has changed since it was read. Fetch it again and repeat the update.',
    cause: "The request's `updatedAt` is not the intent's current one, which is `details.current_updated_at`.",
    remedy: 'Fetch the intent again, and repeat the update with its `updatedAt`.',
  },
  'intent.submission_in_progress': {
    status: 409,
    message: 'A transaction for this payment intent has been submitted, and its outcome is not known yet.',
    cause: 'A submission has begun and may still land on chain.',
    remedy: 'Follow the intent until its state changes. Submitting the same signed transaction again is safe.',
  },
  'mpp.challenge_expired': {
    status: 409,
    message: 'The challenge of this payment credential has expired. Nothing was sent by this request.',
    cause:
      'The challenge has passed its `expires`, which is the `expiresAt` that the intent had when the challenge was ' +
      'made.',
    remedy:
      'If you sent the transaction yourself, fetch the intent: it may be paid. Otherwise request a new challenge, ' +
      'with the key or client secret.',
  },
  'intent.already_refunded': {
    status: 409,
    message: 'This payment intent already has a refund.',
    cause: 'An intent can have one open or paid refund, and this one has `details.refund_intent_id`.',
    remedy: 'Use that refund, or cancel it before you create another.',
  },
  'intent.original_unpaid': {
    status: 409,
    message: 'The payment that this refund returns has been undone. Try again once it has landed again.',
    cause:
      'The payment intent is a refund, and a chain reorganization has undone the payment of its original, ' +
      '`details.original_intent_id`; or, where the original accepts more than its amount, the refund is of more than ' +
      'has arrived.',
    remedy:
      'Wait: if the payment lands again, the refund can be paid. If it can never land again, the original becomes ' +
      '`failed` and the refund is cancelled. Lower a refund of more than `amountReceived` of the original.',
  },
  'intent.limit_reached': {
    status: 409,
    message: 'This payment intent has reached a limit, so this request is refused. Create another one.',
    cause:
      'The intent was updated, simulated or refunded too often, or submitted too often by this wallet or by all, or ' +
      'its paymaster was asked too often: `details.limit` is `events`, `submissions`, `stubs` or `promises`, and ' +
      '`details.max` the limit for this request.',
    remedy:
      'Create another payment intent; after `submissions`, another wallet may still pay this one, and after `stubs` ' +
      'or `promises`, one that pays its own gas. If a program caused it, check what it repeats.',
  },
  'amount.all_reserved': {
    status: 409,
    message: 'Every amount near this one is reserved for another payment intent. Ask for another amount.',
    cause:
      'With `attribution: "amount"`: `details.max` intents of this wallet and token, open or expired within 7 days, ' +
      'have the amounts that could be reserved.',
    remedy:
      'Ask for an amount that differs by 0.01 or more, name another wallet, or leave `attribution` out. If a program ' +
      'caused it, check what it repeats.',
  },
  'deposit.invalid_state': {
    status: 409,
    message: 'The state of this deposit does not allow this request.',
    cause:
      'The deposit is not in the state that the request starts from, or it was undone by a reorg, or it pays an ' +
      'intent: `details.state` and `details.level`.',
    remedy: 'Fetch the deposit, and decide by its state and level what to do.',
  },
  'payment_link.invalid_state': {
    status: 409,
    message: 'The state of this payment link does not allow this request.',
    cause: 'The link is no longer open: `details.current_state` is `paid`, `cancelled` or `expired`.',
    remedy: 'Fetch the link, and decide by its state what to do. To be paid after all, create another link.',
  },
  'payment_link.limit_reached': {
    status: 409,
    message: 'Too many payments of this link have ended unpaid. Ask for another link.',
    cause: 'The payers have created the maximum number of intents for this link: `details.max`.',
    remedy: 'Create another payment link. If a program caused it, check what it repeats.',
  },
  'webhook_endpoint.exists': {
    status: 409,
    message: 'The account already has a webhook endpoint with this URL.',
    cause: 'An endpoint of the account and mode has the same URL; `details.endpoint_id` names it.',
    remedy: 'Update that endpoint, or remove it first.',
  },
  'webhook_endpoint.limit_reached': {
    status: 409,
    message: 'A limit of webhook endpoints is reached.',
    cause:
      `The account has ${ENDPOINTS_MAX} endpoints in this mode, or the endpoint has ${SECRETS_MAX} secrets: ` +
      '`details.limit` is `endpoints` or `secrets`, and `details.max` the limit.',
    remedy: 'Remove an endpoint, or wait until an old secret stops signing, 24 hours after its successor took over.',
  },
  'webhook_endpoint.not_enabled': {
    status: 409,
    message: 'The webhook endpoint is paused or disabled, so nothing is sent to it.',
    cause: 'The request sends a test event or a replay to an endpoint that is paused or disabled.',
    remedy: 'Set `paused` to false, or enable the endpoint, and try again.',
  },
  'webhook_replay.limit_reached': {
    status: 409,
    message: 'The account has too many webhook replays that have not ended.',
    cause: `The account has ${REPLAYS_MAX} replays in this mode that have not ended: \`details.max\`.`,
    remedy: 'Wait until one has ended, or cancel one.',
  },
  'chain.not_available': {
    status: 422,
    message: 'This chain is not available with this API key.',
    cause: 'The chain is unknown, not configured for this service, or a testnet requested with a live key.',
    remedy: 'Use one of the chains in `details.available`.',
  },
  'token.not_available': {
    status: 422,
    message: 'This token is not available on this chain.',
    cause:
      'The value is neither the symbol nor the address of a token that is supported on this chain, or an ' +
      'authorization was requested for a token that does not support EIP-3009.',
    remedy: 'Use one of the tokens in `details.available`, or pay by a transaction.',
  },
  'address.sanctions_match': {
    status: 422,
    message: 'A wallet of this payment is on a sanctions list.',
    cause: 'The wallet in the field `param` (`details.address`) is listed by a sanctions source that the service uses.',
    remedy: 'Do not retry with this wallet: the service cannot process payments from or to it.',
  },
  'address.not_payable': {
    status: 422,
    message: 'This wallet cannot make or receive a payment on this chain.',
    cause:
      'The wallet in the field `param` is not an ordinary wallet, for example a contract, a mint or a token account. ' +
      '`details.reason` says why it was rejected.',
    remedy: 'Use an ordinary wallet of this chain.',
  },
  'transaction.malformed': {
    status: 422,
    message: 'The signed transaction cannot be decoded.',
    cause: '`signedTransaction` is neither a signed transaction of this chain nor a transaction hash.',
    remedy:
      'Send the signed transaction as base64 (or 0x hex on EVM chains), or the hash of the transaction that the ' +
      'wallet has sent.',
  },
  'transaction.mismatch': {
    status: 422,
    message: 'The signed transaction does not match this payment intent. Nothing was broadcast.',
    cause:
      'The signer is not the fulfiller, or the transaction does not pay exactly this intent: `details` shows the ' +
      'differences.',
    remedy: 'Build the transaction again, and sign it without changes.',
  },
  'deposit.mismatch': {
    status: 422,
    message: 'The deposit does not have the terms of this payment intent. Nothing was assigned.',
    cause:
      'The deposit is of another network, token, recipient or amount than the payment intent asks for, or its sender ' +
      'may not pay it: `details.differs`.',
    remedy: 'Assign the deposit to a payment intent with its terms, or send the money back.',
  },
  'transaction.rejected': {
    status: 422,
    message: 'The chain rejects this transaction. Nothing was broadcast.',
    cause: "The transaction cannot land: `details.reason` is the chain's reason, for example an insufficient balance.",
    remedy: 'Resolve the reason, then build and sign the transaction again.',
  },
  'sponsor.refused': {
    status: 422,
    message: 'The sponsor did not sign for the fee of this transaction. Nothing was broadcast.',
    cause:
      'The sponsor that the account has set for the chain returned an error, or anything other than the transaction ' +
      'and its signature: `details.reason`.',
    remedy:
      'Have the payer build without `sponsored`, once the sponsored transaction has ended, and pay the fee. Check ' +
      'the policy and the funds of the sponsor.',
  },
  'rate_limit.exceeded': {
    status: 429,
    retryAfterSeconds: 1,
    message: 'Too many requests were made with this API key. Wait before you send more.',
    cause:
      'The key, an intent with its client secret, or a client address that uses either of them or has no valid key, ' +
      'exceeded its rate limit. Or there was too much of one kind: commands, writes or event streams of the account ' +
      'in progress, new wallets of the account, or of test mode, being screened, submits to an intent, hashes that ' +
      'no node shows, test events sent or on their way, webhook endpoints created.',
    remedy: 'Wait `details.retry_after` seconds, then send requests at a lower rate.',
  },
  'intent.too_many_builds': {
    status: 429,
    retryAfterSeconds: 20,
    message: 'Too many transactions were requested for this payment. Try again in a moment.',
    cause:
      'New transactions were built, or a paymaster was asked, too often for this intent, by this address or by all ' +
      'payers: each one takes several calls to the chain. A repeated build returns the same transaction while it can ' +
      "land, and has a larger budget of its own. Or other payers' builds were recorded first in every attempt.",
    remedy:
      'Repeat the request after `details.retry_after` seconds. A transaction that was built before can be signed as ' +
      'long as it can land.',
  },
  'internal.error': {
    status: 500,
    message: 'An internal error occurred. If it persists, contact support with the X-Request-Id of this response.',
    cause: 'The service failed in a way that it does not handle.',
    remedy: 'Retry later. If the error persists, contact support with the `X-Request-Id` of the response.',
  },
  'rpc.unavailable': {
    status: 503,
    retryAfterSeconds: 2,
    message: 'The chain is unavailable, or has not confirmed that it accepted the transaction. Retry the request.',
    cause: 'No RPC provider of the chain responded. A submission that has begun keeps its claim on the intent.',
    remedy: 'Send the same request again after `details.retry_after` seconds, with exponential backoff.',
  },
  'transaction.not_visible': {
    status: 503,
    retryAfterSeconds: 2,
    causedBy: 'caller',
    message: 'No node of the chain shows a transaction with this hash yet. Retry the request.',
    cause:
      'The wallet sent the transaction moments ago, or did not send it; or it is not as the service builds one, and ' +
      'no node can show yet what it has paid. The intent was not claimed.',
    remedy:
      'Send the same request again after `details.retry_after` seconds. A payment that lands is found in any case, ' +
      'by its reference.',
  },
  'sponsor.unavailable': {
    status: 503,
    retryAfterSeconds: 2,
    causedBy: 'caller',
    message: 'The sponsor of this chain did not respond. Nothing was broadcast. Retry the request.',
    cause:
      'The sponsor that the account has set for the chain did not respond in time, could not be reached, or already ' +
      "has the maximum number of the account's requests in progress: `details.reason`.",
    remedy:
      'Send the same request again after `details.retry_after` seconds, with exponential backoff. If it lasts, have ' +
      'the payer build without `sponsored`, once the sponsored transaction has ended, and pay the fee.',
  },
  'screening.unavailable': {
    status: 503,
    retryAfterSeconds: 5,
    message: 'Sanctions screening is unavailable, so the request was not processed. Retry the request.',
    cause:
      'A sanctions source did not respond, and a payment whose wallets cannot be screened is not processed. ' +
      'Nothing was created, claimed or broadcast.',
    remedy: 'Send the same request again after `details.retry_after` seconds, with exponential backoff.',
  },
  'intent.unavailable': {
    status: 503,
    retryAfterSeconds: 30,
    message: 'This payment intent cannot be processed at the moment. Nothing was changed. Retry the request.',
    cause:
      'The intent was changed by another version of the service, which this one does not understand. Other intents ' +
      'are not affected.',
    remedy: 'Send the same request again after `details.retry_after` seconds, with exponential backoff.',
  },
  'deposit.unavailable': {
    status: 503,
    retryAfterSeconds: 30,
    message: 'This deposit cannot be processed at the moment. Nothing was changed. Retry the request.',
    cause: 'The deposit was changed by another version of the service, which this one does not understand.',
    remedy: 'Send the same request again after `details.retry_after` seconds, with exponential backoff.',
  },
  'service.unavailable': {
    status: 503,
    retryAfterSeconds: 2,
    message:
      'The request timed out and may have taken effect. Send it again, a create with the same idempotencyKey: ' +
      'it takes effect only once.',
    cause:
      'A component of the service is unavailable, so the outcome of the request is not known. `details.intent_id` ' +
      'names the intent that may have been created or changed, `details.deposit_id` the deposit.',
    remedy:
      'Send the same request again after `details.retry_after` seconds, a create with the same `idempotencyKey`: it ' +
      'takes effect only once.',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

/** Whether an error counts as its caller's. Codes that only other APIs have do not. */
export const isCausedByCaller = (code: string): boolean =>
  (ERRORS as Readonly<Record<string, ErrorEntry>>)[code]?.causedBy === 'caller';

/** The body of every error response (docs/reference/contract.md): always all four keys. */
export const errorResponse = z.strictObject({
  error: z.strictObject({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    param: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).nullable(),
  }),
});
export type ErrorResponse = z.infer<typeof errorResponse>;
