import type { AccountId, Address, Instant } from '@pf/domain';

/** How many intents of one account are to be paid to a recipient. */
interface Share {
  readonly account: AccountId;
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

  /** One more intent of this account. */
  add(recipient: Address, account: AccountId): void {
    this.#count(recipient, account, 1);
  }

  /** One less. */
  remove(recipient: Address, account: AccountId): void {
    this.#count(recipient, account, -1);
  }

  #count(recipient: Address, account: AccountId, more: 1 | -1): void {
    const shares = this.#shares.get(recipient) ?? [];
    const known = shares.find((one) => one.account === account);
    if (known === undefined) {
      if (more > 0) this.#shares.set(recipient, shares.concat({ account, intents: more }));
      return;
    }
    known.intents += more;
    if (known.intents > 0) return;
    if (shares.length > 1)
      this.#shares.set(
        recipient,
        shares.filter((one) => one !== known),
      );
    else this.#shares.delete(recipient);
  }
}

/** Until when a recipient of intents of one account is watched that are all at rest. */
interface Term {
  readonly account: AccountId;
  readonly until: Instant;
}

/** The recipients of intents at rest, and the accounts that own those: nearly always one, so a list and not a map. */
export class RecipientsAtRest {
  readonly #terms = new Map<Address, readonly Term[]>();

  has(recipient: Address): boolean {
    return this.#terms.has(recipient);
  }

  all(): Iterable<Address> {
    return this.#terms.keys();
  }

  ownersOf(recipient: Address): readonly AccountId[] {
    return (this.#terms.get(recipient) ?? []).map(({ account }) => account);
  }

  /** Watches it until then, and longer where that was known. */
  add(recipient: Address, account: AccountId, until: Instant): void {
    const terms = this.#terms.get(recipient) ?? [];
    const known = terms.find((one) => one.account === account);
    if (known !== undefined && known.until >= until) return;
    this.#terms.set(recipient, terms.filter((one) => one !== known).concat({ account, until }));
  }

  /** Drops those whose time is up. */
  drop(now: Instant): void {
    for (const [recipient, terms] of this.#terms) {
      const left = terms.filter(({ until }) => until > now);
      if (left.length === 0) this.#terms.delete(recipient);
      else if (left.length < terms.length) this.#terms.set(recipient, left);
    }
  }
}
