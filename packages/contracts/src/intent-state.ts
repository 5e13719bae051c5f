import type {
  Build,
  Lifetime,
  Metadata,
  PaymentIntent,
  PaymentTerms,
  PreparedTransaction,
  Settlement,
  Submission,
  Transfer,
  UnsignedTransaction,
} from '@pf/domain';
import { INTENT_STATUSES, TRANSACTION_FORMATS } from '@pf/domain';
import { z } from 'zod';
import { FORMATS, upcast, versionOf } from './evolution.ts';
import {
  accountId,
  address,
  baseUnits,
  bigintText,
  chainId,
  depositId,
  instant,
  intentId,
  reference,
  text,
  toJson,
  tokenAddress,
  transactionHash,
} from './scalars.ts';

/**
 * Schemas of the domain's types as messages and the projection's `state` column store them. Loose: a field that newer
 * code has added survives when this code reads a state, changes it and stores it again.
 */
export const lifetime = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('unlimited') }),
  z.looseObject({ kind: z.literal('block_height'), lastValid: bigintText }),
  z.looseObject({ kind: z.literal('time'), validBefore: bigintText }),
]) satisfies z.ZodType<Lifetime>;

export const unsignedTransaction = z.looseObject({
  blob: z.string(),
  format: z.enum(TRANSACTION_FORMATS),
  ataRentLamports: z.number().nullable(),
  estimatedFeeLamports: z.number().nullable(),
  estimatedFeeUsdc: z.string().nullable(),
  estimatedFeeEth: z.string().nullable(),
}) satisfies z.ZodType<UnsignedTransaction>;

export const build = z.looseObject({
  version: z.number().int(),
  fulfiller: address,
  transaction: unsignedTransaction,
  lifetime,
}) satisfies z.ZodType<Build>;

export const paymentTerms = z.looseObject({
  chain: chainId,
  tokenAddress,
  amount: bigintText,
  requestor: address,
  reference,
}) satisfies z.ZodType<PaymentTerms>;

export const preparedTransaction = z.looseObject({
  hash: transactionHash,
  sender: address,
  nonce: z.string().nullable(),
  lifetime,
  terms: paymentTerms,
}) satisfies z.ZodType<PreparedTransaction>;

export const submission = preparedTransaction.extend({
  status: z.enum(['live', 'released', 'replaced', 'dropped', 'landed', 'reverted']),
  attempts: z.number().int(),
  preparedAt: instant,
  broadcastAt: instant.nullable(),
  claims: z.number().int().positive().exactOptional(),
}) satisfies z.ZodType<Submission>;

export const transfer = z.looseObject({
  tokenAddress,
  from: address,
  to: address,
  amount: bigintText,
  reference,
  block: bigintText,
  blockHash: z.string().nullable(),
  index: z.string(),
}) satisfies z.ZodType<Transfer>;

export const settlement = z.looseObject({
  hash: transactionHash,
  transfer,
  finalized: z.boolean(),
  lost: z.boolean(),
  depositId: depositId.exactOptional(),
}) satisfies z.ZodType<Settlement>;

export const metadata = z.record(text, text) satisfies z.ZodType<Metadata>;

const paymentIntent = z.looseObject({
  id: intentId,
  version: z.number().int().positive(),
  accountId,
  livemode: z.boolean(),
  idempotencyKey: z.string().nullable(),
  chain: chainId,
  token: z.string(),
  tokenAddress,
  decimals: z.number().int(),
  amount: z.string(),
  amountBaseUnits: baseUnits,
  requestor: address,
  fulfiller: address.nullable(),
  direction: z.enum(['request', 'send']),
  attribution: z.literal('amount').exactOptional(),
  accept: z.literal('at_least').exactOptional(),
  status: z.enum(INTENT_STATUSES),
  retryRequired: z.boolean(),
  pendingAtExpiry: z.boolean(),
  reference,
  txSignature: transactionHash.nullable(),
  ataRentLamports: z.number().nullable(),
  ttlSeconds: z.number().int(),
  metadata: metadata.nullable(),
  refundedBy: intentId.nullable(),
  refundOf: intentId.nullable(),
  createdAt: instant,
  updatedAt: instant,
  expiresAt: instant,
  detectedAt: instant.nullable(),
  confirmedAt: instant.nullable(),
  finalizedAt: instant.nullable(),
  closedAt: instant.nullable(),
  simulated: z.boolean(),
  build: build.nullable(),
  submissions: z.array(submission),
  settlement: settlement.nullable(),
  transfers: z.array(z.string()),
  // Rows written before these fields existed lack them.
  extraPayments: z
    .array(z.looseObject({ hash: transactionHash, transfer, depositId: depositId.exactOptional() }))
    .default([]),
  otherRefunds: z.array(intentId).default([]),
  // In the order in which evolve() adds them: the bytes are those of the fold.
  amountReceived: baseUnits.exactOptional(),
  otherClaims: z.array(z.looseObject({ hash: transactionHash, intentIds: z.array(intentId) })).exactOptional(),
  undoneExtras: z.array(z.string()).exactOptional(),
  disproved: z.array(z.string()).exactOptional(),
  deposits: z.array(z.looseObject({ id: depositId, version: z.number().int().positive() })).exactOptional(),
  erasedAt: instant.exactOptional(),
  heldFrom: z.number().int().positive().exactOptional(),
}) satisfies z.ZodType<PaymentIntent>;

/** The domain's complete state of an intent as JSON. Folds of the same events give the same bytes. */
export const encodeIntent = (intent: PaymentIntent): string =>
  // Without a version it is 1: the bytes of rows that were written before there were versions stay what they are.
  toJson(intent.accept === undefined ? intent : { ...intent, schemaVersion: versionOf(FORMATS.intentState) });
/** @throws SyntaxError, ZodError or NewerVersionError if the text is not a state that this code understands */
export const decodeIntent = (text: string): PaymentIntent => {
  const intent = paymentIntent.parse(upcast(FORMATS.intentState, JSON.parse(text)));
  delete intent['schemaVersion'];
  return intent;
};
