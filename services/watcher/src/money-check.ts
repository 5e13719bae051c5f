import type { BlockRange, Moved, Network, WalletHistory } from '@pf/chains';
import type { NamedWallet, ToldTransfer } from '@pf/database';
import type { AccountId, Address, Instant, IntentId, TransactionHash } from '@pf/domain';
import { count, type Logger } from '@pf/runtime';
import { compare, type Difference } from '@pf/wallet-audit';
import type { WatchedIntents } from './watched-intents.ts';

/** So many checks back a range begins at most; it ends at the one before. */
const CHECKS_BACK = 4;
/** Transactions of one check. A wallet of more in half an hour is an exchange's or a contract's: it rests for a day. */
const TRANSACTIONS_MAX = 300;
const REST_MS = 24 * 60 * 60_000;
/** As many as have deposits of a wallet: anyone may name any wallet. */
const OWNERS_MAX = 16;
/** How often a difference is looked at before it is told: what was late, or waited to be judged, is told meanwhile. */
const LOOKS = 3;
/** Two hours: longer than a database fails, and shorter than an intent may be one that this version cannot read. */
const TRIES = 12;
/** Differences of one check that are logged: one hints at its cause. */
const LOGGED_MAX = 5;
/** The clocks of chains and services differ by less. */
const CLOCKS_MS = 60_000;
/** How a check ends. `skipped`: the wallet has too many transactions, or accounts that name it. */
const OUTCOMES = ['same', 'differs', 'failed', 'skipped'] as const;

/** What a process watches that has read all blocks of a network. */
interface Watching {
  /** The newest block that it has read. */
  readonly head: bigint;
  /** The wallets of the network, and whose intents name them. */
  readonly set: Pick<WatchedIntents, 'recipients' | 'ownersSince'>;
}

/** What moved in blocks of a wallet that are compared with the ledger. */
interface Checked {
  readonly wallet: Address;
  readonly range: BlockRange;
  readonly accounts: readonly AccountId[];
  /** When its first block was made. */
  readonly begins: Instant;
  readonly moved: readonly Moved[];
}

interface Suspect extends Checked {
  /** How often it was compared, and how often that was tried. */
  readonly looks: number;
  readonly tries: number;
}

export interface MoneyCheckOptions {
  readonly network: Network;
  readonly history: Pick<WalletHistory, 'final' | 'timeOf' | 'readFew'>;
  /** Null while another process watches, or this one is behind: the ledger need not have all yet. */
  readonly watching: () => Watching | null;
  readonly readTold: (
    wallet: NamedWallet,
    accounts: readonly AccountId[],
    since: Instant,
    hashes: readonly TransactionHash[],
  ) => Promise<{ readonly told: readonly ToldTransfer[]; readonly unreadable: readonly IntentId[] }>;
  readonly now: () => Instant;
  readonly log: Logger;
}

/**
 * Compares, wallet by wallet in turn, what arrived by the chain alone with what the ledger tells of the same
 * transactions: what neither an intent nor a deposit explains, three checks in a row, is logged and counted (the alert
 * MoneyUnexplained). What the ledger tells of transactions that moved nothing is for `pf audit wallets` to find.
 *
 * A check reads what was final at the check before, so that the ledger may have it by now.
 */
export class MoneyCheck {
  readonly #options: MoneyCheckOptions;
  /** What was read before by another process, or by one that did not look for deposits, ends here. */
  #begins: bigint | null = null;
  /** The newest final block at each of the last checks, the oldest first. */
  #finals: readonly bigint[] = [];
  #turn = 0;
  /** Up to which block each wallet was checked. */
  readonly #checked = new Map<Address, bigint>();
  /** Until when these are not checked. */
  readonly #resting = new Map<Address, Instant>();
  #suspects: readonly Suspect[] = [];

  constructor(options: MoneyCheckOptions) {
    this.#options = options;
    // An increase can be told only of a count that was there before.
    for (const outcome of OUTCOMES) this.#count(outcome, 0);
  }

