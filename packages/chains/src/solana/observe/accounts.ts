import type { AccountId, Address as WalletAddress } from '@pf/domain';
import { getU64Decoder } from '@solana/kit';
import { Turns } from '../../in-turns.ts';
import { ownersIn } from '../../owners.ts';
import { partsOf } from '../../parts.ts';
import type { Network, WatchSet } from '../../port.ts';
import { ACCOUNTS_MAX, getMultipleAccounts, getSignaturesForAddress, type SignatureInfo } from '../calls.ts';
import { tokenAccountOf } from '../payment.ts';
import { TOKEN_PROGRAMS } from '../programs.ts';
import { readBookmark } from './bookmarks.ts';
import type { Memory, WatchedAccount } from './memory.ts';
import { goesOn, LONG_PAGE, restOf } from './paging.ts';

/**
 * Limits of one step: recipients whose accounts are derived (some hashes each), accounts of awaited recipients and of
 * all whose balances are read (100 a call), and lists that are read because a balance moved.
 */
const DERIVED_MAX = 300;
const AWAITED_MAX = 1_000;
const POLLED_MAX = 2_500;
const CHANGED_MAX = 20;
/** In so many ms the balances of all accounts are read in turn. */
const BALANCES_MS = 60_000;
/** Every so many ms one account is listed in turn: as much may have gone out as came in. */
const TURN_MS = 6_000;
/** Where a token account's data has its amount. */
const AMOUNT = { offset: 64, length: 8 };
/** Transactions of the first page: few, as the list was read recently. */
const PAGE = 50;
/**
 * The index of transactions by account lags behind the balances: a list is read until it shows what moved the balance.
 */
const INDEX_LAG_MS = 20_000;
/**
 * The same in slots, and what a node may lag beside it: a list is read again from this far below where it was read. The
 * numbers of slots here hold while one takes between 134 and 400 ms.
 */
const INDEX_LAG_SLOTS = 300n;
/**
 * A list counts only from a node that is no further behind the head than this: within what is read again. It shows what
 * has moved a balance by then.
 */
const NODE_LAG_SLOTS = 150n;
const NODE_LAG_MS = 60_000;
export const listedAt = (head: bigint): bigint => (head > NODE_LAG_SLOTS ? head - NODE_LAG_SLOTS : 0n);

/** Where the accounts of recipients begin that have no bookmark. */
export interface Origin {
  /** All accounts were listed up to this slot. */
  readonly slot: bigint;
  /** A recipient without a bookmark was not watched before this slot: no intent that pays it is older. */
  readonly known: bigint | null;
}

/**
 * The token accounts of recipients that were not watched in the last step, from their bookmarks or derived, and without
 * those that are no longer watched.
 */
export async function deriveAccounts(
  memory: Memory,
  watch: WatchSet,
  { tokens }: Network,
  { slot, known }: Origin,
  now: number,
): Promise<{ readonly isBehind: boolean }> {
  const recipients = new Set(watch.recipients());
  const isGone = (recipient: string): recipient is WalletAddress => !recipients.has(recipient as WalletAddress);
  for (const recipient of [...memory.accounts.keys(), ...memory.stored.keys()])
    if (isGone(recipient)) {
      memory.accounts.delete(recipient);
      memory.removed.add(recipient);
    }
  let derived = 0;
  for (const recipient of recipients) {
    if (memory.accounts.has(recipient)) continue;
    const bookmark = memory.stored.get(recipient);
    const marks = readBookmark(bookmark);
    if (marks === null && derived === DERIVED_MAX) return { isBehind: true };
    if (marks === null) derived += 1;
    const begin = bookmark === undefined ? known : null;
    const accounts = await Promise.all(
      tokens.map(async ({ address }): Promise<WatchedAccount> => {
        const mark = marks?.[address];
        const isMoved = mark !== undefined && mark.balance === undefined;
        return {
          address: mark?.account ?? (await tokenAccountOf(recipient, address)),
          balance: mark?.balance,
          isCompared: false,
          changedAt: isMoved || (mark === undefined && begin === null) ? now : null,
          hasMoved: isMoved,
          risen: 0n,
          isNew: begin !== null,
          dueAt: now,
          read: mark?.read ?? begin ?? slot,
          newest: undefined,
          paging: null,
        };
      }),
    );
    memory.accounts.set(recipient, accounts);
    memory.removed.delete(recipient);
    if (marks === null) memory.added.add(recipient);
  }
  memory.stored = new Map();
  return { isBehind: false };
}

