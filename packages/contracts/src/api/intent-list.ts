import { INTENT_STATUSES } from '@pf/domain';
import { z } from 'zod';
import { chain, direction, metadataFilter, moment, must, token, wallet, word } from './fields.ts';
import { METADATA_KEYS_MAX } from './limits.ts';
import { pageQuery } from './paging.ts';

/** Solana: a base58 public key. EVM: 32 bytes in hex, stored in lower case. */
const REFERENCE = /^(0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;
const referenceRule = must(
  'a payment reference: 0x and 64 hexadecimal digits on EVM chains, 32 bytes in base58 on Solana',
);
const reference = z
  .string(referenceRule)
  .regex(REFERENCE, referenceRule)
  .transform((value) => (value.startsWith('0x') ? value.toLowerCase() : value));

/** GET /intents: filters are combined with AND. The chain adapters parse what depends on a chain. */
export const listIntentsQuery = z.strictObject({
  ...pageQuery,
  state: z
    .array(z.enum(INTENT_STATUSES, must(`one of ${INTENT_STATUSES.join(', ')}`)))
    .optional()
    .meta({ description: 'State of the intent. Repeat it for several: `state=created&state=pending`.' }),
  chain: chain
    .optional()
    .meta({ description: 'CAIP-2 id. With a test key, the id of a live chain selects its testnet.' }),
  token: token.optional().meta({ description: 'A token symbol, which matches on all chains, or a token address.' }),
  direction: direction.optional(),
  requestor: wallet.optional().meta({ description: 'The wallet that receives the payment.' }),
  fulfiller: wallet.optional().meta({ description: 'The wallet that pays.' }),
  reference: reference.optional(),
  txSignature: word('a transaction hash or signature')
    .optional()
    .meta({ description: 'Hash or signature of the transaction that pays.' }),
  createdAfter: moment.optional().meta({ description: 'Created after this time.' }),
  createdBefore: moment.optional().meta({ description: 'Created before this time.' }),
  metadata: metadataFilter.optional().meta({
    description: `Metadata values to match: \`metadata[order]=A-1001\`; at most ${METADATA_KEYS_MAX} keys.`,
    param: { style: 'deepObject', explode: true },
  }),
});
export type ListIntentsQuery = z.infer<typeof listIntentsQuery>;
