import type { IntentId, Landing, Observation } from '@pf/domain';

/** A reorg has orphaned this landing. */
export const lost = (intentId: IntentId, { hash, transfer: { block, blockHash } }: Landing): Observation => ({
  kind: 'observation',
  type: 'lost',
  intentId,
  data: { hash, place: { block, blockHash } },
});
