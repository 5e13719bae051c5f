import type { PaymentTerms } from '@pf/domain';
import { findNetwork } from '@pf/chains/networks';
import type { Intent } from '../../src/api/schemas.ts';
import { type Terms, termsOf } from '../../src/check/terms.ts';

/** An intent as the page gets it, for these terms. */
export function intentOf(
  { chain, tokenAddress, amount, requestor, reference }: PaymentTerms,
  changes: Partial<Intent> = {},
): Intent {
  const token = findNetwork(chain)?.tokens.find(({ address }) => address === tokenAddress);
  if (token === undefined) throw new Error(`${chain} has no token ${tokenAddress}`);
  const digits = amount.toString().padStart(token.decimals + 1, '0');
  return {
    id: 'pi_5mUj8xNgYq3vWJ2hTfKd7',
    chain,
    token: token.symbol,
    tokenAddress,
    amount: `${digits.slice(0, -token.decimals)}.${digits.slice(-token.decimals)}`,
    amountBaseUnits: amount.toString(),
    requestor,
    fulfiller: null,
    direction: 'request',
    state: 'created',
    retryRequired: false,
    pendingAtExpiry: false,
    reference,
    txSignature: null,
    detectedAt: null,
    ataRentLamports: null,
    createdAt: '2026-11-22T10:00:00.000Z',
    expiresAt: '2026-11-23T10:00:00.000Z',
    confirmedAt: null,
    updatedAt: '2026-11-22T10:00:00.000Z',
    livemode: false,
    ...changes,
  };
}

/** What the page shows of these terms. */
export function shown(terms: PaymentTerms): Terms {
  const read = termsOf(intentOf(terms));
  if (read === null) throw new Error('the intent contradicts the registry');
  return read;
}
