import type { RpcCall, RpcNode } from './node.ts';
import type { RpcPool } from './pool.ts';

/**
 * What this upstream answers and, where it has nothing, what another one has that does well: that a node knows nothing
 * of a transaction proves nothing. One more request, and only where something is missing.
 */
export async function askTwice<T>(
  pool: RpcPool,
  node: RpcNode,
  calls: readonly RpcCall<T | null>[],
): Promise<readonly (T | null)[]> {
  if (calls.length === 0) return [];
  const answers = await node.batch(calls);
  const missing = calls.flatMap((call, place) => (answers[place] === null ? [{ call, place }] : []));
  const others =
    missing.length === 0 ? null : await pool.elsewhere(node, (other) => other.batch(missing.map(({ call }) => call)));
  if (others === null) return answers;
  const found = new Map(missing.map(({ place }, at) => [place, others[at] ?? null]));
  return answers.map((answer, place) => found.get(place) ?? answer);
}
