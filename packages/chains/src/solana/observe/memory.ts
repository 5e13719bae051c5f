import type { AccountId, Address as WalletAddress, Observation, Reference, TransactionHash } from '@pf/domain';
import { boundedCache } from '@pf/runtime';
import type { Address } from '@solana/kit';
import { Turns } from '../../in-turns.ts';
import { Unshown } from '../../unshown.ts';
import type { Bookmark } from '../../port.ts';
import type { PageEnd } from './paging.ts';

/** A node may list a transaction before it returns it. After this it is warned of. */
export const SHOWN_WITHIN_MS = 300_000;

/** A token account of a recipient, and how far its transactions were read. */
export interface WatchedAccount {
  readonly address: Address;
  /** Its last known balance; null: it did not exist; undefined: not known. */
  readonly balance: bigint | null | undefined;
  /** Its balance was read since this process began. */
  readonly isCompared: boolean;
  /** Since when its list is due, by our clock; null while nothing points to a new transaction. */
  readonly changedAt: number | null;
  /** It is due because a known balance has moved: there is a transaction to be found. */
  readonly hasMoved: boolean;
  /** By how much its balance rose since its list was last read to its end. */
  readonly risen: bigint;
  /** Its recipient was not watched before, and its balance, if it has one, may be of a payment that was not found. */
  readonly isNew: boolean;
  /** While it is due: not before this time. */
  readonly dueAt: number;
  /** Every transaction up to this slot was found. */
  readonly read: bigint;
  /** The newest transaction that was found: the list is read down to it the next time. */
  readonly newest: TransactionHash | undefined;
  /** While a long list is read page by page, with what will be the newest in the end. */
  readonly paging: (PageEnd & { readonly newest: TransactionHash | undefined; readonly head: bigint }) | null;
}

/** A transaction of a watched account that was not read yet. */
export interface Unseen {
  readonly slot: bigint;
  /** When it was found, and when it is asked for next, by our clock. */
  readonly since: number;
  readonly dueAt: number;
  /** The recipient by whose turns it is read: its account lists it, or one of its intents is named. */
  readonly of: WalletAddress;
  /** The reference by which it was found: it does not wait behind what else names the recipient's account. */
  readonly reference?: Reference;
  /** Why what nodes show of it could not be judged; absent while none was asked, and where none shows it. */
  readonly problem?: string;
  /** Where it could be read: who has paid its fee, and what its recipient has gained at most, in base units. */
  readonly payer?: WalletAddress;
  readonly amount?: bigint;
}

/** An intent with a payment under way, whose reference is looked up. */
export interface ExpectedPayment {
  readonly recipient: WalletAddress;
  /** Since when it is expected, and when its reference is looked up next, by our clock. */
  readonly since: number;
  readonly dueAt: number;
  /** It is looked up one last time, to the end of its list. */
  readonly isLast: boolean;
  /** The newest transaction that was found when the list was read to its end: it is read down to it the next time. */
  readonly newest: TransactionHash | undefined;
  /** While a long list is read page by page. */
  readonly paging: (PageEnd & { readonly newest: TransactionHash | undefined }) | null;
}

/** An observation is repeated when the ledger does not have it after this time. */
const REPEAT_MS = 30_000;
const LOOKED_MAX = 50_000;
/** Transactions that could not be judged and are asked for again: of all recipients. */
export const SET_ASIDE_MAX = 500;

/** Saves the observer work between steps. Belongs to one position; all of it can be lost. */
export class Memory {
  /** The stored bookmarks of recipients, until their accounts are made of them. */
  stored: ReadonlyMap<string, Bookmark>;
  /** By recipient. */
  readonly accounts = new Map<WalletAddress, readonly WatchedAccount[]>();
  readonly unseen = new Map<TransactionHash, Unseen>();
  readonly looked = boundedCache<TransactionHash, true>(LOOKED_MAX);
  /** Whose lists are read, and references are looked up: by the accounts of their intents; null: not known. */
  readonly listTurns = new Turns<AccountId | null>();
  readonly referenceTurns = new Turns<AccountId | null>();
  /** Of which recipient a transaction is read, and a reference is looked up. */
  readonly lookTurns = new Turns<WalletAddress>();
  readonly expectedTurns = new Turns<WalletAddress>();
  /** Of which recipient, and which of its, a submission that has landed is read. */
  readonly landedTurns = new Turns<WalletAddress>();
  readonly landedHashTurns = new Turns<TransactionHash>();
  /** Of a recipient's transactions: those of which reference, or without any, are read. */
  readonly queueTurns = new Turns<Reference | WalletAddress>();
  /** The upstream that showed each payment, by the text of the payment. */
  readonly shownBy = boundedCache<string, string>(LOOKED_MAX);
  /** Settlements, by such texts, that two upstreams have shown; and those that the second does not show yet. */
  readonly shownTwice = boundedCache<string, true>(LOOKED_MAX);
  readonly shownOnce = new Map<string, { readonly since: number; readonly dueAt: number }>();
  /** All settlements and deposits that no second upstream has shown yet: by such texts, and by the ids of deposits. */
  readonly unshown = new Unshown();
  /** The same of deposits: which upstream told of each, by toldKeyOf(); and when their transaction was last judged. */
  readonly depositsShownBy = boundedCache<string, string>(LOOKED_MAX);
  readonly depositsJudgedAt = boundedCache<string, number>(LOOKED_MAX);
  /** Whose deposits are judged. */
  readonly depositTurns = new Turns<AccountId>();
  /** When all upstreams were last asked for each transaction, with their history. */
  readonly provenAt = new Map<TransactionHash, number>();
  readonly expected = new Map<Reference, ExpectedPayment>();
  /** References of expired intents that were looked up one last time. */
  readonly lookedLast = boundedCache<Reference, true>(LOOKED_MAX);
  /** Recipients whose bookmarks are to be stored. */
  readonly changed = new Set<WalletAddress>();
  /** Recipients without a stored bookmark; and those with one that are no longer watched. */
  readonly added = new Set<WalletAddress>();
  readonly removed = new Set<WalletAddress>();
  /** Index of the account whose balance is read next in turn; and whose turn it is of awaited recipients. */
  pollFrom = 0;
  readonly pollTurns = new Turns<WalletAddress>();
  /** By our clock: when balances were last read, and when an account was last listed in turn. */
  polledAt = Number.NEGATIVE_INFINITY;
  turnedAt = Number.NEGATIVE_INFINITY;
  /** Some transaction's outcome was pending, or some deposit was not final, in the last step. */
  isPending = false;
  readonly #observedAt = new Map<string, number>();

