import type { ReservedAmounts } from '@pf/database';
import {
  AMOUNT_RESERVED_MS,
  type CreateData,
  formatAmount,
  type IntentId,
  reservableFor,
  type Surplus,
  surplusOf,
} from '@pf/domain';
import { ApiError, validationFailed } from '../api-error.ts';
import type { Holder } from '../api-keys.ts';
import { readAmount } from './amount.ts';

/** @throws ApiError 400 where no transfer can pay the intent by its amount */
export function requirePayByAmount({ payByAmount }: { readonly payByAmount: boolean }, data: CreateData): void {
  const { token, decimals, amountBaseUnits, direction } = data;
  const invalid = (param: string, message: string): ApiError => validationFailed([{ param, message }]);
  if (!payByAmount)
    throw invalid('attribution', 'attribution "amount" is not available here: leave it out, or ask the operator');
  if (direction !== 'request')
    throw invalid('attribution', 'attribution "amount" is for direction "request": leave it out');
  const surplus = surplusOf(decimals);
  if (surplus === null)
    throw invalid('attribution', `attribution "amount" is not possible with ${token}: it has too few decimals`);
  const most = readAmount(formatAmount(amountBaseUnits + surplus.max, decimals), { decimals, symbol: token });
  if (!most.ok) throw invalid('amount', `amount ${most.problem}, with up to 0.009999 more`);
}

interface Reserving {
  /** It keeps what was reserved for it before. */
  readonly intentId: IntentId;
  readonly data: CreateData;
  readonly holder: Holder;
}

/**
 * The data with an amount that no other intent of the wallet has. What is reserved for a create whose outcome stays
 * unknown is free again after its time.
 * @returns null where all are reserved
 */
export async function withReservedAmount(
  { amounts, now }: { readonly amounts: Pick<ReservedAmounts, 'reserve'>; readonly now: () => number },
  { intentId, data, holder: { accountId, livemode } }: Reserving,
): Promise<CreateData | null> {
  const { chain, tokenAddress, requestor: recipient, amountBaseUnits: asked, decimals, ttlSeconds } = data;
  const surplus = requireSurplus(data);
  const at = now();
  const until = at + ttlSeconds * 1_000 + AMOUNT_RESERVED_MS;
  const of = { intentId, accountId, livemode, chain, tokenAddress, recipient };
  const amountBaseUnits = await amounts.reserve({ ...of, asked, ...surplus, at, until });
  if (amountBaseUnits === null) return null;
  return { ...data, amount: formatAmount(amountBaseUnits, decimals), amountBaseUnits };
}

/** What a create is told where all amounts are reserved. */
export const allReserved = (data: CreateData): ApiError =>
  new ApiError('amount.all_reserved', {
    param: 'amount',
    details: { max: reservableFor(data.amountBaseUnits, requireSurplus(data)) },
  });

function requireSurplus({ decimals, token }: CreateData): Surplus {
  const surplus = surplusOf(decimals);
  if (surplus === null) throw new Error(`nothing can be added to an amount of ${token}`);
  return surplus;
}