/** What is known of recipients. */
export interface Recipients extends Pick<WatchSet, 'ownersOf'> {
  readonly awaited: ReadonlySet<WalletAddress>;
}

interface Place {
  readonly recipient: WalletAddress;
  readonly index: number;
  readonly account: WatchedAccount;
}

const placesOf = (memory: Memory, recipient: WalletAddress): readonly Place[] =>
  (memory.accounts.get(recipient) ?? []).map((account, index) => ({ recipient, index, account }));
const places = (memory: Memory): readonly Place[] =>
  [...memory.accounts.keys()].flatMap((recipient) => placesOf(memory, recipient));

/** A change of the memory, applied once all responses that it depends on have arrived. */
export type Commit = () => void;

/** So many of them in turn, beginning with this one. */
function turnOf<T>(all: readonly T[], from: number, count: number): readonly T[] {
  const start = all.length === 0 ? 0 : from % all.length;
  return [...all.slice(start), ...all.slice(0, start)].slice(0, count);
}

export interface BalancePoll {
  readonly calls: readonly ReturnType<typeof getMultipleAccounts>[];
  /** True until the balances of all accounts were read once. */
  readonly isBehind: boolean;
  /** Reads the results, in the order of the calls. @returns the accounts whose balance moved, with what it has risen */
  read(
    answers: readonly ReturnType<ReturnType<typeof getMultipleAccounts>['parse']>[],
    now: number,
  ): { readonly changed: ReadonlyMap<string, bigint>; readonly commit: Commit };
}

/** So many of the accounts of awaited recipients: all, or by turns of the accounts that own the intents. */
function awaitedPlaces(memory: Memory, recipients: Recipients, most: number): readonly Place[] {
  const all = [...recipients.awaited];
  const soon = all.flatMap((recipient) => placesOf(memory, recipient));
  if (soon.length <= most) return soon;
  const inOrder = new Turns<AccountId | null>().orderShared(
    all,
    (recipient) => ownersIn(recipients, recipient),
    (ofOne) => memory.pollTurns.order(ofOne, (recipient) => recipient),
  );
  return inOrder.flatMap(([, recipient]) => placesOf(memory, recipient)).slice(0, most);
}

/**
 * The balance calls of one step, a hundred accounts each: of the awaited recipients, and of others in turn, so many
 * that all have one in a minute. Those that were never read come first.
 * @param most calls that the upstream's rate allows in a step
 */
export function pollBalances(memory: Memory, recipients: Recipients, now: number, most: number): BalancePoll {
  const polledMost = Math.min(POLLED_MAX, most * ACCOUNTS_MAX);
  const all = places(memory);
  const soon = awaitedPlaces(memory, recipients, Math.min(AWAITED_MAX, polledMost));
  const isSoon = new Set(soon.map(({ account }) => account.address));
  const unread = all.filter(({ account }) => !account.isCompared && !isSoon.has(account.address));
  const due = Math.ceil((all.length * Math.min(Math.max(now - memory.polledAt, 0), BALANCES_MS)) / BALANCES_MS);
  const whole = Math.max(1, Math.ceil((soon.length + due) / ACCOUNTS_MAX)) * ACCOUNTS_MAX;
  const turn = turnOf(all, memory.pollFrom, Math.min(whole - soon.length, polledMost));
  const first = unread.slice(0, polledMost);
  const isFirst = new Set(first.map(({ account }) => account.address));
  const isTaken = ({ account: { address } }: Place): boolean => isSoon.has(address) || isFirst.has(address);
  const asked = [...soon, ...first, ...turn.filter((place) => !isTaken(place))];
  const parts = partsOf(asked, ACCOUNTS_MAX);
  return {
    calls: parts.map((part) =>
      getMultipleAccounts(
        part.map(({ account }) => account.address),
        AMOUNT,
      ),
    ),
    isBehind: unread.length > polledMost,
    read(answers, at) {
      const moved = parts.flatMap((part, which) =>
        part.flatMap((place, within) => {
          const info = answers[which]?.value[within] ?? null;
          const balance =
            info !== null && TOKEN_PROGRAMS.has(info.owner) && info.data.length === AMOUNT.length
              ? getU64Decoder().decode(info.data)
              : null;
          const before = place.account.balance;
          if (balance === before) return [];
          const rise = (balance ?? 0n) - (before ?? 0n);
          const risen = place.account.risen + (rise > 0n ? rise : 0n);
          return [{ place, balance, risen, isMoved: before !== undefined }];
        }),
      );
      // Nothing was ever paid to a new recipient's account that does not exist.
      const news = moved.filter(({ balance, isMoved }) => isMoved || balance !== null);
      return {
        changed: new Map(news.map(({ place, risen }) => [place.account.address, risen])),
        commit: () => {
          memory.polledAt = at;
          memory.pollTurns.served(
            soon.map(({ recipient }) => recipient),
            recipients.awaited,
          );
          memory.pollFrom += turn.length;
          for (const { recipient, index, account } of asked) if (!account.isCompared) memory.compared(recipient, index);
          for (const { place, balance } of moved) memory.put(place.recipient, place.index, { balance });
          for (const { place, risen, isMoved } of news)
            memory.put(place.recipient, place.index, {
              risen,
              changedAt: at,
              dueAt: at,
              hasMoved: isMoved || place.account.hasMoved,
            });
        },
      };
    },
  };
}

