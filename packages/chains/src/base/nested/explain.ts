import type { TransactionHash } from '@pf/domain';
import { type RpcCall, type RpcNode, type RpcPool, RpcUpstreamError, soon } from '@pf/rpc';
import type { Log } from '../../evm/calls.ts';
import type { Network } from '../../port.ts';
import type { LoggedTransfer } from '../observe/landings.ts';
import { authorizedIn } from './authorized.ts';
import { referencesByCalldata, type Sent } from './calldata-references.ts';
import { getCallTrace } from './call-trace.ts';
import { keptLogsOf } from './kept-logs.ts';
import { referencesByCalls, referencesByTrace, type References } from './references.ts';
import { getTokenCalls } from './token-calls.ts';

/** A transaction that calls a contract other than a token, with the kept logs of its receipt, and its network. */
export interface NestedTransaction {
  readonly hash: TransactionHash;
  readonly sent: Sent;
  readonly logs: readonly Log[];
  readonly network: Pick<Network, 'tokens'>;
}

/**
 * What the upstreams said of a transaction's calls, each word stronger than those before it.
 * - `none`: none has any traces. What is not explained now never is.
 * - `not_now`: one has traces, or may have. What is not explained now may be another time.
 * - `unreadable`: one that has traces could not show this one, which may be so long that none can.
 * - `late`: one did not return it in time, where less is waited for than a request may take. No further one was asked.
 * - `explained`: what made each transfer, or nothing was to be asked.
 */
const SAID = ['none', 'not_now', 'unreadable', 'late', 'explained'] as const;
type Said = (typeof SAID)[number];

/** What is known of transfers. */
export interface Explanation {
  readonly references: References;
  readonly said: Said;
}

/**
 * The references of these transfers of a transaction: by the logs of authorizations and the calls that a trace shows.
 * Calldata says what an account was told, not what its code has done with it: a call may have been undone while
 * something else made such a transfer. So it counts only where no upstream has any traces.
 * @param isSoon as of `withTrace`
 */
export async function explainTransfers(
  pool: Pick<RpcPool, 'attempts'>,
  transaction: NestedTransaction,
  transfers: readonly LoggedTransfer[],
  isSoon = false,
): Promise<Explanation> {
  const authorized = authorizedIn(transaction.logs);
  if (areExplained(transfers, authorized)) return { references: authorized, said: 'explained' };
  return withTrace(pool, transaction, transfers, isSoon);
}

export const areExplained = (transfers: readonly LoggedTransfer[], references: References): boolean =>
  transfers.every(({ log }) => references.has(log.logIndex));

/**
 * What the first upstream tells that has a trace; or, where that cannot be had or is of other logs, all calls of the
 * tokens in the block. Where no upstream offers either, what the calldata says.
 * @param isSoon a trace that takes long is not waited for
 */
export async function withTrace(
  pool: Pick<RpcPool, 'attempts'>,
  { hash, sent, logs, network }: NestedTransaction,
  transfers: readonly LoggedTransfer[],
  isSoon = false,
): Promise<Explanation> {
  const heard = new Set<Said>();
  // The nonce of an authorization is in no call of the payer's.
  const authorized = authorizedIn(logs);
  let references: References = authorized;
  const [block] = new Set(logs.map(({ blockNumber }) => blockNumber));
  const ask = async <T>(node: RpcNode, call: RpcCall<T>): Promise<T | null> => {
    try {
      const result = await node.call(isSoon ? soon(call) : call);
      heard.add('not_now');
      return result;
    } catch (error) {
      if (!(error instanceof RpcUpstreamError)) throw error;
      heard.add(isSoon && error.fault === 'timeout' ? 'late' : saidBy(error));
      return null;
    }
  };
  const referencesOn = async (node: RpcNode): Promise<References | null> => {
    const trace = await ask(node, getCallTrace(hash, keptLogsOf(network)));
    const traced = trace === null ? null : referencesByTrace(trace, logs);
    if (traced !== null || block === undefined || heard.has('late')) return traced;
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
    // One that fails is no proof that it has no traces.
    heard.add(attempt.kind === 'failed' ? 'not_now' : 'none');
    const found = attempt.kind === 'completed' ? attempt.value : null;
    if (found !== null) references = new Map([...references, ...found, ...authorized]);
    if (found !== null && areExplained(transfers, references)) return { references, said: 'explained' };
    if (heard.has('late')) break;
  }
  // Where none was asked, one may have them.
  const said = SAID.findLast((word) => heard.has(word)) ?? 'not_now';
  if (said === 'none') references = new Map([...referencesByCalldata(sent, logs), ...references]);
  return { references, said };
}

function saidBy({ fault }: RpcUpstreamError): Said {
  if (fault === 'unsupported') return 'none';
  return fault === 'rpc' ? 'not_now' : 'unreadable';
}
