import type { Address, ChainId, IntentId } from '@pf/domain';
import { count, type Logger } from '@pf/runtime';
import { type Screening, ScreeningUnavailableError, type Verdict } from '@pf/screening';
import { ApiError } from '../api-error.ts';
import type { Holder } from '../api-keys.ts';

export interface ScreeningDependencies {
  readonly screening: Screening;
  readonly log: Logger;
}

/** The wallets of a payment. */
interface Wallets {
  readonly chain: ChainId;
  readonly requestor: Address;
  /** Null if the payer is not known yet. */
  readonly fulfiller: Address | null;
}

/** For the operator's log. */
interface Occasion {
  readonly holder: Holder;
  readonly what: 'create' | 'submit' | 'refund' | 'link';
  readonly intentId?: IntentId;
}

/**
 * Refuses a request if one of its wallets is sanctioned or cannot be screened. Only the operator's log shows the
 * finding.
 * @throws ApiError 422 `address.sanctions_match` with the field of the wallet, 503 `screening.unavailable`, 429
 *   `rate_limit.exceeded` where the account, or test mode, has too many screened at once
 */
export async function requireCleanWallets(
  { screening, log }: ScreeningDependencies,
  { chain, requestor, fulfiller }: Wallets,
  { holder, what, intentId }: Occasion,
): Promise<void> {
  const verdict = await screen(
    screening,
    [requestor, ...(fulfiller === null ? [] : [fulfiller])].map((address) => ({ chain, address })),
    holder,
  );
  if (verdict.kind === 'clean') return;
  const { address } = verdict.wallet;
  const param = address === requestor ? 'requestor' : 'fulfiller';
  const { accountId, livemode } = holder;
  log.warn(
    {
      alarm: 'sanctions_match',
      what,
      accountId,
      livemode,
      ...(intentId && { intentId }),
      chain,
      param,
      address,
      finding: verdict.finding,
    },
    'a wallet is on a sanctions list: the request was refused',
  );
  throw new ApiError('address.sanctions_match', {
    message: `The ${param} ${address} is on a sanctions list.`,
    param,
    details: { address, ...(intentId && { intent_id: intentId }) },
  });
}

async function screen(screening: Screening, ...[wallets, origin]: Parameters<Screening['screen']>): Promise<Verdict> {
  try {
    return await screening.screen(wallets, origin);
  } catch (error) {
    if (!(error instanceof ScreeningUnavailableError)) throw error;
    const { retryAfterSeconds, limited } = error;
    if (!limited) throw new ApiError('screening.unavailable', { retryAfterSeconds, cause: error });
    count('payments.rate_limited', { policy: 'screening' });
    throw new ApiError('rate_limit.exceeded', {
      message:
        `Too many new wallets of this account, or of test mode, are being screened. Nothing was done. ` +
        `Retry after ${retryAfterSeconds} s.`,
      retryAfterSeconds,
      cause: error,
    });
  }
}
