import type { IntentId, Observation, Settlement, Submission, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import type { WatchedIntent, WatchSet } from '../../port.ts';
import { finalRevert, ignoresReverts } from '../../final-revert.ts';
import { lost } from '../../lost.ts';
import { partsOf } from '../../parts.ts';
import {
  type EpochInfo,
  getBlockTime,
  getEpochInfo,
  getFirstAvailableBlock,
  getSignatureStatuses,
  getTransaction,
  type LandedTransaction,
  type SignatureStatus,
  STATUSES_MAX,
} from '../calls.ts';
import { reasonOf } from '../refusal.ts';
import { decodeSigned, programsOf } from '../signed-transaction.ts';
import { BLOCKHASH_BLOCKS } from '../landable.ts';
import type { Memory } from './memory.ts';

type Submitted = WatchedIntent & { readonly submission: Submission };
type Settling = WatchedIntent & { readonly settlement: Settlement };

/** A transaction whose outcome is not known: a live submission, or a settlement that is not final or was lost. */
export type PendingOutcome =
  /** `ignoresRevert`: its failure would change nothing for the intent, but end the submission. */
  | {
      readonly kind: 'submitted';
      readonly intentId: IntentId;
      readonly hash: TransactionHash;
      readonly lastValid: bigint;
      readonly since: number;
      readonly ignoresRevert: boolean;
    }
  | {
      readonly kind: 'settling';
      readonly intentId: IntentId;
      readonly hash: TransactionHash;
      readonly settlement: Settlement;
      readonly since: number;
    }
  | {
      readonly kind: 'lost';
      readonly intentId: IntentId;
      readonly hash: TransactionHash;
      readonly lastValid: bigint | null;
      readonly since: number;
    };

/** The newest confirmed and the newest final block. */
export interface Heads {
  readonly confirmed: EpochInfo;
  readonly finalized: EpochInfo;
}

export interface Judgement {
  /** Settlements that are final, and settlements that are no longer where they were. */
  readonly observations: readonly Observation[];
  /** In a confirmed block: the transactions themselves tell what they paid, or why they failed. */
  readonly landed: readonly PendingOutcome[];
  /** This node has none of these in its recent blocks. */
  readonly missing: readonly PendingOutcome[];
}

/** How often all upstreams are asked for a missing transaction. */
const PROVE_EVERY_MS = 5_000;
/** A transaction sent longer ago than this should be in a block. */
const LATE_MS = 3_000;
/** A transaction older than this may have been pruned from a node's history: then the start of that history is read. */
const PRUNED_MS = 3_600_000;

export function pendingOutcomesOf(watch: WatchSet, lost: Readonly<Record<string, bigint>>): readonly PendingOutcome[] {
  const submitted = ({ id, status, submission: { hash, lifetime, preparedAt } }: Submitted): PendingOutcome[] =>
    lifetime.kind === 'block_height'
      ? [
          {
            kind: 'submitted',
            intentId: id,
            hash,
            lastValid: lifetime.lastValid,
            since: preparedAt,
            ignoresRevert: ignoresReverts(status),
          },
        ]
      : [];
  const settling = ({ id, settlement, createdAt }: Settling): PendingOutcome =>
    settlement.lost
      ? {
          kind: 'lost',
          intentId: id,
          hash: settlement.hash,
          lastValid: lost[settlement.hash] ?? null,
          since: createdAt,
        }
      : { kind: 'settling', intentId: id, hash: settlement.hash, settlement, since: createdAt };
  return [...[...watch.submitted()].flatMap(submitted), ...[...watch.settling()].map(settling)];
}

/** The calls for the status of each, 256 per call. */
export const statusCalls = (
  pendingOutcomes: readonly PendingOutcome[],
): readonly ReturnType<typeof getSignatureStatuses>[] =>
  partsOf(pendingOutcomes, STATUSES_MAX).map((part) =>
    getSignatureStatuses(
      part.map(({ hash }) => hash),
      false,
    ),
  );

/** True in a block that is at least confirmed. Old nodes do not name the level. */
const isConfirmed = ({ confirmationStatus, slot }: SignatureStatus, { confirmed }: Heads): boolean =>
  confirmationStatus === 'confirmed' ||
  confirmationStatus === 'finalized' ||
  ((confirmationStatus ?? null) === null && slot <= confirmed.absoluteSlot);
const isFinal = ({ confirmationStatus, slot }: SignatureStatus, { finalized }: Heads): boolean =>
  confirmationStatus === 'finalized' || ((confirmationStatus ?? null) === null && slot <= finalized.absoluteSlot);

/** Sorts the pending outcomes by their statuses. */
export function judge(
  pendingOutcomes: readonly PendingOutcome[],
  statuses: readonly (SignatureStatus | null)[],
  heads: Heads,
): Judgement {
  const observations: Observation[] = [];
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
      if (isFinal(status, heads))
        observations.push({
          kind: 'observation',
          type: 'landed',
          intentId,
          data: { hash: settlement.hash, level: 'finalized', transfer: settlement.transfer },
        });
      return;
    }
    // It is in another block now, which is different evidence, or has failed there.
    observations.push(lost(intentId, settlement));
    landed.push(pending);
  });
  return { observations, landed, missing };
}

/**
 * The missing transactions for which all upstreams are asked: the final chain is past every block that they could be
 * in. Or, with several upstreams, they are late: this node may be the only one that does not have them.
 */