  /**
   * Looks at earlier differences again, and checks the wallet whose turn it is.
   * @throws RpcUnavailableError, or the database's error
   */
  async check(): Promise<void> {
    const watching = this.#options.watching();
    if (watching === null) {
      // Another process may watch meanwhile, and what was final long ago makes a long range.
      [this.#begins, this.#finals] = [null, []];
      return;
    }
    const failures: unknown[] = [];
    const collect = (error: unknown): void => void failures.push(error);
    // What cannot be compared keeps no other wallet from it.
    for (const suspect of this.#suspects) await this.#lookAgain(suspect).catch(collect);
    await this.#checkNext(watching).catch(collect);
    if (failures.length === 0) return;
    this.#count('failed');
    throw failures[0];
  }

  async #lookAgain(suspect: Suspect): Promise<void> {
    const others = this.#suspects.filter((one) => one !== suspect);
    const tries = suspect.tries + 1;
    // One that cannot be read is tried again, but not for good.
    this.#suspects = tries < TRIES ? [...others, { ...suspect, tries }] : others;
    const differences = await this.#differencesIn(suspect);
    const looks = suspect.looks + 1;
    const isOver = differences.length === 0 || looks === LOOKS;
    this.#suspects = isOver ? others : [...others, { ...suspect, looks, tries }];
    if (differences.length === 0) this.#count('same');
    else if (isOver) this.#tell(suspect, differences);
  }

  async #checkNext(watching: Watching): Promise<void> {
    const { history } = this.#options;
    this.#begins ??= watching.head;
    this.#finals = [...this.#finals, await history.final()].slice(-CHECKS_BACK);
    const [oldest, to] = [this.#finals[0], this.#finals.at(-2)];
    const wallet = this.#next(watching.set.recipients());
    if (oldest === undefined || to === undefined || wallet === undefined) return;
    const begins = [oldest, this.#begins, this.#checked.get(wallet) ?? 0n];
    const range = { from: begins.reduce((one, other) => (one > other ? one : other)) + 1n, to };
    if (range.from > to) return;
    const owners = watching.set.ownersSince(wallet);
    if (owners.size > OWNERS_MAX) return this.#skip(wallet);
    const beganAt = await history.timeOf(range.from);
    // What came before the wallet was named is in no ledger.
    if (beganAt === null || Math.min(...owners.values()) + CLOCKS_MS > beganAt) return;
    const few = await history.readFew(wallet, range, TRANSACTIONS_MAX);
    if (few === null) return this.#skip(wallet);
    const accounts = [...owners.keys()];
    const checked = { wallet, range: { ...range, to: few.through }, accounts, begins: beganAt, moved: few.moved };
    const differences = await this.#differencesIn(checked);
    this.#checked.set(wallet, few.through);
    if (differences.length === 0) this.#count('same');
    else this.#suspects = [...this.#suspects, { ...checked, looks: 1, tries: 1 }];
  }

  /** The wallet whose turn it is, of those that do not rest. */
  #next(wallets: readonly Address[]): Address | undefined {
    if (Math.max(this.#checked.size, this.#resting.size) > wallets.length) this.#forgetAllBut(new Set(wallets));
    const now = this.#options.now();
    for (let looked = 0; looked < wallets.length; looked += 1) {
      const wallet = wallets[this.#turn++ % wallets.length] as Address;
      if ((this.#resting.get(wallet) ?? 0) <= now) return wallet;
    }
    return undefined;
  }

  #skip(wallet: Address): void {
    this.#resting.set(wallet, this.#options.now() + REST_MS);
    this.#count('skipped');
  }

  async #differencesIn({ wallet, accounts, begins, moved }: Checked): Promise<readonly Difference[]> {
    const { network, readTold } = this.#options;
    if (moved.length === 0) return [];
    const named = { chain: network.chain, livemode: network.livemode, wallet };
    const hashes = [...new Set(moved.map(({ hash }) => hash))];
    const { told, unreadable } = await readTold(named, accounts, begins - CLOCKS_MS, hashes);
    const [first] = unreadable;
    if (first !== undefined) throw new Error(`${wallet} cannot be checked: this version cannot read ${first}`);
    return compare(moved, told).differences;
  }

  #tell({ wallet, range }: Checked, differences: readonly Difference[]): void {
    this.#count('differs');
    this.#options.log.error(
      {
        wallet,
        blocks: { from: range.from.toString(), to: range.to.toString() },
        differences: differences.slice(0, LOGGED_MAX).map(({ kind, tokenAddress, hash, arrived, told }) => ({
          kind,
          tokenAddress,
          hash,
          arrived: arrived.toString(),
          told: told.toString(),
        })),
        differencesInAll: differences.length,
        runbook: 'docs/operations/runbooks/money-unexplained.md',
      },
      'what arrived in a wallet and what the ledger tells of it differ',
    );
  }

  #count(outcome: (typeof OUTCOMES)[number], by = 1): void {
    count('payments.watcher.checks', { network: this.#options.network.name, outcome }, by);
  }

  #forgetAllBut(wallets: ReadonlySet<Address>): void {
    for (const known of [this.#checked, this.#resting])
      for (const wallet of known.keys()) if (!wallets.has(wallet)) known.delete(wallet);
  }
}
