import type { Address as WalletAddress, TransactionHash } from '@pf/domain';
import { getU64Decoder } from '@solana/kit';
import type { Network, WatchSet } from '../../port.ts';
import { ACCOUNTS_MAX, getMultipleAccounts, getSignaturesForAddress, type SignatureInfo } from '../calls.ts';
import { tokenAccountOf } from '../payment.ts';
import { TOKEN_PROGRAMS } from '../programs.ts';
import type { Memory, WatchedAccount } from './memory.ts';

/**
 * Limits of one step: recipients whose accounts are derived (some hashes each), balance calls (100 accounts each),
 * lists that are read because a balance moved, and lists that are read in turn.
 */
const DERIVED_MAX = 300;
const POLLS_MAX = 5;
const CHANGED_MAX = 20;
const TURNS_MAX = 2;
/** Where a token account's data has its amount. */
const AMOUNT = { offset: 64, length: 8 };
/** Transactions of one page: few where the list was read recently, many while going back. */
const PAGE = 50;
const LONG_PAGE = 1_000;
/**
 * The index of transactions by account lags behind the balances: a list is read until it shows what moved the balance.
 */
const INDEX_LAG_MS = 20_000;
/** The same in slots: a list is read again from this far below where it was read. */
const INDEX_LAG_SLOTS = 300n;
/**
 * A list counts only from a node that is no further behind the head than this: within what is read again. It shows what
 * has moved a balance by then.
 */
const NODE_LAG_SLOTS = 150n;
const NODE_LAG_MS = 60_000;
export const listedAt = (head: bigint): bigint => (head > NODE_LAG_SLOTS ? head - NODE_LAG_SLOTS : 0n);

/** Derives the token accounts of new recipients, not read since `from`, and forgets those of former ones. */
export async function deriveAccounts(
  memory: Memory,
  watch: WatchSet,
  network: Network,
  from: bigint,
  now: number,
): Promise<{ readonly isBehind: boolean }> {
  const recipients = new Set(watch.recipients());
  for (const recipient of memory.accounts.keys()) if (!recipients.has(recipient)) memory.accounts.delete(recipient);
  const added = [...recipients].filter((recipient) => !memory.accounts.has(recipient));
  for (const recipient of added.slice(0, DERIVED_MAX)) {
    const accounts = await Promise.all(network.tokens.map(({ address }) => tokenAccountOf(recipient, address)));
    memory.accounts.set(
      recipient,
      accounts.map((address) => ({
        address,
        balance: undefined,
        changedAt: now,
        hasMoved: false,
        read: from,
        newest: undefined,
        paging: null,
      })),
    );
  }
  return { isBehind: added.length > DERIVED_MAX };
}

interface Place {
  readonly recipient: WalletAddress;
  readonly index: number;
  readonly account: WatchedAccount;
}

const places = (memory: Memory): readonly Place[] =>
  [...memory.accounts].flatMap(([recipient, accounts]) =>
    accounts.map((account, index) => ({ recipient, index, account })),
  );

/** A change of the memory, applied once all responses that it depends on have arrived. */
export type Commit = () => void;

function put(memory: Memory, { recipient, index }: Place, change: Partial<WatchedAccount>): void {
  const accounts = memory.accounts.get(recipient);
  if (accounts !== undefined)
    memory.accounts.set(
      recipient,
      accounts.map((account, at) => (at === index ? { ...account, ...change } : account)),
    );
}

export interface BalancePoll {
  readonly calls: readonly ReturnType<typeof getMultipleAccounts>[];
  /** Reads the results, in the order of the calls. @returns the accounts whose balance moved */
  read(
    answers: readonly ReturnType<ReturnType<typeof getMultipleAccounts>['parse']>[],
    now: number,
  ): { readonly changed: ReadonlySet<string>; readonly commit: Commit };
}

