import { DASHBOARD_ERRORS, type DashboardErrorCode } from '@pf/contracts/dashboard';
import { AccessEndedError, isDatabaseUnavailable, OwnerBusyError } from '@pf/database';
import { HttpError, type HttpErrorOptions } from '@pf/http';
import { count } from '@pf/runtime';

/** An error that the client receives: a code of the registry with the details of this case. */
export class DashboardError extends HttpError {
  override readonly name = 'DashboardError';
  declare readonly code: DashboardErrorCode;

  constructor(code: DashboardErrorCode, options?: HttpErrorOptions) {
    super(code, DASHBOARD_ERRORS[code], options);
  }
}

/** What a request lacks whose access has ended while it was served. */
const ENDED = { session: 'session.required', token: 'token.invalid', role: 'role.insufficient' } as const;

/** The error that a client receives for anything that was thrown. */
export function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (isDatabaseUnavailable(error)) return new DashboardError('service.unavailable', { cause: error });
  if (error instanceof AccessEndedError) return new DashboardError(ENDED[error.kind], { cause: error });
  if (error instanceof OwnerBusyError) {
    count('payments.rate_limited', { policy: 'dashboard' });
    return new DashboardError('rate_limit.exceeded', {
      message: 'Too many changes of this person or account are in progress. Send the request again in 1 s.',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  // The router cannot decode the path (a stray %), so no endpoint has it.
  if (error instanceof URIError) return new DashboardError('route.not_found', { cause: error });
  return new DashboardError('internal.error', { cause: error });
}
