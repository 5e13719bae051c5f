import type { Address, IntentId, Observation, PaymentTerms, TransactionHash } from '@pf/domain';
import { refusable, type RpcPool, RpcRefusedError, withSecondOpinion } from '@pf/rpc';
import { getReceipt, getTransaction, getTransactionCount, type Block, type Receipt } from '../../evm/calls.ts';
import { isAbsentEverywhere } from '../../evm/observe/absence.ts';
import type { KeptBytes, WatchSet } from '../../port.ts';
import { finalRevert, ignoresReverts } from '../../final-revert.ts';
import { decodeSigned } from '../signed-transaction.ts';
import { landed, readTransfer } from './landings.ts';
import type { Seen } from './position.ts';
import type { Scan } from './scan.ts';

/** A transaction that can still land, or landed and was orphaned, and whose end is not known. */
export interface PendingOutcome {
  readonly intentId: IntentId;
  readonly hash: TransactionHash;
  readonly sender: Address;
  /** Null where it has landed before: it is looked up. */
  readonly nonce: bigint | null;
  readonly terms: PaymentTerms;
  /** Since when it may be on chain. */
  readonly since: number;
  /** Its revert would change nothing but that nobody has to look for it any more. */
  readonly ignoresRevert: boolean;
}

/** At most so many receipts in one step; the others wait for the next. */
const RECEIPTS_MAX = 100;

/** Live submissions, and settlements that a reorganisation has orphaned. */
function* open(watch: WatchSet, now: number): Generator<PendingOutcome> {
  for (const { id, status, terms, submission } of watch.submitted()) {
    yield {
      intentId: id,
      hash: submission.hash,
      sender: submission.sender,
      nonce: submission.nonce === null ? null : BigInt(submission.nonce),
      terms,
      since: submission.preparedAt,
      ignoresRevert: ignoresReverts(status),
    };
  }
  for (const { id, terms, settlement } of watch.settling()) {
    if (settlement.lost)
      yield {
        intentId: id,
        hash: settlement.hash,
        sender: settlement.transfer.from,
        nonce: null,
        terms,
        since: now,
        ignoresRevert: false,
      };
  }
}

/** Those whose receipt is due now. A success is found by its log as a rule: a receipt is for what leaves none. */
export function duePendingOutcomes({ watch, memory, now }: Scan): readonly PendingOutcome[] {
  const pendingOutcomes = [...open(watch, now)];
  memory.receipts.keep(new Set(pendingOutcomes.map(({ hash }) => hash)));
  return pendingOutcomes.filter(({ hash }) => memory.receipts.isDue(hash, now)).slice(0, RECEIPTS_MAX);
}

/** A submission that reverted when nobody waited for it any more, and in which block. */
interface IgnoredRevert {
  readonly pending: PendingOutcome;
  readonly block: bigint;
}

export interface Receipts {
  readonly seen: readonly Seen[];
  readonly ignoredReverts: readonly IgnoredRevert[];
  /** Neither this node has a receipt of them nor another one that was asked. */
  readonly missing: readonly PendingOutcome[];
}

/** What the receipts tell of those that are in a block. */
export async function readReceipts(
  context: Scan,
  pool: RpcPool,
  pendingOutcomes: readonly PendingOutcome[],
): Promise<Receipts> {
  const { node, memory, now } = context;
  if (pendingOutcomes.length === 0) return { seen: [], ignoredReverts: [], missing: [] };
  const receipts = await withSecondOpinion(
    pool,
    node,
    pendingOutcomes.map(({ hash }) => getReceipt(hash)),
  );
  const seen: Seen[] = [];
  const ignoredReverts: IgnoredRevert[] = [];
  const missing: PendingOutcome[] = [];
  pendingOutcomes.forEach((pending, place) => {
    const receipt = receipts[place] ?? null;
    if (receipt === null) missing.push(pending);
    else if (receipt.status === 0n && pending.ignoresRevert)
      ignoredReverts.push({ pending, block: receipt.blockNumber });
    else seen.push(...readReceipt(pending, receipt, now));
    memory.receipts.asked(pending.hash, pending.since, now);
  });
  return { seen, ignoredReverts, missing };
}

