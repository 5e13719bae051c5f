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

export const isAt = ({ transfer }: Landing, { block, blockHash }: Place): boolean =>
  transfer.block === block && transfer.blockHash === blockHash;

/**
 * The standing payment that this transfer is, after a reorg has put its transaction into another block and so, perhaps,
 * to another index: one of the same amount. Of an intent that more may pay, a transaction can bring another amount
 * there: then it is the one at the same index, or the first. Another index of the same block is another transfer.
 */
export const movedFrom = (
  { settlement, extraPayments }: Pick<PaymentIntent, 'settlement' | 'extraPayments'>,
  { hash, transfer }: Landing,
): Landing | undefined => {
  const { amount, index } = transfer;
  const paid = settlement === null || settlement.lost ? extraPayments : [settlement, ...extraPayments];
  const same = paid.filter((one) => one.hash === hash);
  if (same.some((one) => isAt(one, transfer) && one.transfer.index === index)) return undefined;
  const moved = same.filter((one) => !isAt(one, transfer));
  return (
    moved.find((one) => one.transfer.amount === amount) ?? moved.find((one) => one.transfer.index === index) ?? moved[0]
  );
};

/** True for the transfer that settles the intent, also where a reorg has moved it. */
export const isSettling = (intent: PaymentIntent, landing: Landing): boolean => {
  const { settlement } = intent;
  if (settlement === null || settlement.lost || settlement.hash !== landing.hash) return false;
  return isAt(settlement, landing.transfer)
    ? settlement.transfer.index === landing.transfer.index
    : movedFrom(intent, landing) === settlement;
};

/** The extra payment that was told of, and that this transfer is in another block, perhaps with another amount. */
export const movedExtra = (
  intent: Pick<PaymentIntent, 'settlement' | 'extraPayments'>,
  landing: Landing,
): Landing | undefined => {
  const moved = movedFrom(intent, landing);
  return intent.extraPayments.find((extra) => extra === moved);
};

/** True for an extra payment that was told of in this very place. */
export const isStandingExtra = ({ extraPayments }: Pick<PaymentIntent, 'extraPayments'>, landing: Landing): boolean =>
  extraPayments.some((extra) => transferKey(extra) === transferKey(landing) && isAt(extra, landing.transfer));

/** The name of an extra payment that a reorg has undone: its transaction, with its amount where that is another one. */
export const undoneKey = (
  { amountBaseUnits }: Pick<PaymentIntent, 'amountBaseUnits'>,
  { hash, transfer: { amount } }: Landing,
): string => (amount === amountBaseUnits ? hash : `${hash}:${amount}`);

/**
 * True for an extra payment of another amount that the settling transaction has made, too, and that is back after a
 * reorg has undone both: the one that settles is expected with it.
 */
export const isBesideLost = (intent: PaymentIntent, landing: Landing): boolean => {
  const { settlement, undoneExtras = [] } = intent;
  return (
    settlement?.lost === true &&
    settlement.hash === landing.hash &&
    settlement.transfer.amount !== landing.transfer.amount &&
    undoneExtras.includes(undoneKey(intent, landing))
  );
};
