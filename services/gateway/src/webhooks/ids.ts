import type { Request } from 'express';
import { ApiError } from '../api-error.ts';

const DELIVERY_ID = /^whd_[1-9A-HJ-NP-Za-km-z]{1,22}$/;
const REPLAY_ID = /^whr_[1-9A-HJ-NP-Za-km-z]{1,22}$/;
const ENDPOINT_ID = /^whe_[1-9A-HJ-NP-Za-km-z]{1,22}$/;

/** @throws ApiError `delivery.not_found` for a text that cannot be the id of one */
export function deliveryIdOf({ params }: Request): string {
  const id = String(params['id']);
  if (!DELIVERY_ID.test(id)) throw new ApiError('delivery.not_found');
  return id;
}

/** @throws ApiError `webhook_endpoint.not_found` for a text that cannot be the id of one */
export function endpointIdOf({ params }: Request): string {
  const id = String(params['id']);
  if (!ENDPOINT_ID.test(id)) throw new ApiError('webhook_endpoint.not_found');
  return id;
}

/** @throws ApiError `webhook_replay.not_found` for a text that cannot be the id of one */
export function replayIdOf({ params }: Request): string {
  const id = String(params['id']);
  if (!REPLAY_ID.test(id)) throw new ApiError('webhook_replay.not_found');
  return id;
}
