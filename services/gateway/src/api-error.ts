import { type ErrorCode, ERRORS, type RequestIssue } from '@pf/contracts';
import { RpcUnavailableError } from '@pf/chains';
import { isDatabaseUnavailable, UndecodableIntentError } from '@pf/database';
import { LogUnavailableError } from '@pf/event-log';

export type ErrorDetails = Readonly<Record<string, unknown>>;

interface ApiErrorOptions {
  /** Replaces the message of the registry with a more specific one. */
  readonly message?: string;
  readonly param?: string | null;
  readonly details?: ErrorDetails | null;
  /** Replaces the default of the registry, for 429 and 503. */
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error that the client receives: a code of the registry with the details of this case. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly param: string | null;
  readonly details: ErrorDetails | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    { message, param = null, details = null, retryAfterSeconds, headers = {}, cause }: ApiErrorOptions = {},
  ) {
    const entry = ERRORS[code];
    super(message ?? entry.message, { cause });
    this.code = code;
    this.status = entry.status;
    this.param = param;
    if ('retryAfterSeconds' in entry) {
      const seconds = retryAfterSeconds ?? entry.retryAfterSeconds;
      this.details = { ...details, retry_after: seconds };
      this.headers = { ...headers, 'Retry-After': String(seconds) };
    } else {
      this.details = details;
      this.headers = headers;
    }
  }

  /** The response body as JSON, always with all four keys. */
  body(): string {
    return JSON.stringify({
      error: { code: this.code, message: this.message, param: this.param, details: this.details },
    });
  }
}

/** 400 for invalid fields: `param` and the message are those of the first. */
export function validationFailed(issues: readonly [RequestIssue, ...RequestIssue[]]): ApiError {
  const [{ param, message }] = issues;
  return new ApiError('request.validation_failed', {
    message: `${message}.`,
    param: param === '' ? null : param,
    details: { issues },
  });
}

/**
 * The error that a client receives for anything that was thrown. Unexpected errors become `internal.error`, without
 * details.
 */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof RpcUnavailableError)
    return new ApiError('rpc.unavailable', { retryAfterSeconds: error.retryAfterSeconds, cause: error });
  if (error instanceof LogUnavailableError || isDatabaseUnavailable(error))
    return new ApiError('service.unavailable', { cause: error });
  if (error instanceof UndecodableIntentError) return new ApiError('intent.unavailable', { cause: error });
  // The router cannot decode the path (a stray %), so no endpoint has it.
  if (error instanceof URIError) return new ApiError('route.not_found', { cause: error });
  return new ApiError('internal.error', { cause: error });
}
