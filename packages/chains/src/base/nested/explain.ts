import type { TransactionHash } from '@pf/domain';
import { type RpcCall, type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import type { Log } from '../../evm/calls.ts';
import type { Network } from '../../port.ts';
import type { LoggedTransfer } from '../observe/landings.ts';
import { authorizedIn } from './authorized.ts';
import { getCallTrace } from './call-trace.ts';
import { keptLogsOf } from './kept-logs.ts';
import { referencesByCalls, referencesByTrace, type References } from './references.ts';
import { getTokenCalls } from './token-calls.ts';

/** A transaction that calls a contract other than a token, with the kept logs of its receipt, and its network. */
export interface NestedTransaction {
  readonly hash: TransactionHash;
  readonly logs: readonly Log[];
  readonly network: Pick<Network, 'tokens'>;
}

/** What is known of transfers. */
export interface Explanation {
  readonly references: References;
  /** An upstream that has traces could not show this one, which may be so long that none can. */
  readonly isUnreadable: boolean;
}

/**
 * The references of these transfers of a transaction. What calldata says proves none: an account's own code decides
 * what it does with it, and a call in it may have been undone while something else made such a transfer. So only the
 * logs of authorizations tell, and the calls that a trace shows.
 */
export async function explainTransfers(
  pool: Pick<RpcPool, 'attempts'>,
  transaction: NestedTransaction,
  transfers: readonly LoggedTransfer[],
): Promise<References> {
  const authorized = authorizedIn(transaction.logs);
  if (areExplained(transfers, authorized)) return authorized;
  return (await withTrace(pool, transaction, transfers)).references;
}

export const areExplained = (transfers: readonly LoggedTransfer[], references: References): boolean =>
  transfers.every(({ log }) => references.has(log.logIndex));

/**
 * What the first upstream tells that has a trace; or, where that cannot be had or is of other logs, all calls of the
 * tokens in the block. Without either, what the logs of authorizations tell.
 */
export async function withTrace(
  pool: Pick<RpcPool, 'attempts'>,
  { hash, logs, network }: NestedTransaction,
  transfers: readonly LoggedTransfer[],
): Promise<Explanation> {
  let isUnreadable = false;
  // The nonce of an authorization is in no call of the payer's.
  const authorized = authorizedIn(logs);
  let references: References = authorized;
  const [block] = new Set(logs.map(({ blockNumber }) => blockNumber));
  const ask = async <T>(node: RpcNode, call: RpcCall<T>): Promise<T | null> => {
    try {
      return await node.call(call);
    } catch (error) {
      if (!(error instanceof RpcUpstreamError)) throw error;
      isUnreadable ||= error.fault !== 'unsupported' && error.fault !== 'rpc';
      return null;
    }
  };
  const referencesOn = async (node: RpcNode): Promise<References | null> => {
    const trace = await ask(node, getCallTrace(hash, keptLogsOf(network)));
    const traced = trace === null ? null : referencesByTrace(trace, logs);
    if (traced !== null || block === undefined) return traced;
    const calls = await ask(
      node,
      getTokenCalls(
        network.tokens.map(({ address }) => address),
        block,
      ),
    );
    return (
      calls &&
      referencesByCalls(
        calls.filter((call) => call.hash === hash),
        logs,
      )
    );
  };
  for await (const attempt of pool.attempts(referencesOn)) {
    const found = attempt.kind === 'completed' ? attempt.value : null;
    if (found !== null) references = new Map([...references, ...found, ...authorized]);
    if (found !== null && areExplained(transfers, references)) return { references, isUnreadable: false };
  }
  return { references, isUnreadable };
}