export interface ListReading {
  readonly calls: readonly ReturnType<typeof getSignaturesForAddress>[];
  /** True where more accounts are due than one step reads. */
  readonly isBehind: boolean;
  read(answers: readonly (readonly SignatureInfo[])[], head: bigint, now: number): Commit;
}

/**
 * The lists of accounts that changed or were not read to their end, by turns of the accounts that own the intents, and
 * now and then of another in turn, the least recently read first.
 * @param changed the token accounts whose balance moved in this step, with what it has risen
 * @param most lists that the upstream's rate allows in a step
 */
export function readLists(
  memory: Memory,
  changed: ReadonlyMap<string, bigint>,
  head: bigint,
  now: number,
  most: number,
  recipients: Recipients,
): ListReading {
  const all = places(memory);
  const isDue = ({ account }: Place): boolean =>
    (account.changedAt !== null && now >= account.dueAt) || account.paging !== null || changed.has(account.address);
  const due = all.filter(isDue);
  const turns =
    now - memory.turnedAt < TURN_MS
      ? []
      : first(
          all.filter((place) => !isDue(place)),
          1,
          oldestFirst,
        );
  const changedMost = Math.min(CHANGED_MAX, most);
  const shared = sharedOut(memory, due, recipients, changedMost, changed);
  const asked = [...shared.map(([, place]) => place), ...turns];
  return {
    calls: asked.map(({ account: { address, newest, paging } }) =>
      getSignaturesForAddress(address, {
        until: newest,
        before: paging?.before,
        limit: limitOf(paging),
        atLeast: listedAt(head),
      }),
    ),
    isBehind: due.length > changedMost,
    read: (answers, reached, at) => () => {
      if (turns.length > 0) memory.turnedAt = at;
      memory.listTurns.served(
        shared.map(([owner]) => owner),
        new Set(due.flatMap(({ recipient }) => ownersIn(recipients, recipient))),
      );
      asked.forEach((place, index) => {
        const page = answers[index] ?? [];
        if (goesOn(place.account.paging, page)) readList(memory, place, page, reached, at);
        else memory.put(place.recipient, place.index, { paging: null, changedAt: at });
      });
    },
  };
}

/**
 * So many of the due ones: awaited ones first, but for one in four, and by turns of the accounts that own the intents.
 * So whoever moves the balances of thousands of recipients of one account delays none of another's.
 */
function sharedOut(
  memory: Memory,
  due: readonly Place[],
  recipients: Recipients,
  most: number,
  changed: ReadonlyMap<string, bigint>,
): readonly (readonly [AccountId | null, Place])[] {
  const risenOf = ({ account }: Place): bigint => changed.get(account.address) ?? account.risen;
  const [soon = [], later = []] = [true, false].map((isAwaited) =>
    memory.listTurns.orderShared(
      due.filter((one) => recipients.awaited.has(one.recipient) === isAwaited),
      ({ recipient }) => ownersIn(recipients, recipient),
      (ofOne) => likeliestFirst(ofOne, risenOf),
    ),
  );
  const kept = Math.min(later.length, Math.floor(Math.min(most, due.length) / 4));
  const taken = soon.slice(0, most - kept);
  return [...taken, ...later.slice(0, most - taken.length)];
}

/**
 * Those whose balance rose most come first, as specks of dust cost nothing; but every fourth is the one that was read
 * longest ago.
 */
