import type { TransactionHash } from './ids.ts';
import type { Landing, PaymentIntent, Transfer } from './intent.ts';

/** The name of a transfer on its chain, `hash:index`, by which it is counted once. */
export const transferKey = ({ hash, transfer }: Landing): string => `${hash}:${transfer.index}`;

/** A landing as the state of an intent has it. */
export const withoutFee = ({ hash, transfer }: Landing): Landing => ({ hash, transfer });

/** The block in which a transaction landed. */
export type Place = Pick<Transfer, 'block' | 'blockHash'>;

/**
 * True for the transfer that settled the intent, also where a reorg has put its transaction into another block and so,
 * perhaps, to another index. Another index of the same block is another transfer.
 */
export const isSettling = (
  intent: PaymentIntent,
  { hash, transfer }: { readonly hash: TransactionHash; readonly transfer: Transfer },
): boolean => {
  const { settlement } = intent;
  if (settlement?.hash !== hash) return false;
  return (
    settlement.transfer.index === transfer.index ||
    settlement.transfer.block !== transfer.block ||
    settlement.transfer.blockHash !== transfer.blockHash
  );
};
