import type { TransactionHash } from '@pf/domain';
import { type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import type { KeptLogs } from '../../evm/calls.ts';
import type { LoggedTransfer } from '../observe/landings.ts';
import { authorizedIn } from './authorized.ts';
import { type CallFrame, getCallTrace } from './call-trace.ts';
import { type NestedTransaction, referencesByCalldata, referencesByTrace, type References } from './references.ts';

/** What a transaction paid, and how it can be traced. */
export interface Explained extends NestedTransaction {
  readonly hash: TransactionHash;
  /** The logs that were read, of the receipt and of a trace. */
  readonly keeps: KeptLogs;
}

/**
 * The references of these transfers of a transaction: from its calldata, and where that does not explain them all, from
 * a trace by the first upstream that has one.
 */
export async function explainTransfers(
  pool: Pick<RpcPool, 'attempts'>,
  transaction: Explained,
  transfers: readonly LoggedTransfer[],
): Promise<References> {
  const references = referencesByCalldata(transaction);
  return areExplained(transfers, references) ? references : withTrace(pool, transaction, references);
}

export const areExplained = (transfers: readonly LoggedTransfer[], references: References): boolean =>
  transfers.every(({ log }) => references.has(log.logIndex));

/**
 * What a trace by the first upstream that has one tells, which is what the chain did: it counts before calldata, which
 * is what the caller has written. Without a trace, what was known before.
 */
export async function withTrace(
  pool: Pick<RpcPool, 'attempts'>,
  transaction: Explained,
  before: References,
): Promise<References> {
  for await (const attempt of pool.attempts((node) => traceOn(node, transaction))) {
    const traced =
      attempt.kind === 'completed' && attempt.value !== null
        ? referencesByTrace(attempt.value, transaction.logs)
        : null;
    // The nonce of an authorization is in no call of the payer's.
    if (traced !== null) return new Map([...before, ...traced, ...authorizedIn(transaction.logs)]);
  }
  return before;
}

/** Null where the upstream has none. That says nothing about the upstream: a trace may be too long to send. */
async function traceOn(node: RpcNode, { hash, keeps }: Explained): Promise<CallFrame | null> {
  try {
    return await node.call(getCallTrace(hash, keeps));
  } catch (error) {
    if (error instanceof RpcUpstreamError) return null;
    throw error;
  }
}
