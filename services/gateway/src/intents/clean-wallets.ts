import type { Address, ChainId, IntentId } from '@pf/domain';
import type { KeyHolder } from '@pf/database';
import type { Logger } from '@pf/runtime';
import { type Screening, ScreeningUnavailableError, type Verdict } from '@pf/screening';
import { ApiError } from '../api-error.ts';

export interface ScreeningDependencies {
  readonly screening: Screening;
  readonly log: Logger;
}

/** Between whom money is to move. */
interface Wallets {
  readonly chain: ChainId;
  readonly requestor: Address;
  /** Null where nobody has said yet who pays. */
  readonly fulfiller: Address | null;
}

/** For the operator's log: whose request it was, and about which intent. */
interface Occasion {
  readonly holder: KeyHolder;
  readonly what: 'create' | 'submit' | 'refund';
  readonly intentId?: IntentId;
}

/**
 * Nothing is done for a wallet that is sanctioned, or that cannot be screened. What is known of it goes to the
 * operator's log and to nobody else.
 * @throws ApiError 422 `address.sanctions_match` naming the wallet by its field, 503 `screening.unavailable`
 */
export async function requireCleanWallets(
  { screening, log }: ScreeningDependencies,
  { chain, requestor, fulfiller }: Wallets,
  { holder, what, intentId }: Occasion,
): Promise<void> {
  const verdict = await ask(
    screening,
    [requestor, ...(fulfiller === null ? [] : [fulfiller])].map((address) => ({ chain, address })),
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
    'a wallet is sanctioned: the request was refused',
  );
  throw new ApiError('address.sanctions_match', {
    message: `The ${param} ${address} is on a sanctions list.`,
    param,
    details: { address, ...(intentId && { intent_id: intentId }) },
  });
}

async function ask(screening: Screening, wallets: Parameters<Screening['screen']>[0]): Promise<Verdict> {
  try {
    return await screening.screen(wallets);
  } catch (error) {
    if (!(error instanceof ScreeningUnavailableError)) throw error;
    throw new ApiError('screening.unavailable', { retryAfterSeconds: error.retryAfterSeconds, cause: error });
  }
}
