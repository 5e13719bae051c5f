import { setImmediate } from 'node:timers/promises';
import { bigintText, instant, transactionHash } from '@pf/contracts';
import type { AccountId, Address, Instant, TransactionHash } from '@pf/domain';
import { z } from 'zod';
import { inTurns, Turns } from './in-turns.ts';
import { ownersIn } from './owners.ts';
import type { WatchSet } from './port.ts';

const address = z.string().transform((text) => text as Address);
/**
 * Whom a transaction may have paid, and from which wallet; without a payer where that is not known.
 * `amount`: the most that one of its transfers between them has moved, in base units. Absent: not known.
 */
const party = z.object({ recipient: address, payer: address.optional(), amount: bigintText.optional() });
export type Party = z.infer<typeof party>;

/** A stranger can make a transaction with hundreds of transfers: it is kept with so many parties. */
export const PARTIES_MAX = 20;

/** What a cursor keeps of a transaction that could not be judged. */
export const setAside = z.object({
  hash: transactionHash,
  /** Block number or slot. */
  place: bigintText,
  /** Why, for the operator. */
  reason: z.string(),
  /** The first of its parties: the list has room for each account, and there for each recipient and payer. */
  ...party.shape,
  /** The others, up to PARTIES_MAX in all. Absent: none. */
  others: party.array().optional(),
  /** When it was set aside first, and when it is looked at again. */
  since: instant,
  dueAt: instant,
});
/**
 * A transaction that no step could judge: too large, of a shape that is unknown here, or its upstream lacked what was
 * needed. It is looked at again later, by another upstream too, and never stops the work for others.
 */
export type SetAside = z.infer<typeof setAside>;

/** All that a network keeps, by turns, and with what must not be given up. */
const KEPT_MAX = 500;
const HELD_MAX = 1_000;
/** It is looked at again when it has waited half as long again, within these bounds, and given up after the last. */
const AGAIN_MIN_MS = 1_000;
const AGAIN_MAX_MS = 600_000;
const GIVEN_UP_MS = 24 * 3_600_000;
/** Warnings of one look: of more, only their number is told. */
const WARNED_MAX = 20;

const nextLook = (since: Instant, now: Instant): Instant =>
  now + Math.min(Math.max(Math.round((now - since) / 2), AGAIN_MIN_MS), AGAIN_MAX_MS);

/** Whom a transaction that could not be judged may have paid. */
export type Parties = Pick<SetAside, 'recipient' | 'payer' | 'amount' | 'others'>;
export const partiesOf = ({ recipient, payer, amount, others = [] }: Parties): readonly Party[] => [
  { recipient, payer, ...(amount !== undefined && { amount }) },
  ...others,
];

type Owners = Pick<WatchSet, 'ownersOf'>;

const amountOf = ({ amount = 0n }: Party): bigint => amount;
const largestFirst = (one: Party, other: Party): number => {
  const [a, b] = [amountOf(one), amountOf(other)];
  return a < b ? 1 : a > b ? -1 : 0;
};

/**
 * By turns of the accounts, within each by turns of its recipients, and within each of those by turns of the payers,
 * the largest amounts first: so none delays another by its number, and a crowd of payers a payment only by paying its
 * recipient more. What may have paid several has the first turn of any of them.
 */
export function byTurns<T extends Parties>(watch: Owners, all: readonly T[]): readonly T[] {
  const shares = all.flatMap((one) => partiesOf(one).map((party) => ({ one, party })));
  const inOrder = new Turns<AccountId | null>().orderShared(
    shares,
    ({ party }) => ownersIn(watch, party.recipient),
    withinAccount,
  );
  return [...new Set(inOrder.map(([, { one }]) => one))];
}

/** What one transaction may have paid to one party. */
interface Share<T> {
  readonly one: T;
  readonly party: Party;
}

function withinAccount<T>(ofAccount: readonly Share<T>[]): readonly Share<T>[] {
  const byRecipient = [...Map.groupBy(ofAccount, ({ party }) => party.recipient).values()].map((ofOne) =>
    ofOne.toSorted((one, other) => largestFirst(one.party, other.party)),
  );
  return inTurns(
    byRecipient.flatMap((ofOne) => inTurns(ofOne, ({ party }) => party.payer)),
    ({ party }) => party.recipient,
  );
}

/** So many shares are taken up in a few ms. */
const SHARES_AT_ONCE = 2_000;

