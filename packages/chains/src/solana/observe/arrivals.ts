import type { Address as WalletAddress, DepositObservation, Reference, TokenAddress } from '@pf/domain';
import { least } from '../../bigints.ts';
import { depositLanded, depositLost, depositWithdrawn, listedToken, type UnpaidArrival } from '../../deposits.ts';
import type { Network, OpenDeposit, WatchedIntent, WatchSet } from '../../port.ts';
import { isAddressText } from '../address.ts';
import { intentsIn, maybePaidAt, paymentsIn } from './landings.ts';
import { gainOf, keyOf, wholeGainOf } from './paid.ts';
import type { Holding, Reading, TokenTransfer } from './reading.ts';

type Intents = ReadonlyMap<string, WatchedIntent>;
/** An account by its place, and what it holds after the transaction. */
type Credited = readonly [number, Holding];
/** What came in a transaction, and the payments beside it. */
interface Unpaid extends Pick<ReturnType<typeof paymentsIn>, 'claims'> {
  readonly arrivals: readonly UnpaidArrival[];
}
const NOTHING: Unpaid = { arrivals: [], claims: [] };

/**
 * What watched recipients gained in a transaction, whose names were recalled, beyond what its payments to intents took
 * of it: one arrival for each credited account, by the chain's balances before and after. So it does not matter how the
 * money came: by transfers, a mint, a batch, or out of a confidential balance. What an owner moves between its own
 * accounts has not arrived. Payments and arrivals are together what the owner gained, to the unit.
 */
export const arrivalsIn = (reading: Reading, network: Network, watch: WatchSet): readonly UnpaidArrival[] =>
  unpaidIn(reading, network, watch).arrivals;

function unpaidIn(reading: Reading, network: Network, watch: WatchSet): Unpaid {
  const credited = creditedIn(reading, network, watch);
  if (credited.length === 0) return NOTHING;
  const intents = intentsIn(reading, watch);
  const { claims } = paymentsIn(reading, network, watch);
  const paying = new Set(claims.map(({ transfer }) => transfer));
  const amounts = amountsOf(reading, credited, claims);
  const arrivals = credited.flatMap(([place, held]): UnpaidArrival[] => {
    const amount = amounts.get(place);
    if (amount === undefined) return [];
    // Neither what pays an intent, nor what the owner has moved.
    const brought = reading.transfers.filter(
      (one) => one.destination === place && !paying.has(one) && ownerAt(reading, one.source) !== held.owner,
    );
    const isUnproven = maybePaidAt(reading, place, held, intents) !== undefined;
    const { reason, reference } = isUnproven ? UNPROVEN : carriedBy(brought, intents);
    const tokenAddress = held.mint as string as TokenAddress;
    const arrival = {
      hash: reading.hash,
      index: indexOf(place),
      block: reading.slot,
      blockHash: null,
      tokenAddress,
      token: listedToken(network, tokenAddress),
      from: reading.opaque.has(place) ? null : soleSender(brought, amount),
      to: held.owner as string as WalletAddress,
      amount,
      reference,
      at: reading.at,
    };
    return [{ reason, arrival }];
  });
  return { arrivals, claims };
}

/** The accounts of watched recipients that gained something of a token of the registry, in their order. */
function creditedIn(reading: Reading, network: Network, watch: WatchSet): readonly Credited[] {
  if (reading.failure !== null) return [];
  const isWatched = ({ owner, mint }: Holding): boolean =>
    watch.hasRecipient(owner as string as WalletAddress) &&
    network.tokens.some(({ address }) => address === (mint as string));
  return [...reading.after]
    .filter(([place, held]) => gainOf(reading, place) > 0n && isWatched(held))
    .sort(([one], [other]) => one - other);
}

/** By account: what payments leave of its gain. Those of an owner are together no more than all its accounts gained. */
function amountsOf(
  reading: Reading,
  credited: readonly Credited[],
  claims: Unpaid['claims'],
): ReadonlyMap<number, bigint> {
  const amounts = new Map<number, bigint>();
  for (const [owned, accounts] of Map.groupBy(credited, ([, held]) => keyOf(held))) {
    const paid = claims.filter(({ transfer: { destination } }) => keyAt(reading, destination) === owned);
    const sumOf = (some: Unpaid['claims']): bigint =>
      some.reduce((units, { landing }) => units + landing.data.transfer.amount, 0n);
    let left = wholeGainOf(reading, owned) - sumOf(paid);
    for (const [place] of accounts) {
      const paidHere = paid.filter(({ transfer }) => transfer.destination === place);
      const amount = least(gainOf(reading, place) - sumOf(paidHere), left);
      if (amount <= 0n) continue;
      amounts.set(place, amount);
      left -= amount;
    }
  }
  return amounts;
}

