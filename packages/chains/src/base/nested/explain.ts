import type { TransactionHash } from '@pf/domain';
import { type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import type { LoggedTransfer } from '../observe/landings.ts';
import { type CallFrame, getCallTrace } from './call-trace.ts';
import { type NestedTransaction, referencesByCalldata, referencesByTrace, type References } from './references.ts';

/**
 * The references of these transfers of a transaction: from its calldata, and where that does not explain them all, from
 * a trace by the first upstream that has one.
 */
export async function explainTransfers(
  pool: RpcPool,
  transaction: NestedTransaction & { readonly hash: TransactionHash },
  transfers: readonly LoggedTransfer[],
  mayTrace = true,
): Promise<References> {
  const references = referencesByCalldata(transaction);
  if (!mayTrace || transfers.every(({ log }) => references.has(log.logIndex))) return references;
  for await (const attempt of pool.attempts((node) => traceOn(node, transaction.hash))) {
    const traced =
      attempt.kind === 'completed' && attempt.value !== null
        ? referencesByTrace(attempt.value, transaction.logs)
        : null;
    if (traced !== null) return new Map([...traced, ...references]);
  }
  return references;
}

/** Null where the upstream has none. That says nothing about the upstream: a trace may be too long to send. */
async function traceOn(node: RpcNode, hash: TransactionHash): Promise<CallFrame | null> {
  try {
    return await node.call(getCallTrace(hash));
  } catch (error) {
    if (error instanceof RpcUpstreamError) return null;
    throw error;
  }
}
