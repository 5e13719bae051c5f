import type { TransactionHash } from './ids.ts';
import type { PaymentTerm } from './event.ts';
import type { Landing, PaymentIntent, Transfer } from './intent.ts';

/** The name of a transfer on its chain, `hash:index`: what makes sure that it counts once. */
export const transferKey = ({ hash, transfer }: Landing): string => `${hash}:${transfer.index}`;

/** In what a transfer is not what the intent asks for: empty when it pays it. */
export const termsThatDiffer = (intent: PaymentIntent, transfer: Transfer): readonly PaymentTerm[] => {
  const differs: PaymentTerm[] = [];
  if (transfer.tokenAddress !== intent.tokenAddress) differs.push('token');
  if (transfer.to !== intent.requestor) differs.push('recipient');
  if (transfer.amount !== intent.amountBaseUnits) differs.push('amount');
  if (transfer.from === transfer.to) differs.push('sender');
  if (transfer.reference !== intent.reference) differs.push('reference');
  return differs;
};

/**
 * True for the transfer that settled the intent, also where a reorganisation has put its transaction into another block
 * and so, perhaps, to another index. Another index of the same block is another transfer.
 */
export const isSettling = (
  intent: PaymentIntent,
  { hash, transfer }: { readonly hash: TransactionHash; readonly transfer: Transfer },
): boolean => {
  const settled = intent.settlement;
  if (settled?.hash !== hash) return false;
  return (
    settled.transfer.index === transfer.index ||
    settled.transfer.block !== transfer.block ||
    settled.transfer.blockHash !== transfer.blockHash
  );
};
