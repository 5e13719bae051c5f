import type { Logger } from '@pf/runtime';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { ApiError, type HttpError } from './http-error.ts';
import { write } from './write.ts';

/**
 * Turns everything that was thrown into an error response.
 * @param asHttpError the error that a client receives for anything that was thrown
 * @param bodyOf the response's body, where it is not that of the API
 */
export const errorHandler =
  (
    log: Logger,
    asHttpError: (thrown: unknown) => HttpError,
    bodyOf: (error: HttpError) => string = (error) => error.body(),
  ): ErrorRequestHandler =>
  // Express recognizes it by its four parameters.
  (thrown: unknown, _request, response, _next): void => {
    const error = asHttpError(thrown);
    response.locals['errorCode'] = error.code;
    if (error.status === 500) log.error({ err: thrown }, 'a request failed');
    else if (error.status === 503) log.warn({ code: error.code, err: error.cause }, 'a request could not be served');
    // A response that has begun cannot become an error: the connection is closed, so that the client notices.
    if (response.headersSent) response.destroy();
    else write(response, error.status, bodyOf(error), error.headers);
  };

/** 405 for the methods that a path does not have. @param methods those that it has; GET brings HEAD */
export function methodNotAllowed(methods: readonly string[]): RequestHandler {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return ({ method }) => {
    throw new ApiError('request.method_not_allowed', {
      message: `This path does not support ${method}: use ${allow}.`,
      headers: { Allow: allow },
    });
  };
}
