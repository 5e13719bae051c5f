import { RpcUnavailableError } from '@pf/chains';
import type { Address, ChainId, IntentId } from '@pf/domain';
import { count, type Logger } from '@pf/runtime';
import { type Screening, ScreeningUnavailableError, type Verdict } from '@pf/screening';
import { ApiError, asApiError } from '../api-error.ts';
import type { Holder } from '../api-keys.ts';
import type { Adapters } from './lookup.ts';

export interface ScreeningDependencies {
  readonly adapters: Adapters;
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
  readonly holder: Pick<Holder, 'accountId' | 'livemode'>;
  readonly what: 'create' | 'submit' | 'refund' | 'link' | 'assign';
  readonly intentId?: IntentId;
  /** The field that names the requestor; default: `requestor`. */
  readonly requestorParam?: string;
}

/**
 * Refuses a request if one of its wallets is sanctioned or cannot be screened. Where another account than the requestor
 * gets the money, that one is screened, too. Only the operator's log shows the finding.
 * @throws ApiError 422 `address.sanctions_match` with the field of the wallet, 422 `address.not_payable` where it is
 *   not known in live mode who gets the money, 503 `screening.unavailable`, 429 `rate_limit.exceeded` where the
 *   account, or test mode, has too many screened at once, 503 `rpc.unavailable` where no upstream says who gets it
 */
export async function requireCleanWallets(
  { adapters, screening, log }: ScreeningDependencies,
  { chain, requestor, fulfiller }: Wallets,
  { holder, what, intentId, requestorParam = 'requestor' }: Occasion,
): Promise<void> {
  const payee = await payeeOf(adapters, chain, requestor, requestorParam, holder);
  const wallets = [...new Set([requestor, payee, ...(fulfiller === null ? [] : [fulfiller])])];
  const verdict = await screen(
    screening,
    wallets.map((address) => ({ chain, address })),
    holder,
  );
  if (verdict.kind === 'clean') return;
  const { address } = verdict.wallet;
  const param = address === requestor || address === payee ? requestorParam : 'fulfiller';
  const isPayee = address === payee && payee !== requestor;
  const who = isPayee ? `account ${address}, which gets what is paid to the ${requestorParam},` : `${param} ${address}`;
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
    message: `The ${who} is on a sanctions list.`,
    param,
    details: { address, ...(intentId && { intent_id: intentId }) },
  });
}

/** The account that gets what is paid to the requestor. In test mode it need not be known. */
async function payeeOf(
  adapters: Adapters,
  chain: ChainId,
  requestor: Address,
  param: string,
  { livemode }: Pick<Holder, 'livemode'>,
): Promise<Address> {
  let payee: Address | null | undefined;
  try {
    payee = await adapters.get(chain)?.payee?.(requestor);
  } catch (error) {
    throw error instanceof RpcUnavailableError ? asApiError(error) : error;
  }
  if (payee === undefined) return requestor;
  if (payee !== null) return payee;
  if (!livemode) return requestor;
  const reason = 'is a virtual address, and no account is registered that gets what is paid to it';
  throw new ApiError('address.not_payable', {
    message: `The ${param} ${requestor} ${reason}.`,
    param,
    details: { reason },
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
