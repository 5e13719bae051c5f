import type { PublicIntent, UnsignedTransaction } from '@pf/domain';
import { INTENT_STATUSES } from '@pf/domain';
import { z } from 'zod';
import { unsignedTransaction } from '../intent-state.ts';
import { address, chainId, intentId, reference, tokenAddress, transactionHash } from '../scalars.ts';
import { pageResponse } from './paging.ts';

const time = z.iso.datetime({ precision: 3 });

/** A PaymentIntent in responses (docs/reference/contract.md): what `view` of the domain returns. */
export const publicIntent = z.strictObject({
  id: intentId,
  idempotencyKey: z.string().exactOptional(),
  chain: chainId,
  token: z.string(),
  tokenAddress,
  amount: z.string(),
  amountBaseUnits: z.string().regex(/^\d{1,20}$/),
  requestor: address,
  fulfiller: address.nullable(),
  direction: z.enum(['request', 'send']),
  state: z.enum(INTENT_STATUSES),
  retryRequired: z.boolean(),
  pendingAtExpiry: z.boolean(),
  reference,
  txSignature: transactionHash.nullable(),
  detectedAt: time.nullable(),
  ataRentLamports: z.number().nullable(),
  ttlSeconds: z.number().int(),
  expiresAt: time,
  createdAt: time,
  updatedAt: time,
  confirmedAt: time.nullable(),
  finalizedAt: time.nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
  refundedBy: intentId.nullable(),
  refundOf: intentId.nullable(),
  livemode: z.boolean(),
}) satisfies z.ZodType<PublicIntent>;

/** The response of every endpoint that returns one intent. */
export const intentResponse = z.strictObject({ intent: publicIntent });
export const buildIntentResponse = z.strictObject({
  intent: publicIntent,
  transaction: unsignedTransaction satisfies z.ZodType<UnsignedTransaction>,
});
export const submitIntentResponse = z.strictObject({ intent: publicIntent, txSignature: transactionHash });
export const listIntentsResponse = z.strictObject({ intents: z.array(publicIntent), ...pageResponse });