/** A receipt of a transaction whose calldata was verified: its transfer, or its revert. */
export function readReceipt(
  { intentId, hash, terms }: Pick<PendingOutcome, 'intentId' | 'hash' | 'terms'>,
  { status, blockNumber, blockHash, logs }: Receipt,
  seenAt: number,
): Seen[] {
  if (status === 0n) {
    return [
      {
        kind: 'reverted',
        intentId,
        hash,
        block: blockNumber,
        blockHash,
        reason: 'the transaction reverted on chain',
        seenAt,
      },
    ];
  }
  return logs.flatMap((log) => {
    const transfer = readTransfer(log);
    return transfer !== null && (log.address as string) === terms.tokenAddress && transfer.to === terms.requestor
      ? [landed(intentId, transfer, terms.reference, seenAt)]
      : [];
  });
}

/** Those of them that are final. */
export const findFinalReverts = (reverted: readonly IgnoredRevert[], finalized: bigint): readonly Observation[] =>
  reverted
    .filter(({ block }) => block <= finalized)
    .map(({ pending: { intentId, hash }, block }) => finalRevert(intentId, hash, `block ${block}`));

/**
 * Of transactions without a receipt, those that can provably never land: at a safe block, up to which all logs were
 * read, the account's nonce is past theirs, and still no upstream that answers has a receipt. That a node does not know
 * them proves nothing.
 */
export async function findDropped(
  context: Scan,
  pool: RpcPool,
  keptBytes: KeptBytes,
  missing: readonly PendingOutcome[],
  safe: Block,
  rescanned: bigint,
): Promise<readonly Observation[]> {
  const { node } = context;
  if (missing.length === 0 || rescanned < safe.number) return [];
  const known = await withNonces(context, keptBytes, missing);
  const counts = await node.batch(known.map(({ sender }) => refusable(getTransactionCount(sender, safe.number))));
  const observations: Observation[] = [];
  for (const [place, pending] of known.entries()) {
    const count = counts[place];
    // A node that has pruned that state cannot tell: no proof now.
    if (count === undefined || count instanceof RpcRefusedError || count <= pending.nonce) continue;
    if (!(await isAbsentEverywhere(pool, pending.hash, safe))) continue;
    const proof = `another transaction used nonce ${pending.nonce} of ${pending.sender}: the account's transaction count is ${count} at the safe block ${safe.number}, up to which every transfer was read, and this transaction has no receipt`;
    observations.push({
      kind: 'observation',
      type: 'dropped',
      intentId: pending.intentId,
      data: { hash: pending.hash, proof },
    });
  }
  return observations;
}

/** With the nonces of those that had landed: from memory, while a node still has them, or from the bytes that were kept. Others stay open. */
async function withNonces(
  { node, memory }: Scan,
  keptBytes: KeptBytes,
  pendingOutcomes: readonly PendingOutcome[],
): Promise<(PendingOutcome & { readonly nonce: bigint })[]> {
  const found = await Promise.all(
    pendingOutcomes.map(async (pending) => {
      const nonce =
        pending.nonce ??
        memory.look(pending.hash)?.nonce ??
        (await node.call(getTransaction(pending.hash)))?.nonce ??
        nonceIn(await keptBytes(pending.hash));
      return nonce === null ? [] : [{ ...pending, nonce }];
    }),
  );
  return found.flat();
}

/** Null where there are no bytes, or of a type that is not known here. */
function nonceIn(bytes: Uint8Array | null): bigint | null {
  const decoded = bytes === null ? null : decodeSigned(bytes);
  return decoded?.ok === true ? BigInt(decoded.value.nonce) : null;
}
