import type { ErrorCode } from '@pf/contracts';
import type { DepositRefusal, IntentId, Refusal, RefusalCode } from '@pf/domain';
import { ApiError, type ErrorDetails, validationFailed } from './api-error.ts';

/**
 * The error of every refusal of the domain, and with it the HTTP status. A new refusal does not compile without one.
 */
const ERROR_OF: Readonly<Record<RefusalCode, ErrorCode>> = {
  'intent.not_found': 'intent.not_found',
  'intent.invalid_state': 'intent.invalid_state',
  'intent.already_fulfilled': 'intent.already_fulfilled',
  'intent.expired': 'intent.expired',
  'intent.stale_update': 'intent.stale_update',
  'intent.submission_in_progress': 'intent.submission_in_progress',
  'intent.already_refunded': 'intent.already_refunded',
  'intent.original_unpaid': 'intent.original_unpaid',
  'intent.limit_reached': 'intent.limit_reached',
  'intent.unavailable': 'intent.unavailable',
  'transaction.mismatch': 'transaction.mismatch',
  'deposit.mismatch': 'deposit.mismatch',
  'request.validation_failed': 'request.validation_failed',
  'api_key.test_mode_required': 'api_key.test_mode_required',
  // Builds for other fulfillers came first in every try of the gateway. Payers can cause that at will: no 5xx.
  'build.superseded': 'intent.too_many_builds',
};

/** A build comes second in a race, not for a budget that has to fill up again. */
const SUPERSEDED_RETRY_SECONDS = 2;

/** The error that a client receives for a refusal. */
export function refused({ code, message, param, intentId, currentState, details }: Refusal): ApiError {
  if (code === 'request.validation_failed')
    return validationFailed([{ param: param ?? '', message: message.replace(/\.$/, '') }]);
  return new ApiError(ERROR_OF[code], {
    // An unknown id gets the message of the registry, whether the gateway or the writer finds it.
    ...(code !== 'intent.not_found' && { message }),
    param: param ?? null,
    ...(code === 'build.superseded' && { retryAfterSeconds: SUPERSEDED_RETRY_SECONDS }),
    details: detailsOf(code, { intent_id: intentId, ...(currentState && { current_state: currentState }) }, details),
  });
}

/** The same of a refusal about a deposit, whose codes are those of the API. */
export const refusedDeposit = ({ code, message, depositId, current }: DepositRefusal): ApiError =>
  code === 'deposit.not_found'
    ? new ApiError(code)
    : new ApiError(code, { message, details: { deposit_id: depositId, ...current } });

/** @throws ApiError of the refusal, if the domain refuses */
export function requireAllowed(refusal: Refusal | null): void {
  if (refusal !== null) throw refused(refusal);
}

/** @param reason why the chain would not accept it, without a full stop */
export const rejected = (
  what: 'payment' | 'transaction' | 'authorization' | 'operation',
  intentId: IntentId,
  reason: string,
): ApiError =>
  new ApiError('transaction.rejected', {
    message: `The chain would reject this ${what}: ${reason}.`,
    details: { intent_id: intentId, reason },
  });

function detailsOf(code: RefusalCode, conflict: ErrorDetails, details: ErrorDetails | undefined): ErrorDetails | null {
  // A mismatch shows only the differences, as it does when the gateway finds it; an unknown id has no details.
  if (code === 'transaction.mismatch') return details ?? null;
  if (code === 'intent.not_found') return null;
  return { ...conflict, ...details };
}
