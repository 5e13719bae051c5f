import type { BroadcastResult, SignedTransaction } from '../port.ts';
import { RpcRefusedError } from '../rpc/errors.ts';
import { refusable, type RpcNode } from '../rpc/node.ts';
import type { RpcPool } from '../rpc/pool.ts';
import { getSignatureStatuses, isBlockhashValid, sendTransaction } from './calls.ts';
import { decodeSigned } from './signed-transaction.ts';

const KNOWN = /already (?:been )?processed|AlreadyProcessed/i;
/** Refusals after which this node has surely not passed it on: it could not be read, or its signature is wrong. */
const REFUSED = /blockhash not found|BlockhashNotFound|signature verif|failed to (?:deserialize|decode)|invalid (?:transaction|base64|base58|params)|too large|sanitize/i;

/** Offers one upstream the bytes; without preflight a node takes whatever it can read, so what has expired is not sent. */
async function offer(node: RpcNode, { hash, raw }: SignedTransaction): Promise<BroadcastResult> {
  const decoded = decodeSigned(raw);
  if (!decoded.ok) return { kind: 'refused', reason: decoded.problem };
  const [statuses, live] = await node.batch([getSignatureStatuses([hash], false), isBlockhashValid(decoded.value.blockhash)]);
  if (isKnown(statuses)) return { kind: 'taken' };
  if (!live.value) return isKnown(await node.call(getSignatureStatuses([hash], true))) ? { kind: 'taken' } : { kind: 'refused', reason: 'its blockhash has expired' };
  const answer = await node.call(refusable(sendTransaction(raw)));
  if (!(answer instanceof RpcRefusedError) || KNOWN.test(answer.message)) return { kind: 'taken' };
  return { kind: REFUSED.test(answer.message) ? 'refused' : 'unknown', reason: answer.message };
}

const isKnown = ({ value: [status = null] }: { readonly value: readonly unknown[] }): boolean => status !== null;

/**
 * Sends a signed transaction, to one upstream after the other until one has it. `refused` only when a node said no and
 * no other may have it: after it the intent is free for another payer. A node that lags does not know a fresh blockhash:
 * its no counts only where no other has taken it.
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
