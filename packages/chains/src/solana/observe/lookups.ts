import type { Observation, TransactionHash } from '@pf/domain';
import { refusable, type RpcNode, type RpcPool, RpcRefusedError, RpcUpstreamError, withSecondOpinion } from '@pf/rpc';
import type { Network, WatchSet } from '../../port.ts';
import { getTransaction, type LandedTransaction } from '../calls.ts';
import type { Commit } from './accounts.ts';
import { failureIn, type PendingOutcome } from './pending-outcomes.ts';
import type { Memory } from './memory.ts';
import { landingsIn } from './landings.ts';

/** Transactions of watched accounts that one step reads, the oldest first. */
const LOOKED_MAX = 50;
/** A node may list a transaction before it returns it; one that it never returns is given up. */
const SHOWN_WITHIN_MS = 300_000;

export interface LookupResult {
  readonly observations: readonly Observation[];
  readonly warnings: readonly string[];
}

/** The outcome of a transaction: what it paid, or that it failed. */
export function readOutcome(
  node: RpcNode,
  { intentId, hash }: PendingOutcome,
  transaction: LandedTransaction,
  network: Network,
  watch: WatchSet,
): LookupResult {
  const reason = failureIn(transaction);
  if (reason !== null)
    return {
      observations: [{ kind: 'observation', type: 'reverted', intentId, data: { hash, reason } }],
      warnings: [],
    };
  return paymentsOf(node, hash, transaction, network, watch);
}

function paymentsOf(
  node: RpcNode,
  hash: TransactionHash,
  transaction: LandedTransaction,
  network: Network,
  watch: WatchSet,
): LookupResult {
  const payments = landingsIn(transaction, hash, network, watch);
  if (payments === null) throw new RpcUpstreamError(`${node.name} returned another transaction than ${hash}`, 'no');
  return { observations: payments.landings, warnings: payments.warnings };
}

/** Reads the transactions that landed; what no node returns yet is read by a later step. */
export async function readPendingOutcomes(
  pool: RpcPool,
  node: RpcNode,
  pendingOutcomes: readonly PendingOutcome[],
  network: Network,
  watch: WatchSet,
): Promise<LookupResult> {
  const transactions = await withSecondOpinion(
    pool,
    node,
    pendingOutcomes.map(({ hash }) => getTransaction(hash)),
  );
  return joined(
    pendingOutcomes.map((pending, place) => {
      const transaction = transactions[place] ?? null;
      return transaction === null ? nothing : readOutcome(node, pending, transaction, network, watch);
    }),
  );
}

/**
 * Reads the transactions that watched accounts list, the oldest first, and each only once, as soon as that is
 * committed.
 */
export async function readUnseen(
  pool: RpcPool,
  node: RpcNode,
  memory: Memory,
  network: Network,
  watch: WatchSet,
  now: number,
): Promise<LookupResult & { readonly isBehind: boolean; readonly commit: Commit }> {
  const unseen = [...memory.unseen].sort(([, one], [, other]) =>
    one.slot < other.slot ? -1 : one.slot > other.slot ? 1 : 0,
  );
  const asked = unseen.slice(0, LOOKED_MAX);
  if (asked.length === 0) return { ...nothing, isBehind: false, commit: () => undefined };
  const transactions = await withSecondOpinion(
    pool,
    node,
    asked.map(([hash]) => refusable(getTransaction(hash))),
  );
  const done: TransactionHash[] = [];
  const looked = asked.map(([hash, { since }], place): LookupResult => {
    const transaction = transactions[place] ?? null;
    if (transaction === null && now - since < SHOWN_WITHIN_MS) return nothing;
    done.push(hash);
    if (transaction === null) return skipped(`${node.name} lists ${hash} but does not return it`);
    // Of an unknown version, say: no payment is made with it today.
    if (transaction instanceof RpcRefusedError)
      return skipped(`${node.name} does not return ${hash}: ${transaction.message}`);
    return paymentsOf(node, hash, transaction, network, watch);
  });
  const commit = (): void => {
    for (const hash of done) {
      memory.unseen.delete(hash);
      memory.looked.set(hash, true);
    }
  };
  return { ...joined(looked), isBehind: unseen.length > asked.length, commit };
}

const skipped = (reason: string): LookupResult => ({ observations: [], warnings: [`${reason}: it is skipped`] });
const nothing: LookupResult = { observations: [], warnings: [] };
const joined = (all: readonly LookupResult[]): LookupResult => ({
  observations: all.flatMap(({ observations }) => observations),
  warnings: all.flatMap(({ warnings }) => warnings),
});