  /** @param stored where reading goes on; without a bookmark it begins where the position says */
  constructor(stored: ReadonlyMap<string, Bookmark> = new Map()) {
    this.stored = stored;
  }
  /** True while a list of transactions is read page by page. */
  isPaging(): boolean {
    return [...this.accounts.values()].some((accounts) => accounts.some(({ paging }) => paging !== null));
  }

  /** True while a transaction that was found is asked for before this time. */
  isAwaiting(before: number): boolean {
    return [...this.unseen.values()].some(({ dueAt }) => dueAt <= before);
  }

  /** Changes what is known of an account of a recipient, and with it the bookmark. */
  put(recipient: WalletAddress, index: number, change: Partial<WatchedAccount>): void {
    if (this.#replace(recipient, index, change)) this.changed.add(recipient);
  }
  /** Its balance was read. */
  compared(recipient: WalletAddress, index: number): void {
    this.#replace(recipient, index, { isCompared: true });
  }
  #replace(recipient: WalletAddress, index: number, change: Partial<WatchedAccount>): boolean {
    const accounts = this.accounts.get(recipient);
    if (accounts === undefined) return false;
    this.accounts.set(
      recipient,
      accounts.map((account, at) => (at === index ? { ...account, ...change } : account)),
    );
    return true;
  }

  /** Forgets what was read: the caller goes back to an earlier position. */
  readAgain(): void {
    this.stored = new Map();
    this.accounts.clear();
    this.added.clear();
    this.changed.clear();
    this.unseen.clear();
    this.lookTurns.clear();
    this.queueTurns.clear();
    this.looked.clear();
    for (const [reference, one] of this.expected)
      this.expected.set(reference, { ...one, newest: undefined, paging: null });
  }

  /** How many transactions could not be judged, or are returned by no node for minutes, and are asked for again. */
  setAside(now: number): number {
    const isMissing = ({ since, dueAt }: Unseen): boolean => dueAt > since && now - since >= SHOWN_WITHIN_MS;
    return [...this.unseen.values()].filter((one) => one.problem !== undefined || isMissing(one)).length;
  }

  /** The slot up to which every transaction of every account was found and looked at. */
  readUpTo(head: bigint): bigint {
    let slot = head;
    for (const accounts of this.accounts.values()) for (const { read } of accounts) if (read < slot) slot = read;
    for (const unseen of this.unseen.values()) if (unseen.slot <= slot) slot = unseen.slot - 1n;
    return slot;
  }

  /** By recipient: the lowest slot of a transaction that was found for it and not looked at. */
  firstUnread(): ReadonlyMap<WalletAddress, bigint> {
    const first = new Map<WalletAddress, bigint>();
    for (const { slot, of } of this.unseen.values()) if (slot < (first.get(of) ?? slot + 1n)) first.set(of, slot);
    return first;
  }

  /** The observations that were not made recently, each once. */
  notRepeated(observations: readonly Observation[], now: number): readonly Observation[] {
    for (const [key, at] of this.#observedAt) if (now - at >= REPEAT_MS) this.#observedAt.delete(key);
    return observations.filter((one) => {
      const isFresh = !this.#observedAt.has(keyOf(one));
      if (isFresh) this.#observedAt.set(keyOf(one), now);
      return isFresh;
    });
  }

  /** Forgets the transactions that are no longer asked for. */
  keepProven(asked: ReadonlySet<TransactionHash>): void {
    for (const hash of this.provenAt.keys()) if (!asked.has(hash)) this.provenAt.delete(hash);
  }
}

const keyOf = ({ type, intentId, data }: Observation): string =>
  [
    type,
    intentId,
    data.hash,
    ...('level' in data ? [data.level, data.transfer.index, data.transfer.block] : []),
    ...('place' in data ? [data.place.block] : []),
  ].join(' ');
