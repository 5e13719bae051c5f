import { isDatabaseUnavailable } from '@pf/database';
import { ApiError, HttpError } from '@pf/http';

/** Nothing has this address. */
export const notFound = (cause?: unknown): ApiError =>
  new ApiError('route.not_found', {
    message: 'Nothing has this address. Links to pay have the form /pay/pi_…#…, check that yours is complete.',
    cause,
  });

/** The error that a client receives for anything that was thrown. */
export function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (isDatabaseUnavailable(error))
    return new ApiError('service.unavailable', { message: 'The service is unavailable at the moment.', cause: error });
  // The router cannot decode the path (a stray %), so nothing has it.
  if (error instanceof URIError) return notFound(error);
  return new ApiError('internal.error', { cause: error });
}
