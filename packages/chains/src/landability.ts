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
  const { node, first } = await pool.run(async (by) => ({ node: by, first: await on(by) }));
  if (first.reason === null) return first;
  for await (const attempt of pool.onOthers(node, on))
    if (attempt.kind === 'completed' && attempt.value.reason === null) return attempt.value;
  return first;
}
