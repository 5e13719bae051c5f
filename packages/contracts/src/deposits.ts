import {
  DEPOSIT_EVENT_TYPES,
  DEPOSIT_LEVELS,
  DEPOSIT_REASONS,
  DEPOSIT_STATES,
  type DepositEventType,
  type PublicDeposit,
} from '@pf/domain';
import { z } from 'zod';
import { chain, moment, must, token, wallet, word } from './api/fields.ts';
import { pageQuery, pageResponse } from './api/paging.ts';
import { address, chainId, depositId, intentId, reference, tokenAddress, transactionHash } from './scalars.ts';

const time = z.iso.datetime({ precision: 3 });

/** A deposit as integrators see it (docs/reference/contract.md). */
export const publicDeposit = z.strictObject({
  id: depositId,
  chain: chainId,
  token: z.string().nullable(),
  tokenAddress: tokenAddress.nullable(),
  amount: z.string().nullable(),
  amountBaseUnits: z.string().regex(/^\d{1,78}$/),
  recipient: address,
  sender: address.nullable(),
  reference: reference.nullable(),
  txSignature: transactionHash,
  transferIndex: z.string(),
  block: z.string().regex(/^\d{1,78}$/),
  blockTime: time.nullable(),
  level: z.enum(DEPOSIT_LEVELS),
  state: z.enum(DEPOSIT_STATES),
  reason: z.enum(DEPOSIT_REASONS),
  intentId: intentId.nullable(),
  createdAt: time,
  updatedAt: time,
  livemode: z.boolean(),
}) satisfies z.ZodType<PublicDeposit>;

/** GET /deposits: filters are combined with AND. The chain adapters parse what depends on a chain. */
export const listDepositsQuery = z.strictObject({
  ...pageQuery,
  state: z
    .array(z.enum(DEPOSIT_STATES, must(`one of ${DEPOSIT_STATES.join(', ')}`)))
    .optional()
    .meta({ description: 'State of the deposit. Repeat it for several: `state=open&state=assigned`.' }),
  chain: chain
    .optional()
    .meta({ description: 'CAIP-2 id. With a test key, the id of a live chain selects its testnet.' }),
  token: token.optional().meta({ description: 'A token symbol, which matches on all chains, or a token address.' }),
  recipient: wallet.optional().meta({ description: 'The wallet that has received it.' }),
  txSignature: word('a transaction hash or signature')
    .optional()
    .meta({ description: 'Hash or signature of the transaction.' }),
  createdAfter: moment.optional().meta({ description: 'First seen after this time.' }),
  createdBefore: moment.optional().meta({ description: 'First seen before this time.' }),
});

/** POST /deposits/{id}/assign. */
export const assignDepositRequest = z.strictObject({
  intentId: word('the id of a payment intent').meta({
    description: 'The payment intent that the deposit pays: with its network, token, recipient and amount.',
  }),
});

export const depositResponse = z.strictObject({ deposit: publicDeposit });
export const listDepositsResponse = z.strictObject({ deposits: z.array(publicDeposit), ...pageResponse });

/** The bodies of their webhooks. */
export const depositEvents = Object.fromEntries(
  DEPOSIT_EVENT_TYPES.map((type) => [
    type,
    z.strictObject({
      eventId: z.string(),
      type: z.literal(type),
      createdAt: time,
      livemode: z.boolean(),
      data: z.strictObject({ deposit: publicDeposit }),
    }),
  ]),
) as unknown as Readonly<Record<DepositEventType, z.ZodType>>;