/** The shares of one account, of which those behind the first so many transactions are left out now and then. */
class FirstShares<T> {
  readonly #most: number;
  #shares: readonly Share<T>[] = [];
  #later: Share<T>[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#shares.length + this.#later.length;
  }

  /** @returns how many shares were worked on */
  add(share: Share<T>): number {
    this.#later.push(share);
    const { size } = this;
    if (this.#later.length < Math.max(2 * this.#most - this.#shares.length, this.#shares.length)) return 1;
    this.inOrder();
    return size;
  }

  /** In their turns: what comes behind these stays behind them, whatever comes later. */
  inOrder(): readonly Share<T>[] {
    const found: Share<T>[] = [];
    const distinct = new Set<T>();
    for (const share of withinAccount([...this.#shares, ...this.#later])) {
      if (distinct.size === this.#most && !distinct.has(share.one)) break;
      distinct.add(share.one);
      found.push(share);
    }
    this.#later = [];
    return (this.#shares = found);
  }
}

/**
 * The first of byTurns, where strangers may make any number: little by little, so that the process does other work
 * meanwhile.
 */
export async function firstByTurns<T extends Parties>(
  watch: Owners,
  all: readonly T[],
  most: number,
): Promise<readonly T[]> {
  const byAccount = new Map<AccountId | null, FirstShares<T>>();
  let taken = 0;
  const pause = async (shares: number): Promise<void> => {
    taken += shares;
    if (taken < SHARES_AT_ONCE) return;
    taken = 0;
    await setImmediate();
  };
  for (const one of all)
    for (const party of partiesOf(one)) {
      const owners = ownersIn(watch, party.recipient);
      for (const account of owners) {
        const shares = byAccount.get(account) ?? new FirstShares<T>(most);
        byAccount.set(account, shares);
        await pause(shares.add({ one, party }));
      }
    }
  const accounts: (readonly Share<T>[])[] = [];
  for (const shares of byAccount.values()) {
    await pause(shares.size);
    accounts.push(shares.inOrder());
  }
  const first = new Set<T>();
  const turns = Math.max(0, ...accounts.map(({ length }) => length));
  for (let turn = 0; turn < turns && first.size < most; turn += 1)
    for (const shares of accounts) {
      const share = shares[turn];
      if (share !== undefined && first.size < most) first.add(share.one);
    }
  return [...first];
}

/**
 * The parties of one transaction, each once with its largest amount, as many as are kept: by turns too, so that no
 * account fills them up.
 */
export function keptParties(watch: Owners, all: readonly Party[]): Parties {
  const byNames = new Map<string, Party>();
  for (const one of all) {
    const names = `${one.recipient} ${one.payer ?? ''}`;
    const known = byNames.get(names);
    if (known === undefined || amountOf(known) < amountOf(one)) byNames.set(names, one);
  }
  const each = [...byNames.values()];
  const [first, ...others] = each.length > PARTIES_MAX ? byTurns(watch, each).slice(0, PARTIES_MAX) : each;
  if (first === undefined) throw new Error('what can have paid no recipient is not set aside');
  return { ...first, ...(others.length > 0 && { others }) };
}

/** Those that are to be looked at again now, by turns. */
export const dueAgain = (watch: Owners, all: readonly SetAside[], now: Instant, most: number): readonly SetAside[] =>
  byTurns(
    watch,
    all.filter(({ dueAt }) => dueAt <= now),
  ).slice(0, most);

export interface SetAsideUpdate {
  readonly kept: readonly SetAside[];
  /** For the operator: what is new here, and what is given up. */
  readonly warnings: readonly string[];
  /** How many are given up, after a day or as there is no room for them. */
  readonly givenUp: number;
}

/** What a step has looked at. */
interface Look {
  readonly now: Instant;
  readonly judged: ReadonlySet<TransactionHash>;
  /** What could not be judged (again), with the reason. */
  readonly failed: readonly Omit<SetAside, 'since' | 'dueAt'>[];
  readonly watch: Owners;
  /** Which of all these must not be given up: an intent waits for its outcome. Default: none */
  readonly heldAmong?: (all: readonly SetAside[]) => (one: SetAside) => boolean;
}

/** The list after a look: without what was judged, with what could not be judged. */
export function afterLook(
  before: readonly SetAside[],
  { now, judged, failed, watch, heldAmong = () => () => false }: Look,
): SetAsideUpdate {
  const warnings: string[] = [];
  const kept = new Map(before.filter(({ hash }) => !judged.has(hash)).map((one) => [one.hash, one]));
  for (const one of failed) {
    const known = kept.get(one.hash);
    if (known === undefined) warnings.push(`${one.hash} of block ${one.place} is set aside: ${one.reason}`);
    const since = known?.since ?? now;
    // One look may have shown less of it than another.
    const parties = keptParties(watch, [...(known === undefined ? [] : partiesOf(known)), ...partiesOf(one)]);
    kept.set(one.hash, { ...one, ...parties, since, dueAt: nextLook(since, now) });
  }
  const isHeld = heldAmong([...kept.values()]);
  const all = kept.size;
  for (const one of kept.values())
    if (now - one.since >= GIVEN_UP_MS && !isHeld(one)) {
      warnings.push(`${one.hash} of block ${one.place} is given up: ${one.reason}`);
      kept.delete(one.hash);
    }
  // Whoever has the most gives up the smallest ones first, and of these the newest.
  for (const [turn, one] of byTurns(watch, [...kept.values()]).entries()) {
    if (turn < KEPT_MAX || (turn < HELD_MAX && isHeld(one))) continue;
    warnings.push(`${one.hash} of block ${one.place} is given up: its account has too many that could not be judged`);
    kept.delete(one.hash);
  }
  const givenUp = all - kept.size;
  const untold = warnings.splice(WARNED_MAX).length;
  if (untold > 0) warnings.push(`${untold} more transactions are set aside or given up`);
  return { kept: [...kept.values()], warnings, givenUp };
}
