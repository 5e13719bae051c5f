import type { ErrorCode } from '@pf/contracts';
import type { IntentStatus, PaymentIntent } from '@pf/domain';
import { ApiError } from '../api-error.ts';

/**
 * Build and submit are for `created`: lifecycle.md's codes for the rest, said before a chain is asked. The writer
 * decides again.
 */
const CONFLICT: Readonly<Record<Exclude<IntentStatus, 'created'>, ErrorCode>> = {
  pending: 'intent.already_fulfilled',
  confirmed: 'intent.already_fulfilled',
  finalized: 'intent.already_fulfilled',
  expired: 'intent.expired',
  failed: 'intent.invalid_state',
  cancelled: 'intent.invalid_state',
};

/** @throws ApiError 409 where the intent is not `created`. @param what `paid`, `built for` */
export function requireCreated({ id, status }: PaymentIntent, what: string): void {
  if (status === 'created') return;
  const message = `The payment intent is ${status}, so it cannot be ${what}.`;
  throw new ApiError(CONFLICT[status], { message, details: { intent_id: id, current_state: status } });
}

/** @throws ApiError 409 where the intent is not paid. @param what `refunded` */
export function requirePaid({ id, status }: PaymentIntent, what: string): void {
  if (status === 'confirmed' || status === 'finalized') return;
  throw new ApiError('intent.invalid_state', {
    message: `A payment intent that is ${status} cannot be ${what}.`,
    details: { intent_id: id, current_state: status },
  });
}

/** 409: a transaction that may still land stands in the way. */
export const submissionInProgress = ({ id, status }: PaymentIntent): ApiError =>
  new ApiError('intent.submission_in_progress', { details: { intent_id: id, current_state: status } });
