import type { TransactionHash } from '@pf/domain';
import { refusable, type RpcNode, type RpcPool, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import type { BroadcastResult, SignedTransaction } from '../port.ts';
import { offerInTurn } from '../offer-in-turn.ts';
import { isKnown, sendRawTransaction } from './calls.ts';

/** How a chain's nodes refuse a transaction: as text only, each client in its own words. */
export interface NodeTexts {
  /** It has the transaction already. */
  readonly known: RegExp;
  /** Its nonce is used: by this very transaction where it has landed, which a lagging node may not show yet. */
  readonly used: RegExp;
  /** Its time is over, unless it has landed. */
  readonly late?: RegExp;
  /**
   * Refusals after which the transaction is certainly not in that node's pool. Any other (an unreachable sequencer,
   * say) leaves it open.
   */
  readonly refused: RegExp;
}

/** Offers the bytes to one upstream. */
async function offer(node: RpcNode, { hash, raw }: SignedTransaction, texts: NodeTexts): Promise<BroadcastResult> {
  const answer = await node.call(refusable(sendRawTransaction(`0x${Buffer.from(raw).toString('hex')}`)));
  if (!(answer instanceof RpcRefusedError) || texts.known.test(answer.message)) return { kind: 'taken' };
  const reason = answer.message;
  const isLate = texts.late?.test(reason) === true;
  if (isLate || texts.used.test(reason)) {
    const isShown = await doesShow(node, hash);
    // It is no longer waiting in a pool: its own nonce is used, or its time is over.
    if (isShown === true) return { kind: 'taken', isLanded: true };
    return { kind: isLate && isShown === false ? 'refused' : 'unknown', reason };
  }
  return texts.refused.test(reason) ? { kind: 'refused', reason } : { kind: 'unknown', reason };
}

/** Null where it does not say: then its refusal leaves open whether the transaction has landed. */
async function doesShow(node: RpcNode, hash: TransactionHash): Promise<boolean | null> {
  try {
    return await node.call(isKnown(hash));
  } catch (error) {
    if (error instanceof RpcUpstreamError) return null;
    throw error;
  }
}

/** Sends a signed transaction to one upstream after the other until one accepts it. */
export const broadcastEvm = (
  pool: RpcPool,
  transaction: SignedTransaction,
  texts: NodeTexts,
): Promise<BroadcastResult> => offerInTurn(pool, (node) => offer(node, transaction, texts));
