/** What the API says of an error (its part 7.1). */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
}

/** Any answer that is no success. `code` is stable and documented; `message` is for people. */
export class PaymentApiError extends Error {
  override readonly name: string = 'PaymentApiError';
  readonly status: number;
  readonly code: string;
  /** The path of the field that is wrong, if one is. */
  readonly param: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
  /** Names the request in the service's logs. */
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

/** 400: the request is not as the endpoint takes it. */
export class InvalidRequestError extends PaymentApiError {
  override readonly name = 'InvalidRequestError';
}
/** 401: the key is missing, invalid, or may not do this. */
export class AuthenticationError extends PaymentApiError {
  override readonly name = 'AuthenticationError';
}
/** 402: the plan does not include it. */
export class PlanError extends PaymentApiError {
  override readonly name = 'PlanError';
}
/** 404: no such thing for this key. */
export class NotFoundError extends PaymentApiError {
  override readonly name = 'NotFoundError';
}
/** 409: not in this state, or changed meanwhile. */
export class ConflictError extends PaymentApiError {
  override readonly name = 'ConflictError';
}
/** 422: understood, and impossible: a wallet, a token, a transaction. */
export class UnprocessableError extends PaymentApiError {
  override readonly name = 'UnprocessableError';
}
/** 429, after all retries. */
export class RateLimitError extends PaymentApiError {
  override readonly name = 'RateLimitError';
}
/** 503, after all retries: the outcome may be unknown, and the same call again is safe. */
export class UnavailableError extends PaymentApiError {
  override readonly name = 'UnavailableError';
}
/** No answer came: the network, or a time-out, after all retries. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}
/** A webhook that was not signed with this secret: do not trust it. */
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

/** @param body parsed JSON, or whatever a proxy on the way answered instead */
export function errorOf(status: number, body: unknown, requestId: string | null): PaymentApiError {
  const told = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  const error = isErrorBody(told)
    ? told
    : { code: 'unknown', message: `The service answered with status ${status}.`, param: null, details: null };
  return new (CLASSES.get(status) ?? PaymentApiError)(status, error, requestId);
}
