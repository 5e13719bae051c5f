import type { TransactionHash } from '@pf/domain';
import { refusable, type RpcNode, type RpcPool, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import type { Blockhash } from '@solana/kit';
import type { NewestHead } from '../newest-head.ts';
import type { BroadcastResult, SignedTransaction } from '../port.ts';
import { offerInTurn } from '../offer-in-turn.ts';
import { getSignatureStatuses, isBlockhashValid, sendTransaction } from './calls.ts';
import { decodeSigned } from './signed-transaction.ts';

const LANDED = { kind: 'taken', isLanded: true } as const;
const KNOWN = /already (?:been )?processed|AlreadyProcessed/i;
/**
 * Refusals after which this node has certainly not forwarded it: it could not be decoded, or its signature is wrong.
 */
const REFUSED = new RegExp(
  [
    'blockhash not found',
    'BlockhashNotFound',
    'signature verif',
    'failed to (?:deserialize|decode)',
    'invalid (?:transaction|base64|base58|params)',
    'too large',
    'sanitize',
  ].join('|'),
  'i',
);

/**
 * Offers the bytes to one upstream. Without preflight a node accepts whatever it can decode, so an expired one is not
 * sent.
 */
async function offer(node: RpcNode, { hash, raw }: SignedTransaction, slots: NewestHead): Promise<BroadcastResult> {
  const decoded = decodeSigned(raw);
  if (!decoded.ok) return { kind: 'refused', reason: decoded.problem };
  const found = await lookUp(node, hash, decoded.value.blockhash);
  if (found?.isKnown === true) return LANDED;
  if (found?.live.value === false) {
    slots.requireReached(node, found.live.context.slot);
    return isKnown(await node.call(getSignatureStatuses([hash], true)))
      ? LANDED
      : { kind: 'refused', reason: 'the blockhash has expired' };
  }
  const answer = await node.call(refusable(sendTransaction(raw)));
  if (!(answer instanceof RpcRefusedError)) return { kind: 'taken' };
  if (KNOWN.test(answer.message)) return LANDED;
  return { kind: REFUSED.test(answer.message) ? 'refused' : 'unknown', reason: answer.message };
}

/**
 * What the node knows of the transaction and its blockhash. Null where the plan has no reads left: they hold back no
 * broadcast, and one in vain does no harm.
 */
async function lookUp(
  node: RpcNode,
  hash: TransactionHash,
  blockhash: Blockhash,
): Promise<{
  readonly isKnown: boolean;
  readonly live: ReturnType<ReturnType<typeof isBlockhashValid>['parse']>;
} | null> {
  try {
    const [statuses, live] = await node.batch([getSignatureStatuses([hash], false), isBlockhashValid(blockhash)]);
    return { isKnown: isKnown(statuses), live };
  } catch (error) {
    if (error instanceof RpcUpstreamError && error.fault === 'throttled') return null;
    throw error;
  }
}

const isKnown = ({ value: [status = null] }: { readonly value: readonly unknown[] }): boolean => status !== null;

/**
 * Sends a signed transaction to one upstream after the other until one accepts it. A lagging node does not know a fresh
 * blockhash: its refusal counts only where no other has accepted the transaction.
 */
export const broadcast = (pool: RpcPool, transaction: SignedTransaction, slots: NewestHead): Promise<BroadcastResult> =>
  offerInTurn(pool, (node) => offer(node, transaction, slots));
