import { worthOf } from '@pf/domain';
import type { Holding, Holdings, Reading, TokenTransfer } from './reading.ts';

/** The tokens of one owner in one mint. */
export const keyOf = ({ owner, mint }: Holding): string => `${owner} ${mint}`;
const sum = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((units, one) => units + one, 0n);

/** What the account at this place has gained for its owner and in its token, by the chain's own balances. */
export function gainOf({ before, after }: Pick<Reading, 'before' | 'after'>, place: number): bigint {
  const [was, is] = [before.get(place), after.get(place)];
  const isSame = was !== undefined && is !== undefined && keyOf(was) === keyOf(is);
  return (is?.amount ?? 0n) - (isSame ? was.amount : 0n);
}

/** The same of all accounts of one owner and token. @param owned by keyOf() */
export const wholeGainOf = ({ before, after }: Pick<Reading, 'before' | 'after'>, owned: string | null): bigint =>
  heldBy(owned, after) - heldBy(owned, before);

const heldBy = (owned: string | null, holdings: Holdings): bigint =>
  sum([...holdings.values()].filter((one) => keyOf(one) === owned).map(({ amount }) => amount));

/**
 * What each claimed transfer has paid whoever owns the credited account after the transaction, in that account's token:
 * at most what the account gained, and at most what all accounts of that owner and token gained together. The balances
 * before and after are the chain's own, everything else was written by whoever made the transaction.
 *
 * Both bounds are needed. An account may have been another's before, or of a worthless token while it was credited:
 * such a credit must not take what another account of the owner gained. And what one account gained may have come from
 * another one of the owner. In an opaque account nothing is certain: what was claimed may have gone, and what it gained
 * be of another payer.
 *
 * @param claimed transfers that name an intent; the others use up what was gained
 */
export function paidBy(
  { transfers, opaque, before, after }: Pick<Reading, 'transfers' | 'opaque' | 'before' | 'after'>,
  claimed: ReadonlySet<TokenTransfer>,
): ReadonlyMap<TokenTransfer, bigint> {
  const ownerOf = (place: number, ...holdings: readonly Holdings[]): string | null => {
    const held = holdings.map((one) => one.get(place)).find((one) => one !== undefined);
    return held === undefined ? null : keyOf(held);
  };
  const moved = transfers
    .filter(({ source, destination }) => source !== destination)
    .map((transfer) => {
      const [from, to] = [ownerOf(transfer.source, after, before), ownerOf(transfer.destination, after)];
      const isClaimed = claimed.has(transfer) && to !== null && from !== to;
      return { transfer, amount: transfer.amount, isClaimed, from, to };
    });
  type Moved = (typeof moved)[number];
  const worth = (credits: readonly Moved[], debits: readonly Moved[], gained: bigint): ReadonlyMap<Moved, bigint> =>
    worthOf({ credits, debited: sum(debits.map(({ amount }) => amount)), gained });

  const paid = new Map<TokenTransfer, bigint>();
  const claims = moved.filter(({ isClaimed }) => isClaimed);
  for (const [owner, ofOwner] of Map.groupBy(claims, ({ to }) => to)) {
    const byOwner = worth(
      moved.filter(({ from, to }) => to === owner && from !== owner),
      moved.filter(({ from, to }) => from === owner && to !== owner),
      wholeGainOf({ before, after }, owner),
    );
    for (const [place, ofAccount] of Map.groupBy(ofOwner, ({ transfer }) => transfer.destination)) {
      const byAccount = worth(
        moved.filter(({ transfer }) => transfer.destination === place),
        moved.filter(({ transfer }) => transfer.source === place),
        gainOf({ before, after }, place),
      );
      for (const one of ofAccount) {
        const [most, atMost] = [byOwner.get(one) ?? 0n, opaque.has(place) ? 0n : (byAccount.get(one) ?? 0n)];
        paid.set(one.transfer, most < atMost ? most : atMost);
      }
    }
  }
  return paid;
}
