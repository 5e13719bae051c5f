import type { IntentId, IntentStatus, Observation, TransactionHash } from '@pf/domain';

/**
 * True where the revert of a live submission says nothing to its intent, which was paid otherwise, say (lifecycle.md). Once
 * that revert is final it is told as a drop, which ends the submission: else it would be looked for for ever.
 */
export const ignoresReverts = (status: IntentStatus): boolean =>
  status !== 'created' && status !== 'pending' && status !== 'expired';

/** @param place of the final block or slot, in words */
export const finalRevert = (intentId: IntentId, hash: TransactionHash, place: string): Observation => ({
  kind: 'observation',
  type: 'dropped',
  intentId,
  data: {
    hash,
    proof: `it failed on chain in ${place}, which is final, and the intent no longer waited for it`,
  },
});
