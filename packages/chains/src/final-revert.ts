import type { IntentId, IntentStatus, Observation, TransactionHash } from '@pf/domain';

/**
 * True where the revert of a live submission means nothing to its intent, which was paid by another transaction, say.
 * Once such a revert is final it is observed as a drop, which ends the submission: otherwise its outcome would stay
 * pending.
 */
export const ignoresReverts = (status: IntentStatus): boolean =>
  status !== 'created' && status !== 'pending' && status !== 'expired';

/** @param place the final block or slot, for the proof's text: `block 12` */
export const finalRevert = (intentId: IntentId, hash: TransactionHash, place: string): Observation => ({
  kind: 'observation',
  type: 'dropped',
  intentId,
  data: {
    hash,
    proof: `it failed on chain in ${place}, which is final, and the intent no longer waited for it`,
  },
});
