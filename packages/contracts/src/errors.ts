import { z } from 'zod';

/** What the documentation says of an error, and what a client gets where nothing more particular is known. */
interface ErrorText {
  /** One sentence, shown to the client. */
  readonly message: string;
  /** When it is answered. */
  readonly cause: string;
  /** What the client can do about it. */
  readonly remedy: string;
}
/** Errors that pass by themselves say after how many seconds it is worth trying again, unless the moment knows better. */
type ErrorEntry = ErrorText &
  (
    | { readonly status: 400 | 401 | 402 | 404 | 405 | 408 | 409 | 413 | 415 | 422 | 431 | 500 }
    | { readonly status: 429 | 503; readonly retryAfterSeconds: number }
  );

/**
 * The registry: every error the API can answer (spec.md part 7, decisions.md). The status lines, the OpenAPI document and
 * the documentation come from here, and a code that is not here cannot be answered.
 */
export const ERRORS = {
  'request.malformed_json': {
    status: 400,
    message: 'The body is not valid JSON.',
    cause: 'The bytes of the body are not UTF-8, or not one JSON document.',
    remedy: 'Send one JSON object, encoded as UTF-8.',
  },
  'request.malformed_http': {
    status: 400,
    message: 'This is not a request that can be read: the connection ends here.',
    cause: 'The bytes are not HTTP/1.1, as when HTTPS is spoken to a port of HTTP.',
    remedy: 'Use an HTTP client library, and the base URL as it was given to you.',
  },
  'request.validation_failed': {
    status: 400,
    message: 'The request is not as this endpoint takes it.',
    cause:
      'A field is missing, unknown, or has a value it cannot have. `param` is the path of the first such field, `details.issues` has all of them.',
    remedy: 'Correct the named fields; each issue says what would be right.',
  },
  'api_key.missing': {
    status: 401,
    message: 'No API key was given: send it as "Authorization: Bearer <API_KEY>".',
    cause: 'The Authorization header is missing, or is not of the Bearer scheme.',
    remedy: 'Send the header with every request.',
  },
  'api_key.invalid': {
    status: 401,
    message: 'The API key is not valid: it is unknown, incomplete or revoked.',
    cause: 'No active key has this text.',
    remedy: 'Check that the key was copied whole; make a new one where it was revoked.',
  },
  'api_key.test_mode_required': {
    status: 401,
    message: 'This endpoint takes test keys only (pk_test_…).',
    cause: 'A live key was used where money is only pretended to move.',
    remedy: 'Use a test key of the account.',
  },
  'api_key.insufficient_scope': {
    status: 401,
    message: 'This API key has the scope "payer" and may not do this: use a key with the scope "full".',
    cause: 'A key made for apps in the hands of payers was used for something only the account may do.',
    remedy: 'Make the request from your server, with a key of full scope.',
  },
  'plan.upgrade_required': {
    status: 402,
    message: 'The plan of the account does not include this.',
    cause: 'A feature of a higher plan was asked for: `details.feature` names it, `details.plan` the plan that has it.',
    remedy: 'Move the account to that plan, or leave the feature out.',
  },
  'intent.not_found': {
    status: 404,
    message: 'There is no payment intent with this id for this API key.',
    cause: 'The id is unknown, or of another account, or of the other mode.',
    remedy: 'Check the id, and whether a test key was used for a live intent or the reverse.',
  },
  'delivery.not_found': {
    status: 404,
    message: 'There is no webhook delivery with this id for this API key.',
    cause: 'The id is unknown, or of another account, or of the other mode.',
    remedy: 'Take the id from GET /webhooks.',
  },
  'route.not_found': {
    status: 404,
    message: 'There is nothing at this path.',
    cause: 'The path is not one of the API.',
    remedy: 'Check the path; all of them begin with /v1.',
  },
  'request.method_not_allowed': {
    status: 405,
    message: 'This path does not take this method: the Allow header names those it takes.',
    cause: 'The path exists, with other methods.',
    remedy: 'Use one of the methods of the Allow header.',
  },
  'request.timeout': {
    status: 408,
    message: 'The request did not arrive in time.',
    cause: 'Its head took longer than 10 seconds, or all of it longer than 20.',
    remedy: 'Send the request again, in one go.',
  },
  'request.headers_too_large': {
    status: 431,
    message: 'The head of the request is larger than 16 KiB.',
    cause: 'No request of this API needs as much: a cookie, perhaps, or a cursor that is not ours.',
    remedy: 'Send fewer or shorter headers.',
  },
  'request.too_large': {
    status: 413,
    message: 'The body is larger than 64 KiB.',
    cause: 'No request of this API needs as much.',
    remedy: 'Send less, for example less metadata.',
  },
  'request.unsupported_media_type': {
    status: 415,
    message: 'The body must be sent as Content-Type: application/json, in UTF-8 and not compressed.',
    cause: 'The Content-Type, its charset or the Content-Encoding is another.',
    remedy: 'Send JSON and say so in the Content-Type header.',
  },
  'intent.invalid_state': {
    status: 409,
    message: 'The payment intent is in a state in which this is not possible.',
    cause: '`details.current_state` is not one that this endpoint takes.',
    remedy: 'Read the intent and decide anew.',
  },
  'intent.already_fulfilled': {
    status: 409,
    message: 'The payment intent has been paid, or is being paid, already.',
    cause: 'A transaction for it was broadcast or has landed.',
    remedy: 'Follow the intent instead of paying again.',
  },
  'intent.expired': {
    status: 409,
    message: 'The payment intent has expired.',
    cause: 'Its time ran out (`expiresAt`).',
    remedy: 'Create a new intent.',
  },
  'intent.stale_update': {
    status: 409,
    message: 'The payment intent has changed since it was read.',
    cause: '`updatedAt` of the request is not the present one, which is `details.current_updated_at`.',
    remedy: 'Read the intent again and repeat the update with its `updatedAt`.',
  },
  'intent.submission_in_progress': {
    status: 409,
    message: 'A transaction for this payment intent is on its way.',
    cause: 'A submission was begun and its outcome is not known yet.',
    remedy: 'Wait until the intent has moved on; the same signed transaction may be submitted again.',
  },
  'intent.already_refunded': {
    status: 409,
    message: 'The payment intent has a refund already.',
    cause: 'One live refund at a time: `details.refund_intent_id` is it.',
    remedy: 'Use that refund, or cancel it first.',
  },
  'chain.not_available': {
    status: 422,
    message: 'This chain is not available to this API key.',
    cause: 'The chain is not supported, not configured here, or a testnet named with a live key.',
    remedy: 'Name one of the chains of `details.available`.',
  },
  'token.not_available': {
    status: 422,
    message: 'This token is not available on this chain.',
    cause: "Neither a symbol nor an address of the chain's registry.",
    remedy: 'Name one of the tokens of `details.available`.',
  },
  'address.sanctions_match': {
    status: 422,
    message: 'A wallet of this payment is on a sanctions list.',
    cause:
      'The wallet that `param` names (`details.address`) is known as sanctioned to a list or service that we screen with.',
    remedy: 'The payment cannot be made with this wallet, now or later: do not try again with it.',
  },
  'address.not_payable': {
    status: 422,
    message: 'This wallet cannot pay, or be paid, on this chain.',
    cause: 'The chain says so of the wallet named by `param`: a contract, a mint or a token account, for example.',
    remedy: 'Use an ordinary wallet of this chain.',
  },
  'transaction.malformed': {
    status: 422,
    message: 'The signed transaction cannot be read.',
    cause: '`signedTransaction` is neither a signed transaction of this chain nor the hash of one.',
    remedy: 'Send the signed transaction as base64 (or 0x hex on EVM chains), or the hash of what the wallet sent.',
  },
  'transaction.mismatch': {
    status: 422,
    message: 'The signed transaction does not pay exactly this payment intent. Nothing was broadcast.',
    cause: 'The signer is not the fulfiller, or the transaction does something else: `details` has what differs.',
    remedy: 'Build again and sign what was built.',
  },
  'transaction.rejected': {
    status: 422,
    message: 'The chain does not take this transaction. Nothing was broadcast.',
    cause: "It cannot land: `details.reason` is the chain's reason, for example too little balance or a used nonce.",
    remedy: 'Remove the cause, build again and sign anew.',
  },
  'rate_limit.exceeded': {
    status: 429,
    retryAfterSeconds: 1,
    message: 'Too many requests with this API key.',
    cause: 'The key used up its rate.',
    remedy: 'Wait `details.retry_after` seconds and slow down.',
  },
  'internal.error': {
    status: 500,
    message: 'Something went wrong on our side.',
    cause: 'A fault of the service.',
    remedy: 'Tell us the X-Request-Id of the answer.',
  },
  'rpc.unavailable': {
    status: 503,
    retryAfterSeconds: 2,
    message: 'The chain cannot be reached at the moment, or has not said whether it took the transaction.',
    cause: 'No upstream of the network answered. A submission that was begun keeps its claim.',
    remedy: 'Send the same request again after `details.retry_after` seconds, with growing pauses.',
  },
  'transaction.not_visible': {
    status: 503,
    retryAfterSeconds: 2,
    message: 'No node shows a transaction of this hash yet. Nothing was claimed.',
    cause: 'The wallet sent it moments ago, to other nodes, or not at all.',
    remedy:
      'Send the same request again after `details.retry_after` seconds; a payment that lands is found in any case.',
  },
  'screening.unavailable': {
    status: 503,
    retryAfterSeconds: 5,
    message: 'The wallets cannot be screened at the moment, so nothing was done.',
    cause:
      'The sanctions screening gave no answer, and who cannot be screened does not pass. Nothing was created, claimed or broadcast.',
    remedy: 'Send the same request again after `details.retry_after` seconds, with growing pauses.',
  },
  'service.unavailable': {
    status: 503,
    retryAfterSeconds: 2,
    message: 'The service could not find out in time what became of this request.',
    cause:
      'A part of the service is away. The request may have been carried out: `details.intent_id` names the intent where one may have been made.',
    remedy:
      'Send the same request again after `details.retry_after` seconds, a create with the same `idempotencyKey`: it takes effect once.',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

/** The one shape of every error's body (spec.md part 7.1): all four keys, always. */
export const errorResponse = z.strictObject({
  error: z.strictObject({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    param: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).nullable(),
  }),
});
export type ErrorResponse = z.infer<typeof errorResponse>;
