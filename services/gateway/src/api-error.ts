import { type ErrorCode, ERRORS, type RequestIssue } from '@pf/contracts';
import { RpcUnavailableError } from '@pf/chains';
import { isDatabaseAway } from '@pf/database';
import { LogUnavailableError } from '@pf/event-log';

export type ErrorDetails = Readonly<Record<string, unknown>>;

interface ApiErrorOptions {
  /** In place of the registry's sentence, where more is known. */
  readonly message?: string;
  readonly param?: string | null;
  readonly details?: ErrorDetails | null;
  /** In place of the registry's, for 429 and 503. */
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error that the client is told: a code of the registry with what is known of this case. */
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

  /** The body of spec.md part 7.1, all four keys. */
  body(): string {
    return JSON.stringify({
      error: { code: this.code, message: this.message, param: this.param, details: this.details },
    });
  }
}

/** 400 for fields that are not as they should be: `param` names the first. */
export function validationFailed(issues: readonly [RequestIssue, ...RequestIssue[]]): ApiError {
  const [{ param, message }] = issues;
  return new ApiError('request.validation_failed', {
    message: `${message}.`,
    param: param === '' ? null : param,
    details: { issues },
  });
}

/** What a client is told of anything that was thrown. What nobody foresaw is `internal.error`, and says nothing of its inside. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof RpcUnavailableError)
    return new ApiError('rpc.unavailable', { retryAfterSeconds: error.retryAfterSeconds, cause: error });
  if (error instanceof LogUnavailableError || isDatabaseAway(error))
    return new ApiError('service.unavailable', { cause: error });
  // The router cannot decode the path (a stray %): it is the path of nothing.
  if (error instanceof URIError) return new ApiError('route.not_found', { cause: error });
  return new ApiError('internal.error', { cause: error });
}