/** The balance calls of one step, a hundred accounts each, taking turns. */
export function pollBalances(memory: Memory): BalancePoll {
  const all = places(memory);
  const count = Math.min(all.length, POLLS_MAX * ACCOUNTS_MAX);
  const start = all.length === 0 ? 0 : memory.pollFrom % all.length;
  const asked = [...all.slice(start), ...all.slice(0, start)].slice(0, count);
  const chunks = Array.from({ length: Math.ceil(count / ACCOUNTS_MAX) }, (_, chunk) =>
    asked.slice(chunk * ACCOUNTS_MAX, (chunk + 1) * ACCOUNTS_MAX),
  );
  return {
    calls: chunks.map((chunk) =>
      getMultipleAccounts(
        chunk.map(({ account }) => account.address),
        AMOUNT,
      ),
    ),
    read(answers, now) {
      const moved = chunks.flatMap((chunk, at) =>
        chunk.flatMap((place, within) => {
          const info = answers[at]?.value[within] ?? null;
          const balance =
            info !== null && TOKEN_PROGRAMS.has(info.owner) && info.data.length === AMOUNT.length
              ? getU64Decoder().decode(info.data)
              : null;
          return balance === place.account.balance ? [] : [{ place, balance }];
        }),
      );
      return {
        changed: new Set(moved.map(({ place }) => place.account.address)),
        commit: () => {
          memory.pollFrom = start + count;
          for (const { place, balance } of moved)
            put(memory, place, { balance, changedAt: now, hasMoved: place.account.balance !== undefined });
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
 * The lists of accounts that changed or were not read to their end, and of a few others in turn, the least recently
 * read first.
 * @param most lists that the upstream's rate allows in a step
 */
export function readLists(memory: Memory, changed: ReadonlySet<string>, head: bigint, most: number): ListReading {
  const all = places(memory);
  const isDue = ({ account }: Place): boolean =>
    account.changedAt !== null || account.paging !== null || changed.has(account.address);
  const byAge = (one: Place, other: Place): number =>
    one.account.read < other.account.read ? -1 : one.account.read > other.account.read ? 1 : 0;
  const due = all.filter(isDue).sort(byAge);
  const turns = first(
    all.filter((place) => !isDue(place)),
    TURNS_MAX,
    byAge,
  );
  const changedMost = Math.min(CHANGED_MAX, most);
  const asked = [...due.slice(0, changedMost), ...turns];
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
    read: (answers, at, now) => () => {
      asked.forEach((place, index) => {
        const page = answers[index] ?? [];
        const { paging } = place.account;
        // A node that does not know where the page begins lists nothing, or what it likes: the list is read from its
        // newest again.
        const goesOn = paging === null || page[0]?.signature === paging.last;
        if (goesOn) readList(memory, place, page, at, now);
        else put(memory, place, { paging: null, changedAt: now });
      });
    },
  };
}

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

function readList(memory: Memory, place: Place, page: readonly SignatureInfo[], head: bigint, now: number): void {
  // Its current state: its balance may just have moved.
  const account = memory.accounts.get(place.recipient)?.[place.index];
  if (account === undefined) return;
  // Transactions after the head may pay intents that are not known yet: they are for the next step.
  const reached = page.filter(({ slot }) => slot <= head);
  // Needed although the newest is known: a node that no longer has that transaction would list all there ever were.
  const bound = account.read - INDEX_LAG_SLOTS;
  const found = reached.filter(
    ({ slot, signature }) => slot > bound && !memory.looked.has(signature) && !memory.unseen.has(signature),
  );
  for (const { signature, slot, err } of found.toReversed())
    if (err === null) memory.unseen.set(signature, { slot, since: now, dueAt: now });

  const newest: TransactionHash | undefined = account.paging?.newest ?? reached[0]?.signature ?? account.newest;
  const [before, last] = page.slice(-2);
  // Of a further page the first is known. Providers may list fewer than they are asked for: only none ends the list.
  const isEnd = account.paging === null ? page.length < PAGE : page.length === 1;
  const isWhole = isEnd || before === undefined || last === undefined || last.slot <= bound;
  const readHead = account.paging?.head ?? head;
  if (!isWhole)
    return put(memory, place, {
      paging: { before: before.signature, last: last.signature, newest, head: readHead },
    });
  const isExplained =
    account.paging !== null ||
    reached.length > 0 ||
    now - (account.changedAt ?? now) >= INDEX_LAG_MS + (account.hasMoved ? NODE_LAG_MS : 0) ||
    account.balance === null;
  const isLater = reached.length < page.length;
  put(memory, place, {
    paging: null,
    newest,
    read: readHead,
    changedAt: isExplained && !isLater ? null : account.changedAt,
  });
}
