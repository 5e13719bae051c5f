import { type Address, COUNTED_MAX } from '@pf/domain';
import type { Unjudged } from '../../evm/observe/reading.ts';
import type { WatchSet } from '../../port.ts';
import { byOwners } from './by-owners.ts';
import type { Seen } from './position.ts';

/** How many landings a cursor holds: of one intent, and in all. One has half a kilobyte there. */
const OF_INTENT_MAX = COUNTED_MAX.dust;
const HELD_MAX = 2_000;

type Landed = Extract<Seen, { kind: 'landed' }>;

/** What a cursor holds of what was seen, and what waits with its block until there is room. */
interface Held {
  readonly seen: readonly Seen[];
  readonly waiting: readonly Unjudged[];
}

/**
 * Anyone can send dust with the reference of an intent: what is held is bounded. Of an intent those come first that end
 * its submission or settle it, and then the largest; of all those that are not reported yet, by turns of the accounts,
 * recipients and payers. What was reported is forgotten where there is no room: the ledger has it, or is told again
 * when it is read again. Of one transaction no more is told of than of an intent.
 */
export function held(
  watch: Pick<WatchSet, 'ownersOf' | 'submitted' | 'settling' | 'byReference'>,
  seen: readonly Seen[],
): Held {
  const landings = seen.filter((one) => one.kind === 'landed');
  const told = grouped(landings, ({ intentId, hash }) => `${intentId} ${hash}`).flatMap((ofOne) =>
    bestOf(watch, ofOne).slice(0, OF_INTENT_MAX),
  );
  const byIntent = grouped(told, ({ intentId }) => intentId).map((ofIntent) => openFirst(bestOf(watch, ofIntent)));
  const fitting = openFirst(byIntent.flatMap((all) => all.slice(0, OF_INTENT_MAX)));
  const open = fitting.filter(({ reported }) => !reported).map((landing) => ({ ...partiesOf(landing), landing }));
  const inOrder = [
    ...byOwners(watch, open).map(({ landing }) => landing),
    ...fitting.slice(open.length).sort((one, other) => other.seenAt - one.seenAt),
  ];
  const left = [...byIntent.flatMap((all) => all.slice(OF_INTENT_MAX)), ...inOrder.slice(HELD_MAX)];
  const waiting = left.flatMap((one) => (one.reported ? [] : [partiesOf(one)]));
  return {
    // Of those that failed there is one for each submission at most.
    seen: [...seen.filter(({ kind }) => kind === 'reverted'), ...inOrder.slice(0, HELD_MAX)],
    waiting: [...new Map(waiting.map((one) => [one.hash, one])).values()],
  };
}

const grouped = <T>(all: readonly T[], nameOf: (one: T) => string): readonly (readonly T[])[] => [
  ...Map.groupBy(all, nameOf).values(),
];

const partiesOf = ({ hash, transfer }: Landed): Unjudged & { readonly payer: Address } => ({
  hash,
  place: transfer.block,
  reason: 'its intent, or all of them, were paid too often at once',
  recipient: transfer.to,
  payer: transfer.from,
  amount: transfer.amount,
});

const openFirst = (all: readonly Landed[]): readonly Landed[] => [
  ...all.filter(({ reported }) => !reported),
  ...all.filter(({ reported }) => reported),
];

/** Those that an intent waits for first, then the largest. */
function bestOf(watch: Pick<WatchSet, 'byReference'>, all: readonly Landed[]): readonly Landed[] {
  if (all.length <= OF_INTENT_MAX) return all;
  const rankOf = ({ hash, transfer }: Landed): number => {
    const intent = watch.byReference(transfer.reference);
    if (intent === undefined) return 0;
    if (intent.submission?.hash === hash || intent.settlement?.hash === hash) return 2;
    const { tokenAddress, requestor, amount } = intent.terms;
    const isPaid = transfer.tokenAddress === tokenAddress && transfer.to === requestor && transfer.amount >= amount;
    return isPaid ? 1 : 0;
  };
  return [...all].sort(
    (one, other) => rankOf(other) - rankOf(one) || Number(other.transfer.amount - one.transfer.amount),
  );
}
