import { CLIENT_SECRET, isPaymentLinkId, parseIntentId, PAYMENT_LINK_SECRET } from '@pf/contracts';
import { ApiError } from '@pf/http';
import type { Request } from 'express';

/** Ids of any deployment: this service does not know how many partitions its own has. */
const PARTITIONS_MAX = 256;
const BEARER = /^bearer +(\S+)$/i;

/** What people pay: an intent, or a payment link, of which they choose one. */
export type Paid = 'intent' | 'link';

/** The intent or payment link that the path names; null if it is no id of one. */
export function requestedId({ params }: Request, kind: Paid = 'intent'): string | null {
  const { id } = params;
  if (typeof id !== 'string') return null;
  if (kind === 'link') return isPaymentLinkId(id) ? id : null;
  return parseIntentId(id, PARTITIONS_MAX)?.id ?? null;
}

/** 404 for an id that no intent has. */
export const unknownIntent = (): ApiError =>
  new ApiError('intent.not_found', { message: 'No payment has this id. Check that the link is complete.' });

/**
 * The Authorization header of a request, if it has the client secret of the intent or payment link in the path. Keys
 * that open more are for the API itself, and are not passed on from here.
 * @throws ApiError `api_key.missing` or `api_key.invalid`
 */
export function requireClientSecret(request: Request, kind: Paid): string {
  const { authorization } = request.headers;
  if (authorization === undefined)
    throw new ApiError('api_key.missing', { message: 'Send the client secret of the payment as "Bearer …".' });
  const secret = BEARER.exec(authorization)?.[1] ?? '';
  const [, id] = (kind === 'link' ? PAYMENT_LINK_SECRET : CLIENT_SECRET).exec(secret) ?? [];
  if (id === request.params['id']) return authorization;
  throw new ApiError('api_key.invalid', { message: 'Only the client secret of this payment opens it here.' });
}
