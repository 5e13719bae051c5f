import { findNetwork, isCalled, type Network } from '@pf/chains/networks';
import type { Intent } from '../api/schemas.ts';
import type { Difference } from './checked.ts';

/** What the payer has read on the page and agrees to. */
export interface Terms {
  readonly network: Network;
  readonly tokenAddress: string;
  readonly decimals: number;
  /** Base units. */
  readonly amount: bigint;
  readonly requestor: string;
  readonly reference: string;
}

/**
 * The terms of an intent, read from what is shown of it: the token by its name and the amount by its decimals, both
 * with the table of networks that the page has brought along. Null if the intent contradicts that table or itself:
 * then a person would be shown one thing and sign another.
 */
export function termsOf(intent: Intent): Terms | null {
  const network = findNetwork(intent.chain);
  const token = network?.tokens.find(({ address }) => (address as string) === intent.tokenAddress);
  if (network === undefined || token === undefined || !isCalled(token, intent.token)) return null;
  const amount = baseUnits(intent.amount, token.decimals);
  if (amount === null || amount === 0n || amount !== BigInt(intent.amountBaseUnits)) return null;
  if (network.livemode !== intent.livemode) return null;
  const { requestor, reference } = intent;
  return { network, tokenAddress: intent.tokenAddress, decimals: token.decimals, amount, requestor, reference };
}

/** What two terms do not have in common. */
export function differencesBetween(a: Terms, b: Terms): readonly Difference[] {
  const pairs: readonly (readonly [Difference, boolean])[] = [
    ['chain', a.network.chain === b.network.chain],
    ['token', a.tokenAddress === b.tokenAddress],
    ['recipient', a.requestor === b.requestor],
    ['amount', a.amount === b.amount],
    ['reference', a.reference === b.reference],
  ];
  return pairs.filter(([, isSame]) => !isSame).map(([name]) => name);
}

/** A plain decimal as an integer of the token's smallest unit; null if it is none, or finer than that. */
export function baseUnits(decimal: string, decimals: number): bigint | null {
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  if (whole === '' || fraction.length > decimals) return null;
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
