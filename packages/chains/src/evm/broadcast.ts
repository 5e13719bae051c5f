import { refusable, type RpcNode, type RpcPool, RpcRefusedError } from '@pf/rpc';
import type { BroadcastResult, SignedTransaction } from '../port.ts';
import { offerInTurn } from '../offer-in-turn.ts';
import { isKnown, sendRawTransaction } from './calls.ts';

/** What a chain's nodes say when they are offered a transaction: in text only, each client in its own words. */
export interface NodeTexts {
  /** It has the transaction already. */
  readonly known: RegExp;
  /** The transaction cannot land any more, unless it is the very one that has landed. */
  readonly late: RegExp;
  /** Refusals after which the transaction is surely not in that node's pool. Anything else (a sequencer out of reach, say) leaves it open. */
  readonly refused: RegExp;
}

/** Offers one upstream the bytes. */
async function offer(node: RpcNode, { hash, raw }: SignedTransaction, said: NodeTexts): Promise<BroadcastResult> {
  const answer = await node.call(refusable(sendRawTransaction(`0x${Buffer.from(raw).toString('hex')}`)));
  if (!(answer instanceof RpcRefusedError) || said.known.test(answer.message)) return { kind: 'taken' };
  const reason = answer.message;
  if (said.late.test(reason)) return (await node.call(isKnown(hash))) ? { kind: 'taken' } : { kind: 'refused', reason };
  return said.refused.test(reason) ? { kind: 'refused', reason } : { kind: 'unknown', reason };
}

/** Sends a signed transaction, to one upstream after the other until one has it. */
export const broadcastEvm = (
  pool: RpcPool,
  transaction: SignedTransaction,
  said: NodeTexts,
): Promise<BroadcastResult> => offerInTurn(pool, (node) => offer(node, transaction, said));
