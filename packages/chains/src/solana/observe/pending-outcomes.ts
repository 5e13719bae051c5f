import type { Address, IntentId, Observation, Settlement, Submission, TransactionHash } from '@pf/domain';
import type { OpenDeposit, WatchedIntent, WatchSet } from '../../port.ts';
import { finalRevert, ignoresReverts } from '../../final-revert.ts';
import { lost } from '../../lost.ts';
import { partsOf } from '../../parts.ts';
import { type EpochInfo, getSignatureStatuses, type SignatureStatus, STATUSES_MAX } from '../calls.ts';
import { BLOCKHASH_BLOCKS } from '../landable.ts';

type Submitted = WatchedIntent & { readonly submission: Submission };
type Settling = WatchedIntent & { readonly settlement: Settlement };

interface Pending {
  readonly intentId: IntentId;
  readonly requestor: Address;
  readonly hash: TransactionHash;
  readonly since: number;
}
/** `ignoresRevert`: its failure would change nothing for the intent, but end the submission. */
interface PendingSubmission extends Pending {
  readonly kind: 'submitted';
  readonly lastValid: bigint;
  readonly ignoresRevert: boolean;
}
export interface PendingSettlement extends Pending {
  readonly kind: 'settling';
  readonly settlement: Settlement;
}
interface LostSettlement extends Pending {
  readonly kind: 'lost';
  readonly lastValid: bigint | null;
}
/** A transaction whose outcome is not known: a live submission, or a settlement that is not final or was lost. */
export type PendingOutcome = PendingSubmission | PendingSettlement | LostSettlement;
/** The deposits of one transaction that are not final. */
export interface PendingDeposits {
  readonly kind: 'deposits';
  readonly hash: TransactionHash;
  /** Whose wallet has got one of them. */
  readonly requestor: Address;
  readonly since: number;
  readonly block: bigint;
  readonly deposits: readonly OpenDeposit[];
}
export type Provable = PendingOutcome | PendingDeposits;

/** The newest confirmed and the newest final block. */
export interface Heads {
  readonly confirmed: EpochInfo;
  readonly finalized: EpochInfo;
}

export interface Judgement {
  /** Settlements that are no longer where they were, and failures that no longer matter. */
  readonly observations: readonly Observation[];
  /** Settlements that are final, by the word of this node. */
  readonly final: readonly PendingSettlement[];
  /** In a confirmed block: the transactions themselves tell what they paid, or why they failed. */
  readonly landed: readonly PendingOutcome[];
  /** This node has none of these in its recent blocks. */
  readonly missing: readonly PendingOutcome[];
}

export function pendingOutcomesOf(watch: WatchSet, lost: Readonly<Record<string, bigint>>): readonly PendingOutcome[] {
  const submitted = ({ id, status, terms, submission: { hash, lifetime, preparedAt } }: Submitted): PendingOutcome[] =>
    lifetime.kind === 'block_height'
      ? [
          {
            kind: 'submitted',
            intentId: id,
            requestor: terms.requestor,
            hash,
            lastValid: lifetime.lastValid,
            since: preparedAt,
            ignoresRevert: ignoresReverts(status),
          },
        ]
      : [];
  const settling = ({ id, terms: { requestor }, settlement, createdAt }: Settling): PendingOutcome => {
    const pending = { intentId: id, requestor, hash: settlement.hash, since: createdAt };
    return settlement.lost
      ? { ...pending, kind: 'lost', lastValid: lost[settlement.hash] ?? null }
      : { ...pending, kind: 'settling', settlement };
  };
  return [...[...watch.submitted()].flatMap(submitted), ...[...watch.settling()].map(settling)];
}

/** The calls for the status of each, 256 per call. */
export const statusCalls = (
  transactions: readonly Pick<Provable, 'hash'>[],
): readonly ReturnType<typeof getSignatureStatuses>[] =>
  partsOf(transactions, STATUSES_MAX).map((part) =>
    getSignatureStatuses(
      part.map(({ hash }) => hash),
      false,
    ),
  );

/** True in a block that is at least confirmed. Old nodes do not name the level. */
export const isConfirmed = ({ confirmationStatus, slot }: SignatureStatus, { confirmed }: Heads): boolean =>
  confirmationStatus === 'confirmed' ||
  confirmationStatus === 'finalized' ||
  ((confirmationStatus ?? null) === null && slot <= confirmed.absoluteSlot);
export const isFinal = ({ confirmationStatus, slot }: SignatureStatus, { finalized }: Heads): boolean =>
  confirmationStatus === 'finalized' || ((confirmationStatus ?? null) === null && slot <= finalized.absoluteSlot);

/** Sorts the pending outcomes by their statuses. */
export function judge(
  pendingOutcomes: readonly PendingOutcome[],
  statuses: readonly (SignatureStatus | null)[],
  heads: Heads,
): Judgement {
  const observations: Observation[] = [];
  const final: PendingSettlement[] = [];
  const landed: PendingOutcome[] = [];
  const missing: PendingOutcome[] = [];
  pendingOutcomes.forEach((pending, place) => {
    const status = statuses[place] ?? null;
    if (status === null) return void missing.push(pending);
    if (!isConfirmed(status, heads)) return;
    if (pending.kind === 'submitted' && pending.ignoresRevert && status.err !== null) {
      if (isFinal(status, heads)) observations.push(finalRevert(pending.intentId, pending.hash, `slot ${status.slot}`));
      return;
    }
    if (pending.kind !== 'settling') return void landed.push(pending);
    const { intentId, settlement } = pending;
    if (status.err === null && settlement.transfer.block === status.slot) {
      if (isFinal(status, heads)) final.push(pending);
      return;
    }
    // It is in another block now, which is different evidence, or has failed there.
    observations.push(lost(intentId, settlement));
    landed.push(pending);
  });
  return { observations, final, landed, missing };
}

/**
 * A landed transaction had a valid blockhash: once lost, it can land again for this many blocks after any block that
 * had it.
 */
export const lostUntil = ({ confirmed }: Heads): bigint => confirmed.blockHeight + BLOCKHASH_BLOCKS;
