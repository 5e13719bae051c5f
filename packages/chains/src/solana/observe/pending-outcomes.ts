import type { Address, IntentId, Observation, Settlement, Submission, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import type { OpenDeposit, WatchedIntent, WatchSet } from '../../port.ts';
import { finalRevert, ignoresReverts } from '../../final-revert.ts';
import { lost } from '../../lost.ts';
import { partsOf } from '../../parts.ts';
import {
  type EpochInfo,
  getBlockTime,
  getEpochInfo,
  getFirstAvailableBlock,
  getSignatureStatuses,
  type SignatureStatus,
  STATUSES_MAX,
} from '../calls.ts';
import { BLOCKHASH_BLOCKS } from '../landable.ts';
import { lookAt } from './looking.ts';
import type { Memory } from './memory.ts';
import type { Reading } from './reading.ts';

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
  readonly since: number;
  readonly block: bigint;
  readonly deposits: readonly OpenDeposit[];
}
type Provable = PendingOutcome | PendingDeposits;

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

/** How often all upstreams are asked for a missing transaction. */
const PROVE_EVERY_MS = 5_000;
/** A transaction sent longer ago than this should be in a block. */
const LATE_MS = 3_000;
/** A transaction older than this may have been pruned from a node's history: then the start of that history is read. */
const PRUNED_MS = 3_600_000;

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
 * The missing transactions for which all upstreams are asked: the final chain is past every block that they could be
 * in. Or, with several upstreams, they are late: this node may be the only one that does not have them.
 */
export function dueProofs<Asked extends Provable>(
  missing: readonly Asked[],
  { finalized }: Heads,
  memory: Memory,
  hasOthers: boolean,
  now: number,
): readonly Asked[] {
  memory.keepProven(new Set(missing.map(({ hash }) => hash)));
  return missing
    .filter((pending) => isPassed(pending, finalized) || (hasOthers && now - pending.since >= LATE_MS))
    .filter(({ hash }) => now - (memory.provenAt.get(hash) ?? -Infinity) >= PROVE_EVERY_MS)
    .slice(0, STATUSES_MAX);
}

/** True where the final chain is past every block that it could be in. */
function isPassed(pending: Provable, finalized: EpochInfo): boolean {
  if (pending.kind === 'deposits') return finalized.absoluteSlot > pending.block;
  return pending.kind === 'settling'
    ? finalized.absoluteSlot > pending.settlement.transfer.block
    : pending.lastValid !== null && finalized.blockHeight > pending.lastValid;
}

/** What one upstream has of a transaction that others miss. */
interface UpstreamEvidence {
  readonly status: SignatureStatus | null;
  /** Null where it does not show the transaction, or shows what cannot be judged. */
  readonly reading: Reading | null;
  /** The final chain is past it there, and the node's history covers the whole time in question. */
  readonly isProof: boolean;
}

export interface Proof<Asked extends Provable = PendingOutcome> {
  readonly pending: Asked;
  /** known: it is in a confirmed block. absent: it is in no block and can be in none. open: neither is certain. */
  readonly kind: 'known' | 'absent' | 'open';
  readonly status: SignatureStatus | null;
  readonly reading: Reading | null;
  readonly finalized: EpochInfo | null;
}

/**
 * Asks every upstream, with its history, for the transactions. `absent` only where all that respond are past it and do
 * not have it, at least two where two are configured: a node that lags, lies or has lost its history proves nothing.
 */
export async function prove<Asked extends Provable>(
  pool: RpcPool,
  asked: readonly Asked[],
  now: number,
): Promise<readonly Proof<Asked>[]> {
  if (asked.length === 0) return [];
  const { responses, conclusive } = await pool.onAll((node) => gatherEvidence(node, asked, now));
  return asked.map((pending, place): Proof<Asked> => {
    const of = responses.flatMap(({ of: all }) => all[place] ?? []);
    const known = of.find(({ status, reading }) => status !== null && reading !== null);
    if (known !== undefined)
      return { pending, kind: 'known', status: known.status, reading: known.reading, finalized: null };
    const isAbsent = conclusive && of.every(({ status, isProof }) => status === null && isProof);
    return {
      pending,
      kind: isAbsent ? 'absent' : 'open',
      status: null,
      reading: null,
      finalized: responses[0]?.finalized ?? null,
    };
  });
}

async function gatherEvidence(
  node: RpcNode,
  asked: readonly Provable[],
  now: number,
): Promise<{ readonly finalized: EpochInfo; readonly of: readonly UpstreamEvidence[] }> {
  // First the final slot, then the statuses: a result of an older slot would prove nothing about it.
  const finalized = await node.call(getEpochInfo('finalized'));
  const { context, value } = await node.call(
    getSignatureStatuses(
      asked.map(({ hash }) => hash),
      true,
    ),
  );
  const isRecent = ({ since }: Provable): boolean => now - since < PRUNED_MS;
  const begin = asked.every(isRecent) ? 0 : await historyBegin(node);
  const shown = asked.flatMap(({ hash }, place) => ((value[place] ?? null) === null ? [] : [hash]));
  const looks = await lookAt(node, shown);
  const readings = new Map(looks.flatMap((look) => (look.kind === 'read' ? [[look.reading.hash, look.reading]] : [])));
  const of = asked.map((pending, place): UpstreamEvidence => {
    const reachesBack = isRecent(pending) || begin <= pending.since;
    return {
      status: value[place] ?? null,
      reading: readings.get(pending.hash) ?? null,
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
