import { INTENT_STATUSES } from '@pf/domain';
import { z } from 'zod';
import {
  amount,
  chain,
  direction,
  metadata,
  metadataKey,
  metadataValue,
  must,
  text,
  token,
  ttlSeconds,
  updatedAt,
  wallet,
  word,
} from './fields.ts';
import { BODY_LIMIT_BYTES, IDEMPOTENCY_KEY_LENGTH_MAX, TTL_SECONDS } from './limits.ts';

/** POST /intents. What depends on the chain (addresses, token, decimals) is read by its adapter after this. */
export const createIntentRequest = z.strictObject({
  chain,
  token,
  amount,
  requestor: wallet,
  direction: direction.default('request'),
  fulfiller: wallet.nullish(),
  idempotencyKey: text(1, IDEMPOTENCY_KEY_LENGTH_MAX).optional(),
  ttlSeconds: ttlSeconds.default(TTL_SECONDS.default),
  metadata: metadata.nullish(),
});
export type CreateIntentRequest = z.infer<typeof createIntentRequest>;

/** PATCH /intents/{id}. `metadata` is merged key by key: null removes a key, null for the whole clears it. */
export const updateIntentRequest = z.strictObject({
  updatedAt,
  // How many keys there may be is known after the merge.
  metadata: z
    .record(metadataKey, metadataValue.nullable(), must('an object of text values, or null for those to be removed'))
    .nullable()
    .optional(),
  amount: amount.optional(),
  ttlSeconds: ttlSeconds.optional(),
});
export type UpdateIntentRequest = z.infer<typeof updateIntentRequest>;

/** POST /intents/{id}/build. */
export const buildIntentRequest = z.strictObject({ fulfiller: wallet.nullish() });
export type BuildIntentRequest = z.infer<typeof buildIntentRequest>;

/** POST /intents/{id}/submit. `signedTransaction` is bounded by the body. */
export const submitIntentRequest = z.strictObject({
  signedTransaction: word(
    'the signed transaction as base64 (or 0x hex on EVM chains), or the hash of what the wallet sent',
    BODY_LIMIT_BYTES,
  ),
  fulfiller: wallet.nullish(),
});
export type SubmitIntentRequest = z.infer<typeof submitIntentRequest>;

/** POST /test/intents/{id}/simulate. */
export const simulateIntentRequest = z.strictObject({
  targetState: z.enum(INTENT_STATUSES, must(`one of ${INTENT_STATUSES.join(', ')}`)),
});
export type SimulateIntentRequest = z.infer<typeof simulateIntentRequest>;

/** For endpoints that take no fields: an empty object, or nothing at all. */
export const emptyRequest = z.strictObject({});