function keyAt({ after }: Reading, place: number): string | null {
  const held = after.get(place);
  return held === undefined ? null : keyOf(held);
}

/** The account's place in the transaction. Transfers have the places of instructions: none has this form. */
const indexOf = (place: number): string => `a${place}`;

const ownerAt = ({ before, after }: Reading, place: number): Holding['owner'] | undefined =>
  (after.get(place) ?? before.get(place))?.owner;

/** Who has sent it, where that is certain: exactly one transfer has brought it all. */
function soleSender(brought: readonly TokenTransfer[], amount: bigint): WalletAddress | null {
  const [one, ...others] = brought;
  return one !== undefined && others.length === 0 && one.amount >= amount
    ? (one.authority as string as WalletAddress)
    : null;
}

type Carried = Pick<UnpaidArrival, 'reason'> & { readonly reference: Reference | null };
const UNPROVEN: Carried = { reason: 'unproven', reference: null };

/** Why these transfers pay no intent, by what they carry. A memo that is no reference is none. */
function carriedBy(brought: readonly TokenTransfer[], intents: Intents): Carried {
  // One name of a watched intent would have made it a payment, which was worth nothing.
  const carrying = brought.filter(({ names: [first, ...more] }) => more.length > 0 || !intents.has(first ?? ''));
  const names = [...new Set(carrying.flatMap(({ names }) => names))].filter(isAddressText);
  const [known, unknown] = [true, false].map((isKnown) => names.filter((name) => intents.has(name) === isKnown)) as [
    string[],
    string[],
  ];
  const sole = (of: readonly string[]): Reference | null => (of.length === 1 ? (of[0] as Reference) : null);
  if (known.length > 1) return { reason: 'several_intents', reference: null };
  if (known.length === 1) return { reason: 'two_references', reference: sole(known) };
  return { reason: unknown.length === 0 ? 'no_reference' : 'unknown_reference', reference: sole(unknown) };
}

/**
 * What the accounts are told of a transaction: what it brought beside its payments, unless they have it as a deposit
 * already; and of deposits that turn out to be its payments.
 * @param open deposits in it
 * @param isLate its deposits may have become final since: those that are none are withdrawn unseen
 */
export function depositsIn(
  reading: Reading,
  network: Network,
  watch: WatchSet,
  open: readonly OpenDeposit[],
  isLate: boolean,
): readonly DepositObservation[] {
  const { arrivals, claims } = unpaidIn(reading, network, watch);
  const isKnown = ({ arrival }: OpenDeposit): boolean => arrivals.some((one) => isSameArrival(one.arrival, arrival));
  const known = new Set(open.filter(isKnown).map(({ id }) => id));
  const paid = new Map(claims.map(({ transfer, landing }) => [transfer.destination, landing]));
  const here = { hash: reading.hash, block: reading.slot, blockHash: null };
  const undone = [...paid].flatMap(([place, { intentId, data }]): readonly DepositObservation[] => {
    const at = { hash: reading.hash, index: indexOf(place), to: data.transfer.to };
    const before = open.filter(({ arrival }) => arrival.index === at.index && arrival.block === reading.slot);
    // What is left of it is received again.
    if (arrivals.some(({ arrival }) => arrival.index === at.index))
      return before.filter(({ id }) => !known.has(id)).map(depositLost);
    const maybeFinal = isLate ? watch.depositsOf(at).map(({ depositId }) => depositId) : [];
    return [...new Set([...before.map(({ id }) => id), ...maybeFinal])].map((id) =>
      depositWithdrawn(id, here, intentId),
    );
  });
  const told = arrivals.flatMap((one) =>
    watch
      .depositsOf(one.arrival)
      .filter(({ depositId }) => !known.has(depositId))
      .map((owner) => depositLanded(owner, network, one)),
  );
  return [...undone, ...told];
}

type Arrived = Pick<UnpaidArrival['arrival'], 'index' | 'block' | 'tokenAddress' | 'to' | 'amount'>;
/** Whether they are the same money in the same place of one transaction. */
export const isSameArrival = (one: Arrived, other: Arrived): boolean =>
  one.index === other.index &&
  one.block === other.block &&
  one.tokenAddress === other.tokenAddress &&
  one.to === other.to &&
  one.amount === other.amount;
