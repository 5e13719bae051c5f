import { type Address, worthOf } from '@pf/domain';
import type { LoggedTransfer } from './observe/landings.ts';

/** A transfer as the token logged it. */
export type TokenTransfer = Pick<LoggedTransfer, 'from' | 'to' | 'amount'> & {
  readonly log: Pick<LoggedTransfer['log'], 'address' | 'logIndex'>;
};

/**
 * What each claimed transfer of one transaction is worth, in base units, by the index of its log: together never more
 * than its recipient's account has of that token after the transaction more than before it. The tokens' own logs tell:
 * each is used once, what leaves the account again is taken off, and what an account sends to itself is worth nothing.
 *
 * @param transfers all that the registered tokens logged in the transaction
 * @param isClaimed whether a transfer is counted as the payment of an intent
 */
export function paidIn<T extends TokenTransfer>(
  transfers: readonly T[],
  isClaimed: (transfer: T) => boolean,
): ReadonlyMap<bigint, bigint> {
  const once = [...new Map(transfers.map((transfer) => [transfer.log.logIndex, transfer])).values()];
  const worth = new Map<bigint, bigint>();
  for (const ofToken of Map.groupBy(once, ({ log }) => log.address).values()) {
    const debits = Map.groupBy(ofToken.filter(isGain), ({ from }) => from);
    for (const [account, credits] of Map.groupBy(ofToken.filter(isGain), ({ to }) => to))
      for (const [credit, units] of worthIn(credits, debits.get(account) ?? [], isClaimed)) worth.set(credit, units);
  }
  return worth;
}

const isGain = ({ from, to }: { readonly from: Address; readonly to: Address }): boolean => from !== to;
const sumOf = (all: readonly TokenTransfer[]): bigint => all.reduce((sum, { amount }) => sum + amount, 0n);

function* worthIn<T extends TokenTransfer>(
  into: readonly T[],
  out: readonly T[],
  isClaimed: (transfer: T) => boolean,
): Generator<readonly [bigint, bigint]> {
  const credits = into.map((one) => ({ index: one.log.logIndex, amount: one.amount, isClaimed: isClaimed(one) }));
  const debited = sumOf(out);
  for (const [{ index }, units] of worthOf({ credits, debited, gained: sumOf(into) - debited })) yield [index, units];
}
