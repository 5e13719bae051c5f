import type { PaymentTerm } from './event.ts';
import type { Address } from './ids.ts';
import type { PaymentIntent, PaymentTerms, Transfer } from './intent.ts';
import { AMOUNT_LIMIT } from './money.ts';

/** What a transaction must pay to pay this intent. */
export const termsOf = ({
  chain,
  tokenAddress,
  amountBaseUnits,
  requestor,
  reference,
}: PaymentIntent): PaymentTerms => ({ chain, tokenAddress, amount: amountBaseUnits, requestor, reference });

/** The terms in which a transfer differs from what the intent asks for: empty when it pays the intent. */
export const termsThatDiffer = (intent: PaymentIntent, transfer: Transfer): readonly PaymentTerm[] => {
  const differs: PaymentTerm[] = [];
  if (transfer.tokenAddress !== intent.tokenAddress) differs.push('token');
  if (transfer.to !== intent.requestor) differs.push('recipient');
  if (!isEnough(intent, transfer.amount)) differs.push('amount');
  if (payerProblem(intent, transfer.from) !== null) differs.push('sender');
  if (transfer.reference !== intent.reference) differs.push('reference');
  return differs;
};

/** Whether a transfer of so many base units pays the intent. No refund could return what no intent could ask for. */
const isEnough = ({ accept, amountBaseUnits }: PaymentIntent, amount: bigint): boolean =>
  accept === 'at_least' ? amount >= amountBaseUnits && amount < AMOUNT_LIMIT : amount === amountBaseUnits;

/**
 * Whether a wallet may pay the intent: any but the requestor, and of a `send` intent only the one it names.
 * @param fulfiller the wallet that is to pay; null where neither the request nor the intent names one.
 * @returns what is wrong, about the field `fulfiller`, without a final period; null where the wallet may pay.
 */
export const payerProblem = (
  intent: Pick<PaymentIntent, 'direction' | 'fulfiller' | 'requestor'>,
  fulfiller: Address | null,
): string | null => {
  if (fulfiller === null) return 'fulfiller is required: the payment intent does not name one';
  if (intent.direction === 'send' && fulfiller !== intent.fulfiller)
    return `fulfiller must be ${String(intent.fulfiller)}, the wallet that pays this payment intent of direction send`;
  if (fulfiller === intent.requestor) return 'fulfiller must not be the requestor: a wallet cannot pay itself';
  return null;
};
