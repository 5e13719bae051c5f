import type { TransactionHash } from './ids.ts';
import type { Landing, NetworkFee, PaymentIntent, Transfer } from './intent.ts';
import { formatAmount } from './money.ts';

/** The name of a transfer on its chain, `hash:index`, by which it is counted once. */
export const transferKey = ({ hash, transfer }: Landing): string => `${hash}:${transfer.index}`;

/** How an event says that a payment has another amount than its intent asks for (EventData). */
export const paidAmount = (
  { amountBaseUnits, decimals }: PaymentIntent,
  { transfer }: Landing,
): { readonly amount?: string } =>
  transfer.amount === amountBaseUnits ? {} : { amount: formatAmount(transfer.amount, decimals) };

/** A landing as the state of an intent has it. */
export const withoutFee = ({ hash, transfer, depositId }: Landing): Landing => ({
  hash,
  transfer,
  ...(depositId !== undefined && { depositId }),
});

/**
 * True where this transfer was counted as a payment with other terms. Only while no settlement stands: beside one it
 * may be an extra payment as well, which states of earlier versions do not list, and is to be sent back either way.
 */
export const isMismatched = ({ settlement, transfers, extraPayments }: PaymentIntent, landing: Landing): boolean => {
  const key = transferKey(landing);
  const isPaid = settlement !== null && !settlement.lost;
  return !isPaid && transfers.includes(key) && !extraPayments.some((one) => transferKey(one) === key);
};

/** True where this transfer was reported, and the report stands: it is no payment that counts. */
export const isReported = ({ settlement, transfers, extraPayments }: PaymentIntent, landing: Landing): boolean => {
  const key = transferKey(landing);
  const paid = settlement === null ? extraPayments : [settlement, ...extraPayments];
  return transfers.includes(key) && !paid.some((one) => transferKey(one) === key);
};

/**
 * True where this transfer was told of as an extra payment, and turns out to carry another reference. It is not taken
 * back, as its account may have sent it back: a person has to look at it.
 */
export const isWrongExtra = (intent: PaymentIntent, landing: Landing): boolean =>
  landing.transfer.reference !== intent.reference &&
  intent.extraPayments.some((one) => one.depositId === undefined && transferKey(one) === transferKey(landing));

/** True where a report of this transfer was withdrawn, as it carries the reference of another intent. */
export const isDisproved = ({ disproved = [] }: PaymentIntent, landing: Landing): boolean =>
  disproved.includes(transferKey(landing));

/** In base units: 100 ETH, and far more than a transaction costs anywhere. The books have no room for more. */
const NETWORK_FEE_MAX = 10n ** 20n - 1n;

/** Null where a node tells what no transaction costs: a payment does not fail for the books. */
export const credibleFee = (fee: NetworkFee): NetworkFee | null => (fee.amount <= NETWORK_FEE_MAX ? fee : null);

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

/**
 * True for an extra payment that was told of, and whose transaction a reorg has put into another block and so, perhaps,
 * to another index. Another index of the same block is another transfer.
 */
export const isMoved = (
  { extraPayments }: Pick<PaymentIntent, 'extraPayments'>,
  { hash, transfer }: Landing,
): boolean => {
  const same = extraPayments.filter((extra) => extra.hash === hash);
  const isThere = ({ transfer: { block, blockHash } }: Landing): boolean =>
    block === transfer.block && blockHash === transfer.blockHash;
  return same.length > 0 && !same.some(isThere);
};
