import type { PayerIntent, PublicIntent } from '@pf/domain';
import { INTENT_STATUSES } from '@pf/domain';
import { z } from 'zod';
import { unsignedTransaction } from '../intent-state.ts';
import { address, chainId, intentId, reference, tokenAddress, transactionHash } from '../scalars.ts';
import { CLIENT_SECRET, SOLANA_PAY_TOKEN } from '../client-secrets.ts';
import { relayedCall, typedData, x402Settlement } from './authorization.ts';
import { pageResponse } from './paging.ts';
import { replayedResponse } from './replayed.ts';

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
  attribution: z.literal('amount').exactOptional(),
  accept: z.literal('at_least').exactOptional(),
  amountReceived: z.string().exactOptional(),
  amountReceivedBaseUnits: z
    .string()
    .regex(/^\d{1,20}$/)
    .exactOptional(),
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
  erasedAt: time.exactOptional(),
}) satisfies z.ZodType<PublicIntent>;

/** A PaymentIntent in the responses to payers: what `payerView` of the domain returns. */
export const payerIntent = publicIntent.omit({
  idempotencyKey: true,
  metadata: true,
  refundedBy: true,
  refundOf: true,
  erasedAt: true,
}) satisfies z.ZodType<PayerIntent>;

/** What the creator of an intent passes to its payer. */
const forPayer = {
  clientSecret: z
    .string()
    .regex(CLIENT_SECRET)
    .meta({
      description:
        'Opens this one intent to its payer: fetch, events, `detected`, `build` and `submit`, with ' +
        '`Authorization: Bearer <clientSecret>`. Keep it out of logs and out of URLs that reach a server.',
    }),
  paymentUrl: z.url().nullable().meta({
    description: 'The page on which the payer pays; `null` if this service has no such page.',
  }),
};
const solanaPayToken = z
  .string()
  .regex(SOLANA_PAY_TOKEN)
  .nullable()
  .meta({
    description:
      'For the link of a Solana Pay transaction request: fetches and builds this intent, nothing else. `null` on ' +
      'other chains.',
  });

const paymasterUrl = z
  .url()
  .nullable()
  .meta({
    description:
      'The paymaster service (ERC-7677) of this one intent, for the capabilities of `wallet_sendCalls`; `null` where ' +
      '`sponsors` has no `paymaster`.',
  });

/**
 * How the account of an intent pays the fee of its payer: `fee_payer` signs for it behind the payer, `paymaster` pays
 * for the operations of smart accounts.
 */
const payerSponsor = z.enum(['fee_payer', 'paymaster']);
export type PayerSponsor = z.infer<typeof payerSponsor>;
const sponsors = z.array(payerSponsor).meta({
  description:
    'How the account pays the network fee in place of the payer: with `fee_payer`, `build` with `sponsored` makes a ' +
    'transaction of which a sponsor pays the fee; with `paymaster`, smart accounts pay it by `paymasterUrl`. Empty ' +
    'where the payer pays it, and once the intent is no longer `created`. Ignore values that you do not know.',
});

/** The response of the endpoints that change an intent. */
export const intentResponse = z.strictObject({ intent: publicIntent });
/** The response of the endpoints that make an intent. */
export const createdIntentResponse = z.strictObject({ intent: publicIntent, ...forPayer });
/** The response to a create whose idempotency key was used before. */
export const replayedIntentResponse = createdIntentResponse.extend(replayedResponse);
const perhapsForPayer = {
  clientSecret: forPayer.clientSecret.exactOptional(),
  paymentUrl: forPayer.paymentUrl.exactOptional(),
};
/** Keys of scope `full` get with the intent what its payer needs; a person in the dashboard does not. */
export const fetchIntentResponse = z.strictObject({ intent: publicIntent, ...perhapsForPayer });
/** So do people in the dashboard whose role may see secrets. */
export const refundIntentResponse = z.strictObject({ intent: publicIntent, ...perhapsForPayer });

/** The unsigned transaction in the response of `build`, and until when it can land (docs/reference/contract.md). */
export const builtTransaction = unsignedTransaction.extend({
  expiresAt: time.nullable(),
  lastValidBlockHeight: z.number().int().nullable(),
});
export type BuiltTransaction = z.infer<typeof builtTransaction>;
const built = { transaction: builtTransaction };
export const buildIntentResponse = z.strictObject({ intent: publicIntent, ...built });
const submitted = { txSignature: transactionHash };
export const submitIntentResponse = z.strictObject({ intent: publicIntent, ...submitted });
const authorized = { typedData };
export const buildAuthorizationResponse = z.strictObject({ intent: publicIntent, ...authorized });
const relayed = { call: relayedCall, x402: x402Settlement };
export const submitAuthorizationResponse = z.strictObject({ intent: publicIntent, ...relayed });
/** The problem details (RFC 9457) beside the challenge of an MPP payment. */
export const paymentRequiredResponse = z.strictObject({
  type: z.literal('https://paymentauth.org/problems/payment-required'),
  title: z.string(),
  status: z.literal(402),
  detail: z.string(),
  challengeId: z.string(),
});
export const listIntentsResponse = z.strictObject({
  intents: z.array(publicIntent),
  ...pageResponse,
  /** On the last page, where older intents are archived: of those created up to then, some are not listed. */
  endsAt: time.exactOptional(),
});

/** What payers get instead. A client secret gets the token and the sponsors beside the intent. */
export const payerFetchResponse = z.strictObject({
  intent: payerIntent,
  solanaPayToken: solanaPayToken.exactOptional(),
  sponsors: sponsors.exactOptional(),
  paymasterUrl: paymasterUrl.exactOptional(),
});
export const payerCreatedResponse = z.strictObject({ intent: payerIntent, ...forPayer });
export const payerIntentResponse = z.strictObject({ intent: payerIntent });
export const payerBuildResponse = z.strictObject({ intent: payerIntent, ...built });
export const payerAuthorizationResponse = z.strictObject({ intent: payerIntent, ...authorized });
export const payerRelayedResponse = z.strictObject({ intent: payerIntent, ...relayed });
export const payerSubmitResponse = z.strictObject({ intent: payerIntent, ...submitted });
