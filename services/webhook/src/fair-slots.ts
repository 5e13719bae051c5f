/** Who starts attempts. */
export interface Starter {
  /** The account and mode that it is of. */
  readonly owner: string;
  /** Whether it has something to start now, and in a slot of these. */
  canStart(slots: FairSlots): boolean;
  /** Starts one attempt, which gives its slot back by `slots.done()`. */
  start(slots: FairSlots): void;
  /** It has waited until now because its account had its most. */
  holdBack(): void;
}

/** How many attempts may be under way at once. */
export interface Share {
  readonly slots: number;
  /** Of these, kept for accounts that have none. */
  readonly reserved: number;
  /** Of one account, with those that are set aside. */
  readonly perAccount: number;
  /** How many beside them may go on without a slot. */
  readonly aside: number;
}

interface Account {
  running: number;
  /** Those that may have something to start, in turns. */
  readonly starters: Set<Starter>;
}

/**
 * Slots for attempts under way, shared fairly: a free slot goes to the accounts in turns, first to those that have
 * none, and within an account to its URLs in turns. So an account with a thousand busy URLs gets no more of a full
 * process than one with a single URL, and the last slots are kept for accounts that have none.
 */
export class FairSlots {
  readonly #share: Share;
  readonly #accounts = new Map<string, Account>();
  /** The accounts that may start something, in turns: those with nothing under way, and others. */
  readonly #idle = new Set<string>();
  readonly #busy = new Set<string>();
  #free: number;
  #aside = 0;
  #starting = false;

  constructor(share: Share) {
    this.#share = share;
    this.#free = share.slots;
  }

  get size(): number {
    return this.#share.slots;
  }

  /** Attempts that are set aside have none. */
  get used(): number {
    return this.#share.slots - this.#free;
  }

  /** How many starters have something to start, and wait for nothing but a slot. */
  get waiting(): number {
    const owners = [...this.#idle, ...this.#busy];
    const starters = owners.flatMap((owner) => [...(this.#accounts.get(owner)?.starters ?? [])]);
    return starters.filter((starter) => starter.canStart(this)).length;
  }

  /** Starts what this starter has, now or when it is its turn. May be called at any time, also for nothing. */
  offer(starter: Starter): void {
    if (!starter.canStart(this)) return;
    const { owner } = starter;
    const account = this.#accountOf(owner);
    account.starters.add(starter);
    this.#queue(owner, account);
    this.#start();
  }

  /**
   * Takes over an attempt of this account that is under way in other slots.
   * @returns whether there was a slot for it, as for one that begins
   */
  take(owner: string): boolean {
    const running = this.#accounts.get(owner)?.running ?? 0;
    if (running >= this.#share.perAccount || this.#free <= (running > 0 ? this.#share.reserved : 0)) return false;
    const account = this.#accountOf(owner);
    this.#free -= 1;
    account.running += 1;
    this.#queue(owner, account);
    return true;
  }

  /**
   * An attempt that is under way leaves its slot to others, and still counts for its account. It ends by `doneAside`.
   * @returns whether there was room for it
   */
  setAside(): boolean {
    if (this.#aside === this.#share.aside) return false;
    this.#aside += 1;
    this.#free += 1;
    this.#start();
    return true;
  }

  /** Whether the account has its most attempts under way. */
  isFull(owner: string): boolean {
    return this.#accounts.get(owner)?.running === this.#share.perAccount;
  }

  /** An attempt of this account has ended, or goes on in other slots. */
  done(owner: string): void {
    this.#free += 1;
    this.#ended(owner);
  }

  /** One of this account that was set aside has ended. */
  doneAside(owner: string): void {
    this.#aside -= 1;
    this.#ended(owner);
  }

  #ended(owner: string): void {
    const account = this.#accounts.get(owner);
    if (account) {
      if (this.isFull(owner)) for (const starter of account.starters) starter.holdBack();
      account.running -= 1;
      this.#queue(owner, account);
    }
    this.#start();
  }

  #accountOf(owner: string): Account {
    let account = this.#accounts.get(owner);
    if (!account) this.#accounts.set(owner, (account = { running: 0, starters: new Set() }));
    return account;
  }

  /** Where the account waits for its turn after a change: at the end, or where it is already. */
  #queue(owner: string, { running, starters }: Account): void {
    const waits = starters.size > 0 && running < this.#share.perAccount;
    if (waits && running === 0) this.#idle.add(owner);
    else this.#idle.delete(owner);
    if (waits && running > 0) this.#busy.add(owner);
    else this.#busy.delete(owner);
    if (starters.size === 0 && running === 0) this.#accounts.delete(owner);
  }

  /** Whose turn it is, if there is a slot for it. */
  #next(): string | undefined {
    if (this.#free > 0) for (const owner of this.#idle) return owner;
    if (this.#free > this.#share.reserved) for (const owner of this.#busy) return owner;
    return undefined;
  }

  #start(): void {
    // start() may end an attempt at once, and so lead back here.
    if (this.#starting) return;
    this.#starting = true;
    for (let owner = this.#next(); owner !== undefined; owner = this.#next()) {
      // To the end of the queue.
      this.#idle.delete(owner);
      this.#busy.delete(owner);
      const account = this.#accounts.get(owner);
      const [starter] = account?.starters ?? [];
      if (!account || !starter) continue;
      account.starters.delete(starter);
      if (starter.canStart(this)) {
        this.#free -= 1;
        account.running += 1;
        starter.start(this);
        if (starter.canStart(this)) account.starters.add(starter);
      }
      this.#queue(owner, account);
    }
    this.#starting = false;
  }
}
