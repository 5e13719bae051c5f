import type { ErrorCode } from '@pf/contracts';
import type { Refusal, RefusalCode } from '@pf/domain';
import { ApiError, type ErrorDetails, validationFailed } from './api-error.ts';

/** Every refusal of the domain has its error, and with it its status: a new one does not compile until it stands here. */
const ERROR_OF: Readonly<Record<RefusalCode, ErrorCode>> = {
  'intent.not_found': 'intent.not_found',
  'intent.invalid_state': 'intent.invalid_state',
  'intent.already_fulfilled': 'intent.already_fulfilled',
  'intent.expired': 'intent.expired',
  'intent.stale_update': 'intent.stale_update',
  'intent.submission_in_progress': 'intent.submission_in_progress',
  'intent.already_refunded': 'intent.already_refunded',
  'transaction.mismatch': 'transaction.mismatch',
  'request.validation_failed': 'request.validation_failed',
  'api_key.test_mode_required': 'api_key.test_mode_required',
  // Builders kept overtaking each other for as long as the gateway tried: the same request may do better in a moment.
  'build.superseded': 'service.unavailable',
};

/** The error that a refusal is for a client. */
export function refused({ code, message, param, intentId, currentState, details }: Refusal): ApiError {
  if (code === 'request.validation_failed')
    return validationFailed([{ param: param ?? '', message: message.replace(/\.$/, '') }]);
  return new ApiError(ERROR_OF[code], {
    message,
    param: param ?? null,
    details: detailsOf(code, { intent_id: intentId, ...(currentState && { current_state: currentState }) }, details),
  });
}

function detailsOf(code: RefusalCode, place: ErrorDetails, details: ErrorDetails | undefined): ErrorDetails | null {
  // The details of a mismatch are what differs and nothing else, whoever found it; of an unknown id there is nothing to say.
  if (code === 'transaction.mismatch') return details ?? null;
  if (code === 'intent.not_found') return null;
  return { ...place, ...details };
}
