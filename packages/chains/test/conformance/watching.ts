import { depositIdOf } from '@pf/contracts';
import {
  type AccountId,
  type Address,
  type ChainId,
  decideDeposit,
  type Deposit,
  type DepositId,
  type DepositObservation,
  type IntentId,
  type Observation,
  type PaymentTerms,
  type PreparedTransaction,
  type Reference,
  type Settlement,
  type Submission,
} from '@pf/domain';
import {
  aliasOf,
  type Bookmark,
  type ChainObserver,
  type Cursor,
  type Step,
  type WatchedIntent,
  type WatchSet,
} from '../../src/index.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * The intents of a test, as a watcher would hold them: what is observed is applied as the ledger would. One that has
 * neither a submission nor a settlement is found by a name only in a step that has recalled it, as if it were at rest.
 */
export class Watched implements WatchSet {
  hasDeposits = true;
  readonly #intents = new Map<Reference, Mutable<WatchedIntent>>();
  readonly #recalled = new Set<string>();
  readonly #detected = new Set<Reference>();
  readonly #recipients = new Set<Address>();
  readonly #awaited = new Set<Address>();
  readonly #owners = new Map<Address, readonly AccountId[]>();
  readonly deposits = new Map<DepositId, Deposit>();

  add(id: string, terms: PaymentTerms): void {
    this.#recipients.add(terms.requestor);
    this.#intents.set(terms.reference, {
      id: id as IntentId,
      status: 'created',
      terms,
      submission: null,
      settlement: null,
      createdAt: 0,
    });
  }
  /** As of an intent that was made a moment ago. */
  await({ requestor }: PaymentTerms): void {
    this.#awaited.add(requestor);
  }
  /** These accounts have intents that are paid to this recipient. */
  own(recipient: Address, ...accounts: readonly string[]): void {
    this.#owners.set(recipient, accounts as readonly AccountId[]);
  }
  all(): readonly PaymentTerms[] {
    return [...this.#intents.values()].map(({ terms }) => terms);
  }
  /** It is no longer watched, as a month after it was closed. */
  drop({ reference, requestor }: PaymentTerms): void {
    this.#intents.delete(reference);
    this.#recipients.delete(requestor);
  }
  detect({ reference }: PaymentTerms): void {
    this.#detected.add(reference);
  }
  expire({ reference }: PaymentTerms): void {
    this.#of(reference).status = 'expired';
  }
  submit(transaction: PreparedTransaction, preparedAt: number): void {
    const submission: Submission = { ...transaction, status: 'live', attempts: 1, preparedAt, broadcastAt: preparedAt };
    this.#of(transaction.terms.reference).submission = submission;
  }
  apply(observation: Observation): void {
    const intent = [...this.#intents.values()].find(({ id }) => id === observation.intentId);
    if (intent === undefined) throw new Error(`${observation.intentId} is not watched`);
    switch (observation.type) {
      case 'landed': {
        const { hash, transfer, level } = observation.data;
        // As the writer: it is told of as a mismatched payment, and ends the submission.
        if (transfer.reference !== intent.terms.reference) {
          if (intent.submission?.hash === hash) intent.submission = null;
          return;
        }
        if (intent.settlement !== null && !intent.settlement.lost && intent.settlement.hash !== hash) return;
        intent.settlement = { hash, transfer, finalized: level === 'finalized', lost: false };
        intent.status = level;
        if (intent.submission?.hash === hash) intent.submission = null;
        return;
      }
      case 'lost':
        if (intent.settlement?.hash !== observation.data.hash) return;
        // As the writer: of another landing than the one that stands it changes nothing.
        if (observation.data.place && observation.data.place.block !== intent.settlement.transfer.block) return;
        intent.settlement = { ...intent.settlement, lost: true };
        return;
      case 'dropped':
      case 'reverted':
        if (intent.submission?.hash === observation.data.hash) intent.submission = null;
        return;
      case 'disproved':
        // As the writer: it takes a report back, which no watcher knows of.
        return;
      case 'assigned':
        throw new Error('no watcher assigns a deposit');
    }
  }

  applyDeposit(observation: DepositObservation): void {
    const decided = decideDeposit(observation, 0, this.deposits.get(observation.depositId));
    if (decided !== null) this.deposits.set(decided.deposit.id, decided.deposit);
  }

  #of(reference: Reference): Mutable<WatchedIntent> {
    const intent = this.#intents.get(reference);
    if (intent === undefined) throw new Error('no such intent');
    return intent;
  }
  get size(): number {
    return this.#intents.size;
  }
  /** A step begins. */
  begin(): this {
    this.#recalled.clear();
    return this;
  }
  recall(names: Iterable<string>): Promise<void> {
    for (const name of names) this.#recalled.add(name);
    return Promise.resolve();
  }
  byReference(reference: Reference): WatchedIntent | undefined {
    return this.#found(this.#intents.get(reference), reference);
  }
  byAlias(alias: string): WatchedIntent | undefined {
    return this.#found(
      [...this.#intents.values()].find(({ terms }) => aliasOf(terms) === alias),
      alias,
    );
  }
  #found(intent: WatchedIntent | undefined, name: string): WatchedIntent | undefined {
    const isKnown = this.#recalled.has(name) || intent?.submission || intent?.settlement;
    return isKnown ? intent : undefined;
  }
  hasRecipient(address: Address): boolean {
    return this.#recipients.has(address);
  }
  recipients(): readonly Address[] {
    return [...this.#recipients];
  }
  ownersOf(recipient: Address): readonly AccountId[] {
    return this.#owners.get(recipient) ?? [];
  }
  depositsOf(arrival: Parameters<WatchSet['depositsOf']>[0]): ReturnType<WatchSet['depositsOf']> {
    return this.ownersOf(arrival.to).map((accountId) => ({
      accountId,
      depositId: depositIdOf(accountId, 'eip155:84532' as ChainId, arrival, 1),
    }));
  }
  openDeposits(): Iterable<Deposit> {
    return [...this.deposits.values()].filter(({ level }) => level === 'confirmed');
  }
  awaited(): Iterable<Address> {
    return this.#awaited;
  }
  *expected(): Generator<WatchedIntent> {
    for (const [reference, intent] of this.#intents)
      if (this.#detected.has(reference) && intent.status === 'created' && intent.submission === null) yield intent;
  }
  *lapsed(): Generator<WatchedIntent> {
    for (const intent of this.#intents.values())
      if (intent.status === 'expired' && intent.submission === null) yield intent;
  }
  *submitted(): Generator<WatchedIntent & { readonly submission: Submission }> {
    for (const intent of this.#intents.values())
      if (intent.submission !== null) yield { ...intent, submission: intent.submission };
  }
  *settling(): Generator<WatchedIntent & { readonly settlement: Settlement }> {
    for (const intent of this.#intents.values()) {
      if (intent.settlement !== null && !intent.settlement.finalized)
        yield { ...intent, settlement: intent.settlement };
    }
  }
}

/**
 * A watcher without a log: steps an observer, keeps its cursor as JSON text with the bookmarks, and applies what it
 * observes.
 */
export class Watcher {
  readonly watched: Watched;
  readonly warnings: string[] = [];
  readonly bookmarks = new Map<string, Bookmark>();
  /** False: what is observed is lost before the ledger has it, as with the end of a log. */
  reaches = true;
  readonly #observer: ChainObserver;
  #cursor: string | null = null;

  constructor(observer: ChainObserver, watched = new Watched()) {
    this.#observer = observer;
    this.watched = watched;
  }

  /** Another process goes on where this one stands: it has the cursor and the bookmarks, and remembers nothing. */
  restart(observer: ChainObserver): Watcher {
    const restarted = new Watcher(observer, this.watched);
    restarted.#cursor = this.#cursor;
    for (const [recipient, bookmark] of this.bookmarks) restarted.bookmarks.set(recipient, bookmark);
    return restarted;
  }

  /** The cursor is changed while no watcher runs. */
  moveCursor(change: (cursor: Cursor) => Cursor): void {
    this.#cursor = JSON.stringify(change(JSON.parse(this.#cursor ?? '') as Cursor));
  }

  /** One step after the other until the head is reached; the observations of all. */
  async step(): Promise<readonly Observation[]> {
    const observations: Observation[] = [];
    for (;;) {
      const step = await this.stepOnce();
      observations.push(...step.observations);
      if (step.behind === 0n) return observations;
    }
  }

  async stepOnce(): Promise<Step> {
    const step = await this.#observer.step(
      this.#cursor === null ? null : (JSON.parse(this.#cursor) as Cursor),
      async () => this.watched.begin(),
      async () => new Map(this.bookmarks),
    );
    this.#cursor = JSON.stringify(step.cursor);
    for (const [recipient, bookmark] of step.bookmarks ?? [])
      if (bookmark === null) this.bookmarks.delete(recipient);
      else this.bookmarks.set(recipient, bookmark);
    this.warnings.push(...step.warnings);
    if (this.reaches) {
      for (const observation of step.observations) this.watched.apply(observation);
      for (const observation of step.deposits ?? []) this.watched.applyDeposit(observation);
    }
    return step;
  }

  get cursor(): string | null {
    return this.#cursor;
  }
}

/** `landed confirmed`, `dropped` …: what happened, for comparing. */
export const named = (observations: readonly Observation[]): string[] =>
  observations.map(({ type, data }) => ('level' in data ? `${type} ${data.level}` : type));
