import type { Differences, PayableIntent, PayableLink } from './types.ts';

/** The error object of a response (docs/reference/errors.md). */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
}

/** Any response that is not a success. `code` is stable and documented; `message` is for people. */
export class PaymentApiError extends Error {
  override readonly name: string = 'PaymentApiError';
  readonly status: number;
  readonly code: string;
  /** The path of the invalid field, if there is one. */
  readonly param: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  /** The `X-Request-Id` of the response, which identifies the request in the service's logs. */
  readonly requestId: string | null;

  constructor(status: number, { code, message, param, details }: ErrorBody, requestId: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
    this.details = details;
    this.requestId = requestId;
  }
}

/** 400: the request is invalid. */
export class InvalidRequestError extends PaymentApiError {
  override readonly name = 'InvalidRequestError';
}
/** 401: the API key is missing or invalid, or does not allow the request. */
export class AuthenticationError extends PaymentApiError {
  override readonly name = 'AuthenticationError';
}
/** 402: the plan of the account does not include the feature. */
export class PlanError extends PaymentApiError {
  override readonly name = 'PlanError';
}
/** 404: the object does not exist, or belongs to another account or mode. */
export class NotFoundError extends PaymentApiError {
  override readonly name = 'NotFoundError';
}
/** 409: the state of the intent does not allow the request, or the intent has changed meanwhile. */
export class ConflictError extends PaymentApiError {
  override readonly name = 'ConflictError';
}
/** 422: the request is valid, but its chain, token, wallet or transaction cannot be used. */
export class UnprocessableError extends PaymentApiError {
  override readonly name = 'UnprocessableError';
}
/** 429, after all retries: the rate limit is exceeded. */
export class RateLimitError extends PaymentApiError {
  override readonly name = 'RateLimitError';
}
/** 503, after all retries: the outcome may be unknown. Repeating the same call is safe. */
export class UnavailableError extends PaymentApiError {
  override readonly name = 'UnavailableError';
}
/**
 * An earlier request with this `idempotencyKey` asked for something else: what it made is in `existing`, and nothing of
 * this one has taken effect.
 */
export class ReusedKeyError extends Error {
  override readonly name = 'ReusedKeyError';
  readonly existing: PayableIntent | PayableLink;
  /** By the path of the field: `amount`, `metadata.order`. */
  readonly differs: Differences;

  constructor(existing: PayableIntent | PayableLink, differs: Differences) {
    super(
      `An earlier request with this idempotencyKey asked for another ${Object.keys(differs).join(', ')}. Use another ` +
        'key for another payment, or pass {takeExisting: true} to get what exists.',
    );
    this.existing = existing;
    this.differs = differs;
  }
}
/** No response arrived, after all retries: a network error or a timeout. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}
/** The webhook was not signed with this secret: do not trust it. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';
}

const CLASSES = new Map<number, typeof PaymentApiError>([
  [400, InvalidRequestError],
  [401, AuthenticationError],
  [402, PlanError],
  [404, NotFoundError],
  [409, ConflictError],
  [422, UnprocessableError],
  [429, RateLimitError],
  [503, UnavailableError],
]);

const isErrorBody = (value: unknown): value is ErrorBody =>
  typeof value === 'object' && value !== null && 'code' in value && 'message' in value;

/** @param body parsed JSON, or whatever a proxy responded instead */
export function errorOf(status: number, body: unknown, requestId: string | null): PaymentApiError {
  const received = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  const error = isErrorBody(received)
    ? received
    : { code: 'unknown', message: `The service responded with status ${status}.`, param: null, details: null };
  return new (CLASSES.get(status) ?? PaymentApiError)(status, error, requestId);
}
