/** Who starts attempts. */
export interface Starter {
  /** The account and mode that it is of: test mode takes nothing from live mode. */
  readonly owner: string;
  /** Whether it has something to start now. */
  canStart(): boolean;
  /** Starts one attempt, which gives its slot back by `slots.done()`. */
  start(slots: FairSlots): void;
  /** It has waited until now because its account had its most. */
  holdBack(): void;
}

interface Account {
  running: number;
  /** Those that may have something to start, in turns. */
  readonly starters: Set<Starter>;
}

/**
 * Slots for attempts under way, shared fairly: a free slot goes to the accounts in turns, and within an account to its
 * URLs in turns. So an account with a thousand busy URLs gets no more of a full process than one with a single URL.
 */
export class FairSlots {
  readonly #perAccount: number;
  readonly #accounts = new Map<string, Account>();
  /** The accounts that may start something, in turns. */
  readonly #turns = new Set<string>();
  #free: number;
  #starting = false;

  /**
   * @param slots attempts at once
   * @param perAccount of these, of one account
   */
  constructor(slots: number, perAccount: number) {
    this.#free = slots;
    this.#perAccount = perAccount;
  }

  /** Starts what this starter has, now or when it is its turn. May be called at any time, also for nothing. */
  offer(starter: Starter): void {
    if (!starter.canStart()) return;
    const { owner } = starter;
    let account = this.#accounts.get(owner);
    if (!account) this.#accounts.set(owner, (account = { running: 0, starters: new Set() }));
    account.starters.add(starter);
    if (account.running < this.#perAccount) this.#turns.add(owner);
    this.#start();
  }

  /** Whether the account has its most attempts under way. */
  isFull(owner: string): boolean {
    return this.#accounts.get(owner)?.running === this.#perAccount;
  }

  /** An attempt of this account has ended. */
  done(owner: string): void {
    this.#free += 1;
    const account = this.#accounts.get(owner);
    if (account) {
      if (this.isFull(owner)) for (const starter of account.starters) starter.holdBack();
      account.running -= 1;
      if (account.starters.size > 0) this.#turns.add(owner);
      else if (account.running === 0) this.#accounts.delete(owner);
    }
    this.#start();
  }

  #start(): void {
    // start() may end an attempt at once, and so lead back here.
    if (this.#starting) return;
    this.#starting = true;
    while (this.#free > 0) {
      const [owner] = this.#turns;
      if (owner === undefined) break;
      this.#turns.delete(owner);
      const account = this.#accounts.get(owner);
      const [starter] = account?.starters ?? [];
      if (!account || !starter) continue;
      account.starters.delete(starter);
      if (starter.canStart()) {
        this.#free -= 1;
        account.running += 1;
        starter.start(this);
        if (starter.canStart()) account.starters.add(starter);
      }
      // To the end of the queue.
      if (account.starters.size > 0 && account.running < this.#perAccount) this.#turns.add(owner);
      if (account.starters.size === 0 && account.running === 0) this.#accounts.delete(owner);
    }
    this.#starting = false;
  }
}
