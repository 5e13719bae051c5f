import type { RpcNode, RpcPool } from '@pf/rpc';
import { count } from '@pf/runtime';
import type { BroadcastResult } from './port.ts';

/**
 * Offers a signed transaction to one upstream after the other until one accepts it. `refused` only when a node refused
 * it and no other may have it: the intent is then free for another payer.
 */
export async function offerInTurn(
  pool: RpcPool,
  offer: (node: RpcNode) => Promise<BroadcastResult>,
): Promise<BroadcastResult> {
  const result = await offerToEach(pool, offer);
  count('payments.broadcasts', { network: pool.network, outcome: result.kind });
  return result;
}

async function offerToEach(
  pool: RpcPool,
  offer: (node: RpcNode) => Promise<BroadcastResult>,
): Promise<BroadcastResult> {
  let refused: string | null = null;
  let open: string | null = null;
  for await (const attempt of pool.attempts(offer, true)) {
    if (attempt.kind === 'failed') {
      if (attempt.error.delivered === 'maybe') open ??= attempt.error.message;
    } else if (attempt.value.kind === 'taken') return attempt.value;
    else if (attempt.value.kind === 'refused') refused ??= attempt.value.reason;
    else open ??= attempt.value.reason;
  }
  if (refused !== null && open === null) return { kind: 'refused', reason: refused };
  return { kind: 'unknown', reason: open ?? 'every RPC upstream is unreachable' };
}
