import { ApiError, UnreachableError } from '../api/requests.ts';

/** What keeps a person from paying, each with words of its own in `i18n`. */
export type ProblemKind =
  | 'declined'
  | 'request_open'
  | 'wrong_account'
  | 'own_wallet'
  | 'no_account'
  | 'wrong_network'
  | 'wallet_failed'
  | 'calls_given_up'
  | 'calls_reverted'
  | 'balance'
  | 'fee'
  | 'rejected'
  | 'blocked'
  | 'wallet_not_payable'
  | 'recipient_not_payable'
  | 'busy'
  | SponsorProblem
  | 'signed_otherwise'
  | 'limit'
  | 'too_many'
  | 'unavailable'
  | 'offline'
  | 'other';

/** The merchant's offer to pay the fee came to nothing: the payer can pay it. */
export type SponsorProblem = 'sponsor_refused' | 'sponsor_unavailable' | 'sponsor_wallet';
export const isOfSponsor = (kind: ProblemKind): kind is SponsorProblem => kind.startsWith('sponsor_');

/**
 * Whether an error of a wallet that was asked to pay proves that it has sent nothing: a person's refusal (code 4001),
 * or a wallet that does not know what it was asked for. No other one does: wallets report errors after they have sent.
 */
export const provesNothingSent = ({ kind }: Problem): boolean => kind === 'declined' || kind === 'sponsor_wallet';

/** A payment could not go on. Nothing that it says comes from outside except the parameters. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly kind: ProblemKind;
  readonly params: Readonly<Record<string, string>>;

  constructor(kind: ProblemKind, params: Readonly<Record<string, string>> = {}, options?: ErrorOptions) {
    super(kind, options);
    this.kind = kind;
    this.params = params;
  }
}

/** The problem that an answer of the API means for a payer. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof UnreachableError) return new Problem('offline', {}, { cause: error });
  if (!(error instanceof ApiError)) return new Problem('other', { code: 'page' }, { cause: error });
  const { code, param, reason } = error;
  const because = { reason: reason ?? '' };
  switch (code) {
    case 'transaction.rejected':
      return new Problem(rejection(reason ?? ''), because, { cause: error });
    case 'address.sanctions_match':
      return new Problem('blocked', {}, { cause: error });
    case 'address.not_payable':
      return new Problem(param === 'requestor' ? 'recipient_not_payable' : 'wallet_not_payable', because, {
        cause: error,
      });
    case 'intent.submission_in_progress':
      return new Problem('busy', {}, { cause: error });
    case 'sponsor.refused':
      return new Problem('sponsor_refused', {}, { cause: error });
    case 'sponsor.unavailable':
      return new Problem('sponsor_unavailable', {}, { cause: error });
    case 'transaction.mismatch':
    case 'transaction.malformed':
      return new Problem('signed_otherwise', {}, { cause: error });
    case 'intent.limit_reached':
    case 'payment_link.limit_reached':
      return new Problem('limit', {}, { cause: error });
    case 'rate_limit.exceeded':
    case 'intent.too_many_builds':
      return new Problem('too_many', {}, { cause: error });
    default:
      return new Problem(error.retryAfterMs === null ? 'other' : 'unavailable', { code }, { cause: error });
  }
}

/** Why a chain would refuse a payment: the API says it in words, and the commonest two are worth words of our own. */
function rejection(reason: string): ProblemKind {
  if (/\bfees?\b/.test(reason)) return 'fee';
  return /^the payer has .* and needs /.test(reason) ? 'balance' : 'rejected';
}
