import type { AccountId, Address } from '@pf/domain';

/** How many intents of one account are to be paid to a recipient. */
interface Share {
  readonly account: AccountId;
  readonly intents: number;
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
    const others = shares.filter((one) => one.account !== account);
    const intents = (shares.find((one) => one.account === account)?.intents ?? 0) + more;
    if (intents > 0) this.#shares.set(recipient, [...others, { account, intents }]);
    else if (others.length > 0) this.#shares.set(recipient, others);
    else this.#shares.delete(recipient);
  }
}
