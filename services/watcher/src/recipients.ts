import type { AccountId, Address, Instant } from '@pf/domain';

/** An account that names a recipient, and since when, as far as that is known. */
export interface Owner {
  readonly account: AccountId;
  readonly since: Instant;
}

/** How many intents of one account are to be paid to a recipient. */
interface Share extends Owner {
  since: Instant;
  intents: number;
}

/** The recipients of intents, and the accounts that own those: nearly always one. */
export class Recipients {
  readonly #shares = new Map<Address, readonly Share[]>();

  has(recipient: Address): boolean {
    return this.#shares.has(recipient);
  }

  all(): Iterable<Address> {
    return this.#shares.keys();
  }

  ownersOf(recipient: Address): readonly AccountId[] {
    return (this.#shares.get(recipient) ?? []).map(({ account }) => account);
  }

  owners(recipient: Address): readonly Owner[] {
    return this.#shares.get(recipient) ?? [];
  }

  /** One more intent of this account, which was made then. */
  add(recipient: Address, account: AccountId, since: Instant): void {
    const shares = this.#shares.get(recipient) ?? [];
    const known = shares.find((one) => one.account === account);
    if (known === undefined) {
      this.#shares.set(recipient, shares.concat({ account, since, intents: 1 }));
      return;
    }
    known.intents += 1;
    known.since = Math.min(known.since, since);
  }

  /** One less. */
  remove(recipient: Address, account: AccountId): void {
    const shares = this.#shares.get(recipient) ?? [];
    const known = shares.find((one) => one.account === account);
    if (known === undefined) return;
    known.intents -= 1;
    if (known.intents > 0) return;
    if (shares.length > 1)
      this.#shares.set(
        recipient,
        shares.filter((one) => one !== known),
      );
    else this.#shares.delete(recipient);
  }
}

/** Until when a recipient of intents of one account is watched that are all at rest, or have left. */
interface Term extends Owner {
  readonly until: Instant;
  /** It is watched for deposits, beyond its intents. */
  readonly isLong: boolean;
  /** The end that is stored. */
  readonly kept: Instant;
}

/** An end of a wallet's watching. `until`: that of its intents; `longUntil`: that of deposits to it */
export interface End {
  readonly since: Instant;
  readonly until: Instant;
  readonly longUntil: Instant;
}

/**
 * Wallets of an account that are watched beyond their intents, on one network. Further ones are watched as long as
 * their intents are: each costs calls, whoever names it.
 */
const LONG_MAX = 10_000;
/** An end that is later by less is not stored: a busy wallet has another with each intent. */
const KEPT_MS = 24 * 3_600_000;

/** The recipients of intents at rest, and the accounts that own those: nearly always one, so a list and not a map. */
export class RecipientsAtRest {
  readonly #terms = new Map<Address, readonly Term[]>();
  /** How many wallets of an account are watched beyond their intents. */
  readonly #long = new Map<AccountId, number>();
  readonly #longMax: number;

  constructor(longMax = LONG_MAX) {
    this.#longMax = longMax;
  }

  has(recipient: Address): boolean {
    return this.#terms.has(recipient);
  }

  all(): Iterable<Address> {
    return this.#terms.keys();
  }

  ownersOf(recipient: Address): readonly AccountId[] {
    return (this.#terms.get(recipient) ?? []).map(({ account }) => account);
  }

  owners(recipient: Address): readonly Owner[] {
    return this.#terms.get(recipient) ?? [];
  }

  /** Watches it until then, and longer where that was known. `since`: when the intent had ended. */
  add(recipient: Address, account: AccountId, { since, until, longUntil }: End): void {
    const known = this.#termOf(recipient, account);
    const isLong = longUntil > until && this.#hasRoom(account, known);
    this.#put(recipient, {
      account,
      since: Math.min(known?.since ?? since, since),
      until: Math.max(known?.until ?? until, isLong ? longUntil : until),
      isLong: isLong || known?.isLong === true,
      kept: known?.kept ?? 0,
    });
  }

  /** Watches a stored one, unless the account has as many as it may. */
  addKept(recipient: Address, account: AccountId, since: Instant, until: Instant): void {
    if (!this.#hasRoom(account, this.#termOf(recipient, account))) return;
    this.add(recipient, account, { since, until: since, longUntil: until });
    this.keep(recipient, account, until);
  }

  /** So many of those whose end is to be stored. */
  unkept(most: number): readonly ({ readonly recipient: Address; readonly until: Instant } & Owner)[] {
    const found: ({ readonly recipient: Address; readonly until: Instant } & Owner)[] = [];
    for (const [recipient, terms] of this.#terms)
      for (const { account, since, until, isLong, kept } of terms) {
        if (found.length >= most) return found;
        if (isLong && until - kept >= KEPT_MS) found.push({ recipient, account, since, until });
      }
    return found;
  }

  /** This end is stored. */
  keep(recipient: Address, account: AccountId, until: Instant): void {
    const known = this.#termOf(recipient, account);
    if (known !== undefined) this.#put(recipient, { ...known, kept: Math.max(known.kept, until) });
  }

  /** Drops those whose time is up. */
  drop(now: Instant): void {
    for (const [recipient, terms] of this.#terms) {
      const left = terms.filter(({ until }) => until > now);
      if (left.length === terms.length) continue;
      for (const { account, isLong, until } of terms) if (isLong && until <= now) this.#count(account, -1);
      if (left.length === 0) this.#terms.delete(recipient);
      else this.#terms.set(recipient, left);
    }
  }

  #termOf(recipient: Address, account: AccountId): Term | undefined {
    return this.#terms.get(recipient)?.find((one) => one.account === account);
  }

  /** Whether the account may have this wallet watched beyond its intents. */
  #hasRoom(account: AccountId, known: Term | undefined): boolean {
    return known?.isLong === true || this.#longOf(account) < this.#longMax;
  }

  #longOf(account: AccountId): number {
    return this.#long.get(account) ?? 0;
  }

  #put(recipient: Address, term: Term): void {
    const terms = this.#terms.get(recipient) ?? [];
    const known = terms.find(({ account }) => account === term.account);
    if (known !== undefined && isEqual(known, term)) return;
    if (term.isLong && known?.isLong !== true) this.#count(term.account, 1);
    this.#terms.set(recipient, terms.filter((one) => one !== known).concat(term));
  }

  #count(account: AccountId, change: number): void {
    const count = this.#longOf(account) + change;
    if (count === 0) this.#long.delete(account);
    else this.#long.set(account, count);
  }
}

const isEqual = (one: Term, other: Term): boolean =>
  one.since === other.since && one.until === other.until && one.isLong === other.isLong && one.kept === other.kept;
