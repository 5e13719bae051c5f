import { type RpcCall, type RpcNode, RpcUpstreamError, soon } from '@pf/rpc';
import { NOT_IN_TIME } from '../../late-reads.ts';
import { partsOf } from '../../parts.ts';
import { callsInStep } from '../../step-share.ts';

/** Why an upstream's result of one call cannot be had: it has another shape, is too long or late, or is refused. */
export class Unreadable {
  readonly reason: string;
  /** The upstream has not returned it in time. It may have it all the same. */
  readonly isLate: boolean;
  constructor(reason: string, isLate = false) {
    this.reason = reason;
    this.isLate = isLate;
  }
}
export const LATE = new Unreadable(NOT_IN_TIME, true);
export const isLate = (one: unknown): boolean => one instanceof Unreadable && one.isLate;

/** Why these cannot be had: not in time where less was waited for than a request may take. */
const unreadable = (calls: readonly RpcCall<unknown>[], { fault, message }: RpcUpstreamError): Unreadable => {
  if (fault !== 'timeout') return new Unreadable(message);
  return calls.every(({ isSoon }) => isSoon === true) ? LATE : new Unreadable(message, true);
};

/** The same call, for callers to whom a result that does not parse is one, so that it takes no other along. */
const readable = <T>(call: RpcCall<T>): RpcCall<T | Unreadable> => ({
  ...call,
  parse(result) {
    try {
      return call.parse(result);
    } catch {
      return new Unreadable(`the result of ${call.method} has a shape that is unknown here`);
    }
  },
});

/** The fault may be of what was asked for. Any other is the upstream's own: another one is asked then. */
const isOfRequest = ({ fault, delivered }: RpcUpstreamError): boolean =>
  fault === 'rpc' ||
  fault === 'malformed' ||
  fault === 'timeout' ||
  ((fault === 'unreachable' || fault === 'http') && delivered === 'maybe');

/**
 * The result of each call, or why it cannot be had. What strangers have written into one transaction never costs the
 * results of the others: a call that the node refuses is told from them by asking each alone.
 * @param splits how often calls of which all together come too late, or are too long, are asked for in two halves
 * @param areShort those that come too late together are asked for apart at the same time: one that never comes costs
 *   the others the time of one more request, and not of one for each half
 * @throws RpcUpstreamError where the upstream is at fault
 */
export const readEach = <T>(
  node: RpcNode,
  calls: readonly RpcCall<T>[],
  splits = 0,
  areShort = false,
): Promise<readonly (T | Unreadable)[]> => readWithin(node, calls, { splits, areShort });

/** Of those that do not come in time together, so many are asked for alone at a time: the others are due as before. */
const APART_MAX = 16;

/**
 * The same for calls that a step waits a moment for: where none comes in time together, some are asked for alone, at
 * the same time. The results of the others are missing.
 */
export async function readSoon<T>(
  node: RpcNode,
  calls: readonly RpcCall<T>[],
  splits: number,
): Promise<readonly (T | Unreadable)[]> {
  const together = await readEach(node, calls.map(soon), splits);
  const [first] = calls;
  if (first === undefined || calls.length < 2 || !together.every((one) => one === LATE)) return together;
  const spare = Math.max(1, callsInStep(node, first.method) - calls.length);
  const apart = calls.slice(0, Math.min(APART_MAX, spare));
  return (await Promise.all(apart.map((call) => readEach(node, [soon(call)])))).flat();
}

async function readWithin<T>(
  node: RpcNode,
  calls: readonly RpcCall<T>[],
  left: { splits: number; readonly areShort: boolean },
): Promise<readonly (T | Unreadable)[]> {
  if (calls.length === 0) return [];
  let error: RpcUpstreamError;
  try {
    return await node.batch(calls.map(readable));
  } catch (cause) {
    if (!(cause instanceof RpcUpstreamError) || !isOfRequest(cause)) throw cause;
    error = cause;
  }
  const isRefused = error.fault === 'rpc';
  if (calls.length === 1) return [unreadable(calls, error)];
  if (error.fault === 'timeout' && left.areShort)
    return (await Promise.all(calls.map((call) => readWithin(node, [call], left)))).flat();
  const isLate = unreadable(calls, error) === LATE;
  if (isLate || (!isRefused && left.splits === 0)) return calls.map(() => unreadable(calls, error));
  if (!isRefused) left.splits -= 1;
  const results: (T | Unreadable)[] = [];
  for (const part of partsOf(calls, isRefused ? 1 : Math.ceil(calls.length / 2)))
    results.push(...(await readWithin(node, part, left)));
  return results;
}
