import { z } from 'zod';
import type { PaymentFilter, Payment } from '../controls.ts';
import { quantity } from './quantity.ts';

const call = { to: z.string().nullish(), input: z.string().nullish() };

/** What is used of a transaction in the pool or in a block; on Tempo the call may stand in a list. */
export const transaction = z.object({
  hash: z.string(),
  from: z.string(),
  nonce: quantity,
  nonceKey: quantity.nullish(),
  gas: quantity,
  gasPrice: quantity.nullish(),
  maxFeePerGas: quantity.nullish(),
  maxPriorityFeePerGas: quantity.nullish(),
  feeToken: z.string().nullish(),
  validBefore: quantity.nullish(),
  ...call,
  calls: z.array(z.object(call)).nullish(),
});
export type Transaction = z.infer<typeof transaction>;

/** What `txpool_content` says can get into the next block. */
export const pool = z
  .object({ pending: z.record(z.string(), z.record(z.string(), transaction)) })
  .transform(({ pending }) => Object.values(pending).flatMap((ofSender) => Object.values(ofSender)));

/** transfer(address,uint256), and what the service puts behind its arguments. */
const TRANSFER = 'a9059cbb';
/** transferWithMemo(address,uint256,bytes32) */
const TRANSFER_WITH_MEMO = '95777d59';
/** In hex digits: the selector and two words of arguments, then the reference, a word as well. */
const [REFERENCE_AT, REFERENCE_LENGTH] = [8 + 2 * 64, 64];

/** A payment in a transaction. */
export interface FoundPayment extends Payment {
  readonly token: string;
  readonly amount: bigint;
  readonly transaction: Transaction;
}

/** The payment with a reference that a transaction makes; null: it makes none. */
function paymentIn(found: Transaction): FoundPayment | null {
  const [{ to, input }] = found.calls?.length ? (found.calls as [NonNullable<Transaction['calls']>[number]]) : [found];
  const data = (input ?? '').slice(2).toLowerCase();
  const isPayment =
    (data.startsWith(TRANSFER) || data.startsWith(TRANSFER_WITH_MEMO)) &&
    data.length >= REFERENCE_AT + REFERENCE_LENGTH;
  if (!isPayment || to === null || to === undefined) return null;
  return {
    hash: found.hash,
    payer: found.from,
    reference: `0x${data.slice(REFERENCE_AT, REFERENCE_AT + REFERENCE_LENGTH)}`,
    token: to,
    amount: BigInt(`0x${data.slice(8 + 64, REFERENCE_AT)}`),
    transaction: found,
  };
}

const matches = (expected: string | undefined, found: string | null): boolean =>
  expected === undefined || expected.toLowerCase() === found?.toLowerCase();

/** The first payment that the filter matches; null: none. */
export function findPayment(
  transactions: readonly Transaction[],
  { payer, reference }: PaymentFilter,
): FoundPayment | null {
  for (const one of transactions) {
    const payment = paymentIn(one);
    if (payment && matches(payer, payment.payer) && matches(reference, payment.reference)) return payment;
  }
  return null;
}
