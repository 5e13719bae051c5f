import type { IntentId } from '../model/ids.ts';
import type { AssignedDeposit, DepositStanding } from '../model/input.ts';
import type { PaymentIntent } from '../model/intent.ts';
import { refusalAtLimit } from '../model/limits.ts';
import type { Refusal } from '../model/refusal.ts';
import { refusalOf } from '../model/refusal.ts';
import { termsThatDiffer } from '../model/terms.ts';
import type { Deposit } from './deposit.ts';

/** What a deposit has to pay to be assigned to an intent, where it is something else. */
export const ASSIGNMENT_TERMS = ['network', 'token', 'recipient', 'amount', 'sender'] as const;
export type AssignmentTerm = (typeof ASSIGNMENT_TERMS)[number];

/** Its transfer as one of an intent. A mint has no sender: the token stands for it. */
const transferOf = ({ arrival }: Deposit): AssignedDeposit['transfer'] | null => {
  const { tokenAddress, from, to, amount, block, blockHash, index } = arrival;
  if (tokenAddress === null) return null;
  return { tokenAddress, from: from ?? (tokenAddress as string as typeof to), to, amount, block, blockHash, index };
};

/** The terms of the intent that the deposit does not have: empty where it may be assigned to it. */
const assignmentDiffers = (deposit: Deposit, intent: PaymentIntent): readonly AssignmentTerm[] => {
  const network = deposit.chain === intent.chain ? [] : (['network'] as const);
  const transfer = transferOf(deposit);
  if (transfer === null) return [...network, 'token'];
  const differs = termsThatDiffer(intent, { ...transfer, reference: intent.reference });
  return [...network, ...differs.filter((term) => term !== 'reference')];
};

/**
 * Why a deposit of an account may not be assigned to one of its intents; null where it may. Both are of the same
 * account and mode.
 */
export const refusalOfAssignment = (deposit: Deposit, intent: PaymentIntent): Refusal | null => {
  const differs = assignmentDiffers(deposit, intent);
  // An intent remembers each deposit that was assigned to it.
  if (differs.length === 0) return refusalAtLimit(intent, 'change');
  return refusalOf(
    intent,
    'deposit.mismatch',
    `The deposit has another ${differs.join(' and ')} than the payment intent asks for. ` +
      'Assign it to a payment intent with its network, token, recipient and amount.',
    { details: { differs } },
  );
};

/**
 * Why the assignment of a deposit may not be undone; null where it may.
 * @param intent the one that it is assigned to
 */
export const refusalOfUnassignment = (deposit: Deposit, intent: PaymentIntent): Refusal | null => {
  if (intent.settlement?.depositId !== deposit.id) return null;
  if (intent.refundedBy !== null)
    return refusalOf(
      intent,
      'intent.already_refunded',
      `The payment intent has the refund ${intent.refundedBy}, so the deposit stays assigned to it. ` +
        'Cancel the refund first.',
      { details: { refund_intent_id: intent.refundedBy } },
    );
  // What would take its place would be called final, and may not be.
  if (intent.status === 'finalized' && intent.extraPayments.length > 0)
    return refusalOf(
      intent,
      'intent.invalid_state',
      'The payment intent is final with this deposit and was paid again, so the deposit stays assigned to it. ' +
        'Send the extra payment back instead.',
    );
  return null;
};

/** What an intent has to be told after an event of a deposit. */
export interface ToldIntent {
  readonly intentId: IntentId;
  readonly data: AssignedDeposit;
}

/**
 * What the intent of an assignment has to know of an event of the deposit; null where no intent is concerned.
 *
 * @param before the deposit before the event; undefined before its first
 */
export const toldIntent = (before: Deposit | undefined, deposit: Deposit): ToldIntent | null => {
  if (deposit.heldFrom !== undefined || before?.heldFrom !== undefined) return null;
  const assigned = deposit.state === 'assigned' ? deposit : before?.state === 'assigned' ? before : null;
  const transfer = transferOf(deposit);
  const intentId = assigned?.intentId ?? null;
  if (intentId === null || transfer === null) return null;
  const data = { depositId: deposit.id, version: deposit.version, hash: deposit.arrival.hash, transfer };
  return { intentId, data: { ...data, standing: standingOf(deposit, intentId) } };
};

const standingOf = ({ state, level, intentId }: Deposit, assignedTo: IntentId): DepositStanding => {
  if (level === 'withdrawn') return intentId === assignedTo ? 'proven' : 'withdrawn';
  return state === 'assigned' ? level : 'unassigned';
};
