import { getTransaction, sendRawTransaction } from '../evm/calls.ts';
import type { BroadcastResult, SignedTransaction } from '../port.ts';
import { RpcRefusedError } from '../rpc/errors.ts';
import { refusable, type RpcNode } from '../rpc/node.ts';
import type { RpcPool } from '../rpc/pool.ts';

// Nodes say these things in text only, each client in its own words.
const KNOWN = /already known|already imported|already exists|alreadyknown|known transaction/i;
const NONCE_USED = /nonce(?: is)? too low|nonce has already been used|oldnonce/i;
/** Refusals after which the transaction is surely not in that node's pool. Anything else (a sequencer out of reach, say) leaves it open. */
const REFUSED =
  /insufficient funds|underpriced|gas too low|gas limit|gas required exceeds|fee cap|max fee per gas|base fee|feetoolow|nonce(?: is)? too high|nonce gap|invalid (?:sender|signature|chain ?id|transaction)|chain ?id|not supported|oversized|failed to decode|rlp|txpool is full/i;

/** Offers one upstream the bytes. */
async function offer(node: RpcNode, { hash, raw }: SignedTransaction): Promise<BroadcastResult> {
  const answer = await node.call(refusable(sendRawTransaction(`0x${Buffer.from(raw).toString('hex')}`)));
  if (!(answer instanceof RpcRefusedError) || KNOWN.test(answer.message)) return { kind: 'taken' };
  const reason = answer.message;
  if (NONCE_USED.test(reason)) return (await node.call(getTransaction(hash))) === null ? { kind: 'refused', reason } : { kind: 'taken' };
  return REFUSED.test(reason) ? { kind: 'refused', reason } : { kind: 'unknown', reason };
}

/**
 * Sends a signed transaction, to one upstream after the other until one has it. `refused` only when a node said no and
 * no other may have it: after it the intent is free for another payer.
 */
export async function broadcast(pool: RpcPool, transaction: SignedTransaction): Promise<BroadcastResult> {
  let refused: string | null = null;
  let open: string | null = null;
  for await (const attempt of pool.attempts((node) => offer(node, transaction))) {
    if (attempt.kind === 'unreached') {
      if (attempt.error.taken === 'maybe') open ??= attempt.error.message;
    } else if (attempt.value.kind === 'taken') return attempt.value;
    else if (attempt.value.kind === 'refused') refused ??= attempt.value.reason;
    else open ??= attempt.value.reason;
  }
  if (refused !== null && open === null) return { kind: 'refused', reason: refused };
  return { kind: 'unknown', reason: open ?? 'no upstream could be reached' };
}
