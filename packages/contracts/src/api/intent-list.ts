import { INTENT_STATUSES } from '@pf/domain';
import { z } from 'zod';
import { chain, direction, metadata, moment, must, token, wallet, word } from './fields.ts';
import { METADATA_KEYS_MAX } from './limits.ts';
import { pageQuery } from './paging.ts';

/** Solana: a public key in base58. EVM: 32 bytes in hex, which are written in lower case. */
const REFERENCE = /^(0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;
const referenceRule = must('a reference: 0x and 64 hexadecimal digits on EVM chains, base58 of 32 bytes on Solana');
const reference = z
  .string(referenceRule)
  .regex(REFERENCE, referenceRule)
  .transform((value) => (value.startsWith('0x') ? value.toLowerCase() : value));

/** GET /intents: the filters must all hold. What depends on a chain is read by its adapter after this. */
export const listIntentsQuery = z.strictObject({
  ...pageQuery,
  state: z
    .array(z.enum(INTENT_STATUSES, must(`one of ${INTENT_STATUSES.join(', ')}`)))
    .optional()
    .meta({ description: 'In one of these states: `state=created&state=pending`.' }),
  chain: chain.optional().meta({ description: 'CAIP-2. Under a test key a live chain means its testnet.' }),
  token: token.optional().meta({ description: 'A symbol, on all chains, or the address of a token.' }),
  direction: direction.optional(),
  requestor: wallet.optional().meta({ description: 'The wallet that is to be paid.' }),
  fulfiller: wallet.optional().meta({ description: 'The wallet that pays.' }),
  reference: reference.optional(),
  txSignature: word('a transaction hash or signature')
    .optional()
    .meta({ description: 'The hash or signature of the transaction that pays.' }),
  createdAfter: moment.optional().meta({ description: 'Created later than this moment.' }),
  createdBefore: moment.optional().meta({ description: 'Created earlier than this moment.' }),
  metadata: metadata.optional().meta({
    description: `Metadata with these values: \`metadata[order]=A-1001\`; at most ${METADATA_KEYS_MAX} keys.`,
    param: { style: 'deepObject', explode: true },
  }),
});
export type ListIntentsQuery = z.infer<typeof listIntentsQuery>;
