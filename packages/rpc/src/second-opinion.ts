import type { RpcCall, RpcNode } from './node.ts';
import type { RpcPool } from './pool.ts';

/**
 * The results of this upstream and, where it has null, those of another healthy one: that one node does not know a
 * transaction proves nothing. Costs one more request, and only where something is missing.
 */
export async function withSecondOpinion<T>(
  pool: RpcPool,
  node: RpcNode,
  calls: readonly RpcCall<T | null>[],
): Promise<readonly (T | null)[]> {
  if (calls.length === 0) return [];
  const results = await node.batch(calls);
  const missing = calls.flatMap((call, index) => (results[index] === null ? [{ call, index }] : []));
  const others =
    missing.length === 0 ? null : await pool.onAnother(node, (other) => other.batch(missing.map(({ call }) => call)));
  if (others === null) return results;
  const found = new Map(missing.map(({ index }, position) => [index, others[position] ?? null]));
  return results.map((result, index) => found.get(index) ?? result);
}
