import { CLIENT_SECRET, parseIntentId } from '@pf/contracts';
import { ApiError } from '@pf/http';
import type { Request } from 'express';

/** Ids of any deployment: this service does not know how many partitions its own has. */
const PARTITIONS_MAX = 256;
const BEARER = /^bearer +(\S+)$/i;

/** The intent that the path names; null if it is no id. */
export const requestedId = ({ params }: Request): string | null =>
  typeof params['id'] === 'string' ? (parseIntentId(params['id'], PARTITIONS_MAX)?.id ?? null) : null;

/** 404 for an id that no intent has. */
export const unknownIntent = (): ApiError =>
  new ApiError('intent.not_found', { message: 'No payment has this id. Check that the link is complete.' });

/**
 * The Authorization header of a request, if it has the client secret of the intent in the path. Keys that open more are
 * for the API itself, and are not passed on from here.
 * @throws ApiError `api_key.missing` or `api_key.invalid`
 */
export function requireClientSecret(request: Request): string {
  const { authorization } = request.headers;
  if (authorization === undefined)
    throw new ApiError('api_key.missing', { message: 'Send the client secret of the payment as "Bearer …".' });
  const secret = BEARER.exec(authorization)?.[1] ?? '';
  if (CLIENT_SECRET.exec(secret)?.[1] === request.params['id']) return authorization;
  throw new ApiError('api_key.invalid', { message: 'Only the client secret of this payment opens it here.' });
}
