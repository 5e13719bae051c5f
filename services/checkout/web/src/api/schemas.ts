import { families } from '@pf/chains/networks';
import * as z from 'zod/mini';

/** What the page reads of an intent (docs/reference/contract.md). Fields that it does not know are ignored. */
export const intentSchema = z.object({
  id: z.string(),
  chain: z.string(),
  token: z.string(),
  tokenAddress: z.string(),
  amount: z.string(),
  amountBaseUnits: z.string().check(z.regex(/^\d{1,20}$/)),
  requestor: z.string(),
  fulfiller: z.nullable(z.string()),
  direction: z.enum(['request', 'send']),
  /** `amount`: a plain transfer of exactly the amount pays it, too. */
  attribution: z.optional(z.string()),
  /** What its payment has brought, where it accepts more than its amount. */
  amountReceived: z.optional(z.string()),
  amountReceivedBaseUnits: z.optional(z.string()),
  state: z.enum(['created', 'pending', 'confirmed', 'finalized', 'failed', 'expired', 'cancelled']),
  retryRequired: z.boolean(),
  pendingAtExpiry: z.boolean(),
  reference: z.string(),
  txSignature: z.nullable(z.string()),
  detectedAt: z.nullable(z.string()),
  ataRentLamports: z.nullable(z.number()),
  createdAt: z.string(),
  expiresAt: z.string(),
  confirmedAt: z.nullable(z.string()),
  updatedAt: z.string(),
  livemode: z.boolean(),
});
export type Intent = z.infer<typeof intentSchema>;

export const fetchedSchema = z.object({
  intent: intentSchema,
  solanaPayToken: z.optional(z.nullable(z.string())),
  sponsors: z.optional(z.array(z.string())),
  paymasterUrl: z.optional(z.nullable(z.string())),
});

const paymentSchema = z.object({
  txSignature: z.string(),
  sender: z.string(),
  amount: z.nullable(z.string()),
  differs: z.array(z.string()),
});
/** A transfer that arrived otherwise than it was asked for. */
export type UnexpectedPayment = z.infer<typeof paymentSchema>;

/** An event of the stream, or of the history. */
export const eventSchema = z.object({
  type: z.string(),
  data: z.object({ intent: intentSchema, payment: z.optional(paymentSchema) }),
});
export type IntentEvent = z.infer<typeof eventSchema>;
export const historySchema = z.object({ events: z.array(eventSchema) });

const transactionSchema = z.object({
  blob: z.string().check(z.maxLength(16_384)),
  format: z.enum(Object.values(families).map(({ format }) => format)),
  ataRentLamports: z.nullable(z.number()),
  estimatedFeeLamports: z.nullable(z.number()),
  estimatedFeeUsdc: z.nullable(z.string()),
  estimatedFeeEth: z.nullable(z.string()),
  // A service from before the field says nothing of it.
  expiresAt: z._default(z.nullable(z.string()), null),
});
/** An unsigned transaction, what it will cost, and until when it can land. */
export type Unsigned = z.infer<typeof transactionSchema>;
export const builtSchema = z.object({ intent: intentSchema, transaction: transactionSchema });

export const errorSchema = z.object({
  error: z.object({
    code: z.string(),
    param: z.nullable(z.string()),
    details: z.nullable(z.looseObject({ retry_after: z.optional(z.number()), reason: z.optional(z.string()) })),
  }),
});

export const merchantSchema = z.object({
  name: z.string(),
  logo: z.nullable(z.string()),
  accentColor: z.nullable(z.string()),
  supportUrl: z.nullable(z.string()),
  returnOrigins: z.array(z.string()),
});
/** Who is paid, as the account's settings say. */
export type Merchant = z.infer<typeof merchantSchema>;

/** What the page reads of a payment link. */
export const paymentLinkSchema = z.object({
  id: z.string(),
  amount: z.string(),
  offers: z.array(z.object({ chain: z.string(), token: z.string() })),
  state: z.enum(['open', 'paid', 'cancelled', 'expired']),
  intents: z.array(z.object({ offer: z.number(), intentId: z.string() })),
  paidBy: z.nullable(z.string()),
  livemode: z.boolean(),
});
export type PaymentLink = z.infer<typeof paymentLinkSchema>;