export function dueProofs(
  missing: readonly PendingOutcome[],
  { finalized }: Heads,
  memory: Memory,
  hasOthers: boolean,
  now: number,
): readonly PendingOutcome[] {
  memory.keepProven(new Set(missing.map(({ hash }) => hash)));
  return missing
    .filter((pending) => isPassed(pending, finalized) || (hasOthers && now - pending.since >= LATE_MS))
    .filter(({ hash }) => now - (memory.provenAt.get(hash) ?? -Infinity) >= PROVE_EVERY_MS)
    .slice(0, STATUSES_MAX);
}

/** True where the final chain is past every block that it could be in. */
const isPassed = (pending: PendingOutcome, finalized: EpochInfo): boolean =>
  pending.kind === 'settling'
    ? finalized.absoluteSlot > pending.settlement.transfer.block
    : pending.lastValid !== null && finalized.blockHeight > pending.lastValid;

/** What one upstream has of a transaction that others miss. */
interface UpstreamEvidence {
  readonly status: SignatureStatus | null;
  readonly transaction: LandedTransaction | null;
  /** The final chain is past it there, and the node's history covers the whole time in question. */
  readonly isProof: boolean;
}

export interface Proof {
  readonly pending: PendingOutcome;
  /** known: it is in a confirmed block. absent: it is in no block and can be in none. open: neither is certain. */
  readonly kind: 'known' | 'absent' | 'open';
  readonly status: SignatureStatus | null;
  readonly transaction: LandedTransaction | null;
  readonly finalized: EpochInfo | null;
}

/**
 * Asks every upstream, with its history, for the transactions. `absent` only where all that respond are past it and do
 * not have it, at least two where two are configured: a node that lags, lies or has lost its history proves nothing.
 */
export async function prove(
  pool: RpcPool,
  pendingOutcomes: readonly PendingOutcome[],
  now: number,
): Promise<readonly Proof[]> {
  if (pendingOutcomes.length === 0) return [];
  const { responses, conclusive } = await pool.onAll((node) => gatherEvidence(node, pendingOutcomes, now));
  return pendingOutcomes.map((pending, place): Proof => {
    const of = responses.flatMap(({ of: all }) => all[place] ?? []);
    const known = of.find(({ status, transaction }) => status !== null && transaction !== null);
    if (known !== undefined)
      return { pending, kind: 'known', status: known.status, transaction: known.transaction, finalized: null };
    const isAbsent = conclusive && of.every(({ status, isProof }) => status === null && isProof);
    return {
      pending,
      kind: isAbsent ? 'absent' : 'open',
      status: null,
      transaction: null,
      finalized: responses[0]?.finalized ?? null,
    };
  });
}

async function gatherEvidence(
  node: RpcNode,
  pendingOutcomes: readonly PendingOutcome[],
  now: number,
): Promise<{ readonly finalized: EpochInfo; readonly of: readonly UpstreamEvidence[] }> {
  // First the final slot, then the statuses: a result of an older slot would prove nothing about it.
  const finalized = await node.call(getEpochInfo('finalized'));
  const { context, value } = await node.call(
    getSignatureStatuses(
      pendingOutcomes.map(({ hash }) => hash),
      true,
    ),
  );
  const oldest = Math.min(...pendingOutcomes.map(({ since }) => since));
  const reachesBack = now - oldest < PRUNED_MS || (await historyBegin(node)) <= oldest;
  const shown = pendingOutcomes.filter((_fate, place) => (value[place] ?? null) !== null);
  const transactions = shown.length === 0 ? [] : await node.batch(shown.map(({ hash }) => getTransaction(hash)));
  const byHash = new Map(shown.map(({ hash }, place) => [hash, transactions[place] ?? null]));
  const of = pendingOutcomes.map((pending, place): UpstreamEvidence => {
    return {
      status: value[place] ?? null,
      transaction: byHash.get(pending.hash) ?? null,
      isProof: isPassed(pending, finalized) && reachesBack && context.slot >= finalized.absoluteSlot,
    };
  });
  return { finalized, of };
}

/** Time of the oldest block that this node still has, in ms since 1970. */
async function historyBegin(node: RpcNode): Promise<number> {
  const first = await node.call(getFirstAvailableBlock());
  if (first === 0n) return 0;
  const seconds = await node.call(getBlockTime(first));
  return seconds === null ? Infinity : seconds * 1_000;
}

/** The observation that follows from a proof of absence. */
export function absence({ pending, finalized }: Proof): Observation {
  const { intentId, hash } = pending;
  if (pending.kind === 'settling') return lost(intentId, pending.settlement);
  const proof =
    `its blockhash was valid up to block height ${pending.lastValid ?? '?'}, the final block height is ` +
    `${finalized?.blockHeight ?? '?'}, and no upstream has the transaction in its history`;
  return { kind: 'observation', type: 'dropped', intentId, data: { hash, proof } };
}

/**
 * A landed transaction had a valid blockhash: once lost, it can land again for this many blocks after any block that
 * had it.
 */
export const lostUntil = ({ confirmed }: Heads): bigint => confirmed.blockHeight + BLOCKHASH_BLOCKS;

/** Why a transaction in a block failed, as text; null where it succeeded. */
export function failureIn({ transaction, meta }: LandedTransaction): string | null {
  const error = meta?.err ?? null;
  if (error === null) return null;
  const decoded = decodeSigned(transaction);
  return `the transaction failed on chain: ${reasonOf(error, decoded.ok ? programsOf(decoded.value) : [])}`;
}