function likeliestFirst(ofOne: readonly Place[], risenOf: (place: Place) => bigint): readonly Place[] {
  const byAge = ofOne.toSorted(oldestFirst);
  const oldest = byAge.values();
  const risen = byAge.toSorted((one, other) => ascending(risenOf(other), risenOf(one))).values();
  const ordered = new Set<Place>();
  while (ordered.size < ofOne.length) {
    const { value } = (ordered.size % 4 === 3 ? oldest : risen).next();
    if (value !== undefined) ordered.add(value);
  }
  return [...ordered];
}

const ascending = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0);
const oldestFirst = ({ account: one }: Place, { account: other }: Place): number => ascending(one.read, other.read);

/** The first few in an order, without sorting all. */
function first<T>(items: readonly T[], count: number, order: (one: T, other: T) => number): readonly T[] {
  let found: readonly T[] = [];
  for (const item of items) {
    const last = found.at(-1);
    if (found.length < count || (last !== undefined && order(item, last) < 0))
      found = [...found, item].sort(order).slice(0, count);
  }
  return found;
}

const limitOf = (paging: WatchedAccount['paging']): number => (paging === null ? PAGE : LONG_PAGE);

/** Takes note of what a page of an account's list shows. */
function readList(memory: Memory, place: Place, page: readonly SignatureInfo[], head: bigint, now: number): void {
  // Its current state: its balance may just have moved.
  const account = memory.accounts.get(place.recipient)?.[place.index];
  if (account === undefined) return;
  const put = (change: Partial<WatchedAccount>): void => memory.put(place.recipient, place.index, change);
  // Transactions after the head may pay intents that are not known yet: they are for the next step.
  const reached = page.filter(({ slot }) => slot <= head);
  const isNew = queue(memory, place.recipient, account, reached, now);
  const newest = account.paging?.newest ?? reached[0]?.signature ?? account.newest;
  const read = account.paging?.head ?? head;
  // Its bound is needed although the newest transaction is known: a node that no longer has that one would list all
  // there ever were.
  const rest = restOf(account.paging, page, PAGE, ({ slot }) => slot <= boundOf(account));
  if (rest !== null) return put({ paging: { ...rest, newest, head: read } });
  put({ paging: null, newest, read });
  // The next step reads what is after the head.
  if (reached.length < page.length || !isExplained(account, reached, isNew, now)) return;
  const again = whenAgain(account, now);
  put(again === null ? { changedAt: null, hasMoved: false, risen: 0n, isNew: false } : { dueAt: again });
}

/** A list is read down to this slot, which covers what its index had left out before. */
const boundOf = ({ read }: WatchedAccount): bigint => read - INDEX_LAG_SLOTS;

/** Queues the transactions that were not looked at. @returns whether there was any that was not known */
function queue(
  memory: Memory,
  recipient: WalletAddress,
  account: WatchedAccount,
  reached: readonly SignatureInfo[],
  now: number,
): boolean {
  const found = reached.filter(
    ({ slot, signature }) => slot > boundOf(account) && !memory.looked.has(signature) && !memory.unseen.has(signature),
  );
  for (const { signature, slot, err } of found.toReversed())
    if (err === null) memory.unseen.set(signature, { slot, since: now, dueAt: now, of: recipient });
  // Found by a reference, maybe of another recipient, and not read yet: the bookmark of this one stays below it.
  for (const { signature } of reached) {
    const unseen = memory.unseen.get(signature);
    if (unseen !== undefined && unseen.of !== recipient) memory.unseen.set(signature, { ...unseen, of: recipient });
  }
  return found.length > 0;
}

/** Whether the list shows why it was due, or cannot lag any longer. */
function isExplained(account: WatchedAccount, reached: readonly SignatureInfo[], isNew: boolean, now: number): boolean {
  if (account.paging !== null || account.balance === null) return true;
  // Old transactions do not explain a new balance.
  if (account.hasMoved ? isNew || reached.some(({ slot }) => slot > account.read) : reached.length > 0) return true;
  return now - (account.changedAt ?? now) >= INDEX_LAG_MS + (account.hasMoved ? NODE_LAG_MS : 0);
}

/**
 * When the list of a new recipient's account is read again: what it shows may not be all that made the balance. Once
 * when the index has caught up, and once when a node has. Null otherwise.
 */
function whenAgain({ isNew, hasMoved, balance, changedAt }: WatchedAccount, now: number): number | null {
  if (!isNew || hasMoved || balance === null || changedAt === null) return null;
  return [INDEX_LAG_MS, INDEX_LAG_MS + NODE_LAG_MS].map((ms) => changedAt + ms).find((time) => now < time) ?? null;
}
