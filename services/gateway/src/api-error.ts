import { RpcUnavailableError } from '@pf/chains';
import { isDatabaseUnavailable, OwnerBusyError, UndecodableIntentError } from '@pf/database';
import { LogUnavailableError } from '@pf/event-log';
import { ApiError } from '@pf/http';
import { count } from '@pf/runtime';

export { ApiError, type ErrorDetails, validationFailed } from '@pf/http';

/**
 * The error that a client receives for anything that was thrown. Unexpected errors become `internal.error`, without
 * details.
 */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof RpcUnavailableError)
    return new ApiError('rpc.unavailable', { retryAfterSeconds: error.retryAfterSeconds, cause: error });
  if (error instanceof OwnerBusyError) {
    count('payments.rate_limited', { policy: 'transactions' });
    return new ApiError('rate_limit.exceeded', {
      // It may have been a query after the change.
      message:
        'Too many requests of this account, or of its payers, are in progress. A change may have taken effect: ' +
        'repeat the request after 1 s, with the same idempotencyKey if it has one, and send fewer at once.',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  if (error instanceof LogUnavailableError || isDatabaseUnavailable(error))
    return new ApiError('service.unavailable', { cause: error });
  if (error instanceof UndecodableIntentError) return new ApiError('intent.unavailable', { cause: error });
  // The router cannot decode the path (a stray %), so no endpoint has it.
  if (error instanceof URIError) return new ApiError('route.not_found', { cause: error });
  return new ApiError('internal.error', { cause: error });
}
