import type { RpcNode, RpcPool } from '@pf/rpc';

/** Whether a transaction can land, as one upstream sees it. */
export interface Landability {
  /** Why not; null where it can, or has. */
  readonly reason: string | null;
}

/**
 * The result of the first upstream on which it can land, otherwise of the first at all: one that lags does not know a
 * fresh blockhash, nonce or balance.
 */
export async function bestLandability<T extends Landability>(
  pool: RpcPool,
  on: (node: RpcNode) => Promise<T>,
): Promise<T> {
  const first = await pool.run(async (node) => ({ node, result: await on(node) }));
  if (first.result.reason === null) return first.result;
  for await (const attempt of pool.attempts((node) => (node === first.node ? Promise.resolve(first.result) : on(node))))
    if (attempt.kind === 'completed' && attempt.value.reason === null) return attempt.value;
  return first.result;
}
