import type { Address, Reference, TransactionHash } from '@pf/domain';
import { RpcUpstreamError } from '@pf/rpc';
import { type ChainTransaction, getReceipt } from '../../evm/calls.ts';
import { referencesBehind } from '../calldata.ts';
import { authorizedIn } from '../nested/authorized.ts';
import { explainTransfers } from '../nested/explain.ts';
import type { Scan } from './context.ts';
import type { LoggedTransfer } from './landings.ts';
import type { NestedPayment, NestedPayments } from './memory.ts';

/** Transactions of one range of blocks whose transfers may need a trace. Those beyond are judged by their calldata. */
const TRACED_MAX = 50;

/** Watched references, by the index of the transfer that may carry them. */
type Likely = ReadonlyMap<bigint, readonly Reference[]>;

/** Finds what these transactions pay, each of which pays by more than a transfer of its own, and remembers it. */
export async function findNested(
  context: Scan,
  transactions: readonly ChainTransaction[],
  transfersOf: (hash: TransactionHash) => readonly LoggedTransfer[],
): Promise<void> {
  const { node, memory, pool, watch } = context;
  if (transactions.length === 0) return;
  const candidates = transactions.flatMap(({ hash, input }) => {
    const calldata = calldataOf(input);
    return transfersOf(hash).flatMap(({ to, amount }) => [...referencesBehind(calldata, to, amount)]);
  });
  await watch.recall(candidates);
  const receipts = await node.batch(transactions.map(({ hash }) => getReceipt(hash)));
  let traced = 0;
  for (const [place, transaction] of transactions.entries()) {
    const transfers = transfersOf(transaction.hash);
    const receipt = receipts[place] ?? null;
    if (receipt === null || receipt.blockHash !== blockOf(transfers))
      throw new RpcUpstreamError(`${node.name} logs ${transaction.hash} but has no such receipt of it`, 'no');
    const { logs, blockHash } = receipt;
    const likely = likelyReferences(context, transaction.input, transfers);
    const authorized = authorizedIn(logs);
    const suspects = transfers.filter(({ log }) => likely.has(log.logIndex) || authorized.has(log.logIndex));
    if (likely.size > 0) traced += 1;
    const references =
      suspects.length === 0
        ? new Map<bigint, Reference>()
        : await explainTransfers(pool, { ...transaction, logs }, suspects, traced <= TRACED_MAX);
    memory.rememberNested(transaction.hash, blockHash, paymentsAmong(suspects, likely, references));
  }
}

const calldataOf = (input: string): Buffer => Buffer.from(input.slice(2), 'hex');
const blockOf = (transfers: readonly LoggedTransfer[]): string => transfers[0]?.log.blockHash ?? '';

/** Only a transaction in which a watched reference follows such a transfer's bytes is worth a trace. */
function likelyReferences({ watch }: Scan, input: string, transfers: readonly LoggedTransfer[]): Likely {
  const calldata = calldataOf(input);
  const isPaidTo = (reference: Reference, to: Address): boolean => watch.byReference(reference)?.terms.requestor === to;
  const likely = new Map<bigint, readonly Reference[]>();
  for (const { to, amount, log } of transfers) {
    const found = [...new Set(referencesBehind(calldata, to, amount))].filter((reference) => isPaidTo(reference, to));
    if (found.length > 0) likely.set(log.logIndex, found);
  }
  return likely;
}

/** Of what is not explained, each reference that no transfer of the transaction carries stands for one transfer. */
function paymentsAmong(
  transfers: readonly LoggedTransfer[],
  likely: Likely,
  references: ReadonlyMap<bigint, Reference | null>,
): NestedPayments {
  const named = new Set(references.values());
  const payments = new Map<bigint, NestedPayment>();
  for (const { log } of transfers) {
    const reference = references.get(log.logIndex);
    if (reference === null) continue;
    if (reference !== undefined) payments.set(log.logIndex, { reference, isProven: true });
    else {
      const unnamed = likely.get(log.logIndex)?.find((candidate) => !named.has(candidate));
      if (unnamed === undefined) continue;
      named.add(unnamed);
      payments.set(log.logIndex, { reference: unnamed, isProven: false });
    }
  }
  return payments;
}
