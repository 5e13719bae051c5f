import type { IntentOwner, RequestKey } from '@pf/database';

/** The header of an answer that an earlier request got. */
export const REPLAYED = { 'Idempotent-Replayed': 'true' } as const;

/** Null for a request without an idempotency key. */
export const requestKey = (
  { accountId, livemode }: IntentOwner,
  operation: string,
  idempotencyKey: string | undefined,
): RequestKey | null => (idempotencyKey === undefined ? null : { accountId, livemode, operation, idempotencyKey });
