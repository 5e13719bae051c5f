import type { ErrorEntry, RequestIssue } from '@pf/contracts';
import { type ErrorCode, ERRORS } from '@pf/contracts';

export type ErrorDetails = Readonly<Record<string, unknown>>;

export interface HttpErrorOptions {
  /** Replaces the message of the registry with a more specific one. */
  readonly message?: string;
  readonly param?: string | null;
  readonly details?: ErrorDetails | null;
  /** Replaces the default of the registry, for 429 and 503. */
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error that a client receives: a code of an API's registry with the details of this case. */
export class HttpError extends Error {
  override readonly name: string = 'HttpError';
  readonly code: string;
  readonly status: number;
  readonly param: string | null;
  readonly details: ErrorDetails | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: string,
    entry: ErrorEntry,
    { message, param = null, details = null, retryAfterSeconds, headers = {}, cause }: HttpErrorOptions = {},
  ) {
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

/** An error of the public API, which other APIs share where it is about the request as such. */
export class ApiError extends HttpError {
  override readonly name = 'ApiError';
  declare readonly code: ErrorCode;

  constructor(code: ErrorCode, options?: HttpErrorOptions) {
    super(code, ERRORS[code], options);
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
