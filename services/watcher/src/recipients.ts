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

/** Until when a recipient of intents of one account is watched that are all at rest. */
interface Term extends Owner {
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

  owners(recipient: Address): readonly Owner[] {
    return this.#terms.get(recipient) ?? [];
  }

  /** Watches it until then, and longer where that was known. @param since when the intent had ended */
  add(recipient: Address, account: AccountId, since: Instant, until: Instant): void {
    const terms = this.#terms.get(recipient) ?? [];
    const known = terms.find((one) => one.account === account);
    if (known !== undefined && known.until >= until && known.since <= since) return;
    const term = {
      account,
      since: Math.min(known?.since ?? since, since),
      until: Math.max(known?.until ?? until, until),
    };
    this.#terms.set(recipient, terms.filter((one) => one !== known).concat(term));
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
