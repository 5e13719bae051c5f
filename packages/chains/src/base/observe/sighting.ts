import { address, bigintText, instant, reference, tokenAddress, transactionHash } from '@pf/contracts';
import { DEPOSIT_REASONS } from '@pf/domain';
import { z } from 'zod';

/** A transfer that pays no intent, as it was seen in a block. */
const sighting = z.object({
  hash: transactionHash,
  index: z.string(),
  block: bigintText,
  blockHash: z.string(),
  tokenAddress,
  from: address.nullable(),
  to: address,
  amount: bigintText,
  reference: reference.nullable(),
  reason: z.enum(DEPOSIT_REASONS),
  seenAt: instant,
  reported: z.boolean(),
});
export type Sighting = z.infer<typeof sighting>;
export const sightings = z.array(sighting);
