import type { Address as WalletAddress, Observation, Reference, TransactionHash } from '@pf/domain';
import type { Address } from '@solana/kit';
import { LRUCache } from 'lru-cache';

/** A token account of a recipient, and how far its transactions were read. */
export interface WatchedAccount {
  readonly address: Address;
  /** What it held when it was last asked about; null: it did not exist; undefined: never asked. */
  readonly balance: bigint | null | undefined;
  /** Since when it has to be read, by our clock; null while nothing points to a new transaction. */
  readonly changedAt: number | null;
  /** Every transaction up to this slot was found. */
  readonly read: bigint;
  /** The newest transaction that was found: it is read down to there the next time. */
  readonly newest: TransactionHash | undefined;
  /** While the pages of a long list are read: the last of the page before, and what will be the newest in the end. */
  readonly paging: {
    readonly before: TransactionHash;
    readonly newest: TransactionHash | undefined;
    readonly head: bigint;
  } | null;
}

/** A transaction that names a watched account and is yet to be looked at. */
export interface Unseen {
  readonly slot: bigint;
  /** When it was found, by our clock. */
  readonly since: number;
}

/** What is observed again when the ledger has not taken it after this time. */
const REPEAT_MS = 30_000;
const LOOKED_MAX = 50_000;

/** What saves the observer work between steps. It belongs to one position; all of it can be lost. */
export class Memory {
  /** By recipient. */
  readonly accounts = new Map<WalletAddress, readonly WatchedAccount[]>();
  readonly unseen = new Map<TransactionHash, Unseen>();
  readonly looked = new LRUCache<TransactionHash, true>({ max: LOOKED_MAX });
  /** When each transaction was last asked about at all upstreams, with its history. */
  readonly provenAt = new Map<TransactionHash, number>();
  /** Of intents that somebody is about to pay, by reference: when each was first expected, and when its reference is looked for next. */
  readonly expected = new Map<Reference, { readonly since: number; readonly dueAt: number }>();
  /** Expired intents, by reference, that were looked for a last time. */
  readonly lookedLast = new LRUCache<Reference, true>({ max: LOOKED_MAX });
  readonly #told = new Map<string, number>();
  /** Whose balances are asked for next. */
  pollFrom = 0;

  /** True while a list of transactions is read page by page. */
  isPaging(): boolean {
    return [...this.accounts.values()].some((accounts) => accounts.some(({ paging }) => paging !== null));
  }

  /** Everything is read again, from the position that the caller goes back to. */
  readAgain(): void {
    this.accounts.clear();
    this.unseen.clear();
    this.looked.clear();
  }

  /** The slot up to which every transaction of every account was found and looked at. */
  readUpTo(head: bigint): bigint {
    let slot = head;
    for (const accounts of this.accounts.values()) for (const { read } of accounts) if (read < slot) slot = read;
    for (const unseen of this.unseen.values()) if (unseen.slot <= slot) slot = unseen.slot - 1n;
    return slot;
  }

  /** Those that were not told lately, each once. */
  notRepeated(observations: readonly Observation[], now: number): readonly Observation[] {
    for (const [key, at] of this.#told) if (now - at >= REPEAT_MS) this.#told.delete(key);
    return observations.filter((one) => {
      const isFresh = !this.#told.has(keyOf(one));
      if (isFresh) this.#told.set(keyOf(one), now);
      return isFresh;
    });
  }

  /** Forgets when those were asked about that are asked about no more. */
  keepProven(asked: ReadonlySet<TransactionHash>): void {
    for (const hash of this.provenAt.keys()) if (!asked.has(hash)) this.provenAt.delete(hash);
  }
}

const keyOf = ({ type, intentId, data }: Observation): string =>
  [
    type,
    intentId,
    data.hash,
    ...('transfer' in data ? [data.level, data.transfer.index, data.transfer.block] : []),
  ].join(' ');
