import type { Observation, TransactionHash } from '@pf/domain';
import { refusable, type RpcNode, type RpcPool, RpcRefusedError, RpcUpstreamError, withSecondOpinion } from '@pf/rpc';
import type { Network, WatchSet } from '../../port.ts';
import { getTransaction, type LandedTransaction } from '../calls.ts';
import type { Commit } from './accounts.ts';
import { failureIn, type PendingOutcome } from './pending-outcomes.ts';
import type { Memory, Unseen } from './memory.ts';
import { landingsIn, namesIn } from './landings.ts';

/** Transactions of watched accounts that one step reads, the oldest first. */
const LOOKED_MAX = 50;
/** A node may list a transaction before it returns it. After this it is warned of. */
const SHOWN_WITHIN_MS = 300_000;
/**
 * A provider's history may fail for hours while its lists do not. The transaction is asked for again when its age has
 * grown by half, within the second bound, and given up after the first.
 */
const GIVEN_UP_MS = 24 * 3_600_000;
const AGAIN_MAX_MS = 600_000;
/** The transaction has a version that is unknown here. No payment is made with it today. */
const UNSUPPORTED_VERSION = -32_015;

export interface LookupResult {
  readonly observations: readonly Observation[];
  readonly warnings: readonly string[];
}

/** Makes known to the watch which intents these transactions name. */
export const recallNamed = (
  watch: WatchSet,
  transactions: readonly (LandedTransaction | RpcRefusedError | null | undefined)[],
): Promise<void> =>
  watch.recall(
    transactions.flatMap((one) =>
      one === null || one === undefined || one instanceof RpcRefusedError ? [] : namesIn(one),
    ),
  );

/** The outcome of a transaction, whose names were recalled: what it paid, or that it failed. */
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
  await recallNamed(watch, transactions);
  return joined(
    pendingOutcomes.map((pending, place) => {
      const transaction = transactions[place] ?? null;
      return transaction === null ? nothing : readOutcome(node, pending, transaction, network, watch);
    }),
  );
}

/**
 * Reads the transactions that watched accounts list, the oldest first, and each only once, as soon as that is
 * committed. The cursor stays below those that no node returns.
 * @param most transactions that the upstream's rate allows in a step
 */
export async function readUnseen(
  pool: RpcPool,
  node: RpcNode,
  memory: Memory,
  network: Network,
  watch: WatchSet,
  now: number,
  most: number,
): Promise<LookupResult & { readonly isBehind: boolean; readonly commit: Commit }> {
  const due = [...memory.unseen]
    .filter(([, { dueAt }]) => dueAt <= now)
    .sort(([, one], [, other]) => (one.slot < other.slot ? -1 : one.slot > other.slot ? 1 : 0));
  const asked = due.slice(0, Math.min(LOOKED_MAX, most));
  if (asked.length === 0) return { ...nothing, isBehind: false, commit: () => undefined };
  const transactions = await withSecondOpinion(
    pool,
    node,
    asked.map(([hash]) => refusable(getTransaction(hash))),
  );
  await recallNamed(watch, transactions);
  const done: TransactionHash[] = [];
  const open: [TransactionHash, Unseen][] = [];
  const looked = asked.map(([hash, unseen], place): LookupResult => {
    const transaction = transactions[place] ?? null;
    const isUnknown = transaction instanceof RpcRefusedError && transaction.code === UNSUPPORTED_VERSION;
    if (transaction !== null && !(transaction instanceof RpcRefusedError)) {
      done.push(hash);
      return paymentsOf(node, hash, transaction, network, watch);
    }
    const age = now - unseen.since;
    const refusal = transaction === null ? '' : `: ${transaction.message}`;
    const reason = `${node.name} lists ${hash} but does not return it${refusal}`;
    if (isUnknown || age >= GIVEN_UP_MS) {
      done.push(hash);
      return warning(`${reason}: it is skipped`);
    }
    open.push([hash, { ...unseen, dueAt: now + Math.min(age / 2, AGAIN_MAX_MS) }]);
    return age < SHOWN_WITHIN_MS ? nothing : warning(`${reason}: it is asked for again`);
  });
  const commit = (): void => {
    for (const [hash, unseen] of open) memory.unseen.set(hash, unseen);
    for (const hash of done) {
      memory.unseen.delete(hash);
      memory.looked.set(hash, true);
    }
  };
  return { ...joined(looked), isBehind: due.length > asked.length, commit };
}

const warning = (text: string): LookupResult => ({ observations: [], warnings: [text] });
const nothing: LookupResult = { observations: [], warnings: [] };
const joined = (all: readonly LookupResult[]): LookupResult => ({
  observations: all.flatMap(({ observations }) => observations),
  warnings: all.flatMap(({ warnings }) => warnings),
});
