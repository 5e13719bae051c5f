import { INTENT_STATUSES } from '@pf/domain';
import { z } from 'zod';
import { authorization, signature } from './authorization.ts';
import {
  accept,
  amount,
  anyMetadataKey,
  attribution,
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
import { BODY_LIMIT_BYTES, IDEMPOTENCY_KEY_LENGTH_MAX, METADATA_KEYS_MAX, TTL_SECONDS } from './limits.ts';

/** POST /intents. The chain's adapter parses what depends on the chain: addresses, token, decimals. */
export const createIntentRequest = z.strictObject({
  chain,
  token,
  amount,
  requestor: wallet,
  direction: direction.default('request'),
  attribution: attribution.optional(),
  accept: accept.optional(),
  fulfiller: wallet.nullish(),
  idempotencyKey: text(1, IDEMPOTENCY_KEY_LENGTH_MAX).optional(),
  ttlSeconds: ttlSeconds.default(TTL_SECONDS.default),
  metadata: metadata.nullish(),
});
export type CreateIntentRequest = z.infer<typeof createIntentRequest>;

/** POST /intents/{id}/refund. */
export const refundIntentRequest = z.strictObject({
  /** Who gets the money; default: the wallet that paid. */
  to: wallet.optional(),
});

/** All keys that an intent has are removed, and as many others set. */
const CHANGED_KEYS_MAX = 2 * METADATA_KEYS_MAX;
const changedMetadata = must(`an object of at most ${CHANGED_KEYS_MAX} string values, or null to remove a key`);
/** PATCH /intents/{id}. `metadata` is merged key by key: a null value removes its key, `metadata: null` all keys. */
export const updateIntentRequest = z.strictObject({
  updatedAt,
  // How many keys remain is checked after the merge, by the domain.
  metadata: z
    .record(anyMetadataKey, metadataValue.nullable(), changedMetadata)
    .refine((map) => Object.keys(map).length <= CHANGED_KEYS_MAX, changedMetadata)
    .superRefine((map, context) => {
      for (const [key, value] of Object.entries(map)) {
        const issues = value === null ? undefined : metadataKey.safeParse(key).error?.issues;
        if (issues) context.addIssue({ code: 'invalid_key', origin: 'record', issues, path: [key], input: map });
      }
    })
    .nullable()
    .optional(),
  amount: amount.optional(),
  ttlSeconds: ttlSeconds.optional(),
});
export type UpdateIntentRequest = z.infer<typeof updateIntentRequest>;

/** POST /intents/{id}/build. */
export const buildIntentRequest = z.strictObject({
  fulfiller: wallet.nullish(),
  sponsored: z.boolean(must('true or false')).optional(),
  feePayer: wallet.nullish(),
});
export type BuildIntentRequest = z.infer<typeof buildIntentRequest>;

/** POST /intents/{id}/authorization/build. */
export const buildAuthorizationRequest = z.strictObject({ fulfiller: wallet.nullish() });
export type BuildAuthorizationRequest = z.infer<typeof buildAuthorizationRequest>;

/** POST /intents/{id}/submit. Only the body limit bounds `signedTransaction`. */
export const submitIntentRequest = z.strictObject({
  signedTransaction: word(
    'the signed transaction in base64 (or 0x hex on EVM chains), or the hash of a transaction that the wallet has sent',
    BODY_LIMIT_BYTES,
  ),
  fulfiller: wallet.nullish(),
});
export type SubmitIntentRequest = z.infer<typeof submitIntentRequest>;

/** POST /intents/{id}/authorization/submit: x402's payload of an EIP-3009 payment. */
export const submitAuthorizationRequest = z.strictObject({ authorization, signature });
export type SubmitAuthorizationRequest = z.infer<typeof submitAuthorizationRequest>;

/** POST /test/intents/{id}/simulate. */
export const simulateIntentRequest = z.strictObject({
  targetState: z.enum(INTENT_STATUSES, must(`one of ${INTENT_STATUSES.join(', ')}`)),
});
export type SimulateIntentRequest = z.infer<typeof simulateIntentRequest>;

/** For endpoints without fields: an empty object, or no body at all. */
export const emptyRequest = z.strictObject({});
