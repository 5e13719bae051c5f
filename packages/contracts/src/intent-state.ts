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
import { INTENT_STATUSES } from '@pf/domain';
import { z } from 'zod';
import {
  accountId,
  address,
  baseUnits,
  bigintText,
  chainId,
  instant,
  intentId,
  reference,
  text,
  toJson,
  tokenAddress,
  transactionHash,
} from './scalars.ts';

/** Schemas of the domain's types as messages and the projection's `state` column store them. */
export const lifetime = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('unlimited') }),
  z.object({ kind: z.literal('block_height'), lastValid: bigintText }),
  z.object({ kind: z.literal('time'), validBefore: bigintText }),
]) satisfies z.ZodType<Lifetime>;

export const unsignedTransaction = z.object({
  blob: z.string(),
  format: z.enum(['solana_v0_message', 'evm_rlp', 'tempo_tip20']),
  ataRentLamports: z.number().nullable(),
  estimatedFeeLamports: z.number().nullable(),
  estimatedFeeUsdc: z.string().nullable(),
  estimatedFeeEth: z.string().nullable(),
}) satisfies z.ZodType<UnsignedTransaction>;

export const build = z.object({
  version: z.number().int(),
  fulfiller: address,
  transaction: unsignedTransaction,
  lifetime,
}) satisfies z.ZodType<Build>;

export const paymentTerms = z.object({
  chain: chainId,
  tokenAddress,
  amount: bigintText,
  requestor: address,
  reference,
}) satisfies z.ZodType<PaymentTerms>;

export const preparedTransaction = z.object({
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
}) satisfies z.ZodType<Submission>;

export const transfer = z.object({
  tokenAddress,
  from: address,
  to: address,
  amount: bigintText,
  reference,
  block: bigintText,
  blockHash: z.string().nullable(),
  index: z.string(),
}) satisfies z.ZodType<Transfer>;

export const settlement = z.object({
  hash: transactionHash,
  transfer,
  finalized: z.boolean(),
  lost: z.boolean(),
}) satisfies z.ZodType<Settlement>;

export const metadata = z.record(text, text) satisfies z.ZodType<Metadata>;

const paymentIntent = z.object({
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
  extraPayments: z.array(z.object({ hash: transactionHash, transfer })).default([]),
  otherRefunds: z.array(intentId).default([]),
}) satisfies z.ZodType<PaymentIntent>;

/** The domain's complete state of an intent as JSON. Folds of the same events give the same bytes. */
export const encodeIntent = (intent: PaymentIntent): string => toJson(intent);
/** @throws SyntaxError or ZodError if the text is not the state of an intent */
export const decodeIntent = (text: string): PaymentIntent => paymentIntent.parse(JSON.parse(text));
