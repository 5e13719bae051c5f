import { aliasOf, type OpenDeposit, type WatchedIntent, type WatchSet } from '@pf/chains';
import { depositIdOf } from '@pf/contracts';
import { isOfShard, type RestingIntent, type Shard, type WatchedIntentSource, type WatchedWallet } from '@pf/database';
import {
  type AccountId,
  type Address,
  type ChainId,
  type Deposit,
  type DepositId,
  type EventHead,
  evolve,
  hold,
  type Instant,
  type IntentEvent,
  type IntentId,
  isAtRest,
  isSettlementFollowed,
  isWatched,
  liveSubmission,
  type PaymentIntent,
  type Reference,
  submissionOf,
  termsOf,
  type TransactionHash,
  watchedUntil,
} from '@pf/domain';
import { keptOf, sharedTexts } from './kept-intent.ts';
import { Named } from './named.ts';
import { type PackedIntent, Packing, packReference, unpack } from './packed-intent.ts';
import { type End, Recipients, RecipientsAtRest } from './recipients.ts';
import { RestingIntents } from './resting-intents.ts';

/** An event, or the head of one that only newer code understands. */
type WatchedEvent = IntentEvent | EventHead;
type Submitted = ReturnType<WatchSet['submitted']> extends Iterable<infer Intent> ? Intent : never;
type Settling = ReturnType<WatchSet['settling']> extends Iterable<infer Intent> ? Intent : never;

/** The projection lacks what it had before: the database was set back. The sets are to be loaded again. */
export class ProjectionSetBackError extends Error {
  override readonly name = 'ProjectionSetBackError';
}

/** What names deposits: of which network, and in how many partitions. */
interface DepositsTo {
  readonly chain: ChainId;
  readonly partitions: number;
  /** How long deposits to a wallet are looked for after its last intent was closed. */
  readonly watchMs: number;
}

/** To so many accounts that own intents of one recipient a transfer is a deposit: anyone may name any wallet. */
const OWNERS_MAX = 16;
/** How long after its expiry an intent's payment is looked for one last time: a watcher may have been down. */
const LAPSED_MS = 15 * 60_000;
/** How long after an intent was made its recipient is awaited: most are paid within minutes. */
const AWAITED_MS = 15 * 60_000;
/** How long after its end an intent stays in memory: what comes soon needs no look at the projection. */
export const RESTS_AFTER_MS = 15 * 60_000;
/** Intents at rest that are read at once. */
const READ_AT_ONCE = 1_000;
/** Closed intents whose time is up within the same hour are dropped together. */
const HOUR_MS = 3_600_000;
const hourOf = (at: Instant): number => Math.floor(at / HOUR_MS);

const viewOf = (intent: PaymentIntent): WatchedIntent => ({
  id: intent.id,
  status: intent.status,
  terms: termsOf(intent),
  submission: liveSubmission(intent) ?? null,
  // That of an assigned deposit carries no reference: the deposit tells of it.
  settlement: intent.settlement?.depositId === undefined ? intent.settlement : null,
  createdAt: intent.createdAt,
});
const isLapsed = ({ status, closedAt }: Pick<PaymentIntent, 'status' | 'closedAt'>, now: Instant): boolean =>
  status === 'expired' && closedAt !== null && now < closedAt + LAPSED_MS;
const folded = (known: PaymentIntent | undefined, event: WatchedEvent): PaymentIntent =>
  'shown' in event ? hold(known, event) : evolve(known, event);
const packName = (name: string): string => packReference(name as Reference);
/** What payments may name an intent by. */
const namesOf = (terms: Parameters<typeof aliasOf>[0]): readonly string[] =>
  [terms.reference, aliasOf(terms)].filter((name) => name !== null).map(packName);
const isSubmitted = (intent: WatchedIntent): intent is Submitted => intent.submission !== null;
const isSettling = (intent: WatchedIntent): intent is Settling => isSettlementFollowed(intent);

/** Of every set: one that is loaded again finds the texts of the set before it. */
const texts = sharedTexts();
const packing = new Packing();

/** What has happened to an intent at rest, from its version then. */
interface Woken {
  readonly version: number;
  readonly events: readonly WatchedEvent[];
}

/**
 * The watched intents of a network, or of a shard of it: folded from the log, indexed for the observer.
 *
 * An intent comes to rest when it is closed and nothing is known that may change it. Then only its names, id and
 * version stay in memory, once the projection is known to have that version. It is read back when a payment names it
 * (recall), or an event changes it.
 */
export class WatchedIntents implements WatchSet {
  readonly #watchMs: number;
  readonly #shard: Shard;
  /** By id, and by the names in payments. */
  readonly #intents = new Named<PackedIntent | PaymentIntent>();
  /** Those of the intents in memory. */
  readonly #recipients = new Recipients();
  /** When the newest intent of a recipient was made, for those that are awaited. */
  readonly #awaited = new Map<Address, Instant>();
  readonly #expected = new Map<IntentId, WatchedIntent>();
  readonly #lapsed = new Map<IntentId, WatchedIntent>();
  readonly #submitted = new Map<IntentId, Submitted>();
  readonly #settling = new Map<IntentId, Settling>();
  readonly #held = new Set<IntentId>();
  /** The closed intents by the hour in which their time is up, so that only those have to be looked at. */
  readonly #until = new Map<number, Set<IntentId>>();
  readonly #resting = new RestingIntents();
  readonly #recipientsAtRest = new RecipientsAtRest();
  /** Those that are confirmed, and not final yet. */
  readonly #deposits = new Map<DepositId, OpenDeposit>();
  readonly #depositsTo: DepositsTo | null;
  /** Intents at rest that have changed: they are read back before the next step. */
  readonly #woken = new Map<IntentId, Woken>();
  /** Intents that were read in a later version than the log was read to: it is yet to tell the events up to there. */
  readonly #ahead = new Map<IntentId, number>();
  readonly #find: WatchedIntentSource['find'];
  readonly #now: () => Instant;
  readonly #restsAfterMs: number;
  /** Changes that wait while a step holds the set; null while none does. */
  #later: (() => void)[] | null = null;

  /**
   * @param watchMs how long an intent is watched after it was closed
   * @param shard whose recipients' intents it has
   * @param find reads intents at rest
   * @param now milliseconds since 1970, when one is read
   * @param restsAfterMs how long after its end an intent stays in memory
   * @param depositsTo null: deposits are not asked for
   */
  constructor(
    watchMs: number,
    shard: Shard,
    find: WatchedIntentSource['find'] = () => Promise.resolve([]),
    now: () => Instant = Date.now,
    restsAfterMs = RESTS_AFTER_MS,
    depositsTo: DepositsTo | null = null,
  ) {
    this.#depositsTo = depositsTo;
    this.#restsAfterMs = restsAfterMs;
    this.#watchMs = watchMs;
    this.#shard = shard;
    this.#find = find;
    this.#now = now;
  }

  /** All watched intents, those at rest too. */
  get size(): number {
    return this.#intents.size + this.#resting.size;
  }
  /** How many of them are in memory as a whole. */
  get awake(): number {
    return this.#intents.size;
  }

  byReference(reference: Reference): WatchedIntent | undefined {
    return this.#viewOf(reference, (intent) => intent.reference === reference);
  }

  byAlias(alias: string): WatchedIntent | undefined {
    return this.#viewOf(alias, (intent) => aliasOf(intent) === alias);
  }

  hasRecipient(address: Address): boolean {
    return this.#recipients.has(address) || this.#recipientsAtRest.has(address);
  }

  recipients(): readonly Address[] {
    return [...new Set([...this.#recipients.all(), ...this.#recipientsAtRest.all()])];
  }

  ownersOf(recipient: Address): readonly AccountId[] {
    return [...new Set([...this.#recipients.ownersOf(recipient), ...this.#recipientsAtRest.ownersOf(recipient)])];
  }

  /** The same, each with the time since when it has named it, as far as that is known. */
  ownersSince(recipient: Address): ReadonlyMap<AccountId, Instant> {
    const all = [...this.#recipients.owners(recipient), ...this.#recipientsAtRest.owners(recipient)];
    const found = new Map<AccountId, Instant>();
    for (const { account, since } of all) found.set(account, Math.min(since, found.get(account) ?? since));
    return found;
  }

  /** Those that have named it for longest: so no number of others that name it later hides from them what it gets. */
  #firstOwnersOf(recipient: Address): readonly AccountId[] {
    const owners = this.ownersOf(recipient);
    if (owners.length <= OWNERS_MAX) return owners;
    const all = [...this.ownersSince(recipient)].toSorted(([, one], [, other]) => one - other);
    return all.slice(0, OWNERS_MAX).map(([account]) => account);
  }

  get hasDeposits(): boolean {
    return this.#depositsTo !== null;
  }

  depositsOf(arrival: Parameters<WatchSet['depositsOf']>[0]): ReturnType<WatchSet['depositsOf']> {
    if (this.#depositsTo === null) return [];
    const { chain, partitions } = this.#depositsTo;
    return this.#firstOwnersOf(arrival.to).map((accountId) => ({
      accountId,
      depositId: depositIdOf(accountId, chain, arrival, partitions),
    }));
  }

  openDeposits(): Iterable<OpenDeposit> {
    return this.#deposits.values();
  }

  /** Replaces a deposit with its current state. While the set is held, it waits. */
  putDeposit({
    id,
    level,
    accountId,
    livemode,
    chain,
    reason,
    intentId,
    arrival,
    heldFrom,
  }: OpenDeposit & Pick<Deposit, 'level' | 'heldFrom'>): void {
    if (!isOfShard(arrival.to, this.#shard)) return;
    this.#change(() => {
      if (level !== 'confirmed' || heldFrom !== undefined) this.#deposits.delete(id);
      else this.#deposits.set(id, { id, accountId, livemode, chain, reason, intentId, arrival });
    });
  }

  /** Of a deposit that is final, lost, or that newer code has changed. While the set is held, it waits. */
  dropDeposit(id: DepositId): void {
    this.#change(() => this.#deposits.delete(id));
  }

  async recall(names: Iterable<string>): Promise<void> {
    const wanted = new Map<IntentId, number>();
    // Strangers may name the same again and again.
    for (const name of new Set(names))
      for (const [id, version] of this.#resting.of(packName(name)))
        if (!this.#has(id)) wanted.set(id, this.#woken.get(id)?.version ?? version);
    await this.#readBack(wanted, (change) => change());
  }

  awaited(): Iterable<Address> {
    return this.#awaited.keys();
  }

  /** The wallet for which a transaction was submitted for this intent, whatever its outcome. */
  submitterOf(id: IntentId, hash: TransactionHash): Address | undefined {
    const intent = this.#get(id);
    return intent && submissionOf(intent, hash)?.sender;
  }

  /** The account and mode of an intent, if it is watched. */
  ownerOf(id: IntentId): Pick<PaymentIntent, 'accountId' | 'livemode'> | undefined {
    return this.#get(id);
  }

  expected(): Iterable<WatchedIntent> {
    return this.#expected.values();
  }

  lapsed(): Iterable<WatchedIntent> {
    return this.#lapsed.values();
  }

  submitted(): Iterable<Submitted> {
    return this.#submitted.values();
  }

  settling(): Iterable<Settling> {
    return this.#settling.values();
  }

  /** Intents of which newer code has changed more than is known here: their submissions may be stale or incomplete. */
  held(): ReadonlySet<IntentId> {
    return this.#held;
  }

  /** Replaces an intent with its current state; removes one that is not watched. Ignores those of other shards. */
  put(intent: PaymentIntent, now: Instant): void {
    if (!isOfShard(intent.requestor, this.#shard)) return;
    this.#remove(intent.id);
    if (!isWatched(intent, now, this.#watchMs)) return;
    const until = watchedUntil(intent, this.#watchMs);
    if (until !== null) this.#dueOf(hourOf(until)).add(intent.id);
    const kept = keptOf(intent, texts);
    const view = viewOf(kept);
    // Packed, its submissions and its settlement would be held twice.
    this.#intents.add([kept.id, ...namesOf(kept)], isSubmitted(view) || isSettling(view) ? kept : packing.pack(kept));
    this.#recipients.add(kept.requestor, kept.accountId, kept.createdAt);
    if (intent.status === 'created' && now - intent.createdAt < AWAITED_MS)
      this.#awaited.set(kept.requestor, Math.max(intent.createdAt, this.#awaited.get(kept.requestor) ?? 0));
    if (intent.status === 'created' && intent.detectedAt !== null && !isSubmitted(view))
      this.#expected.set(kept.id, view);
    if (isLapsed(kept, now) && !isSubmitted(view)) this.#lapsed.set(kept.id, view);
    if (isSubmitted(view)) this.#submitted.set(kept.id, view);
    if (isSettling(view)) this.#settling.set(kept.id, view);
    if (kept.heldFrom !== undefined) this.#held.add(kept.id);
  }

  /**
   * Replaces a held intent with its row, once that is whole and of the version that the log has brought it to here.
   * While the set is held, it waits.
   */
  repair(row: PaymentIntent, now: Instant): void {
    if (row.heldFrom !== undefined) return;
    this.#change(() => {
      if (this.#held.has(row.id) && this.#get(row.id)?.version === row.version) this.put(row, now);
    });
  }

  /** Adds an intent at rest. */
  putAtRest({ id, version, chain, accountId, requestor, reference, closedAt }: RestingIntent): void {
    const end = this.#endOf(closedAt);
    this.#resting.add(namesOf({ chain, reference }), id, version, end.until);
    this.#recipientsAtRest.add(texts.one(requestor), texts.one(accountId), end);
  }

  /** When the recipient of an intent that was closed then is watched no longer. */
  #endOf(closedAt: Instant): End {
    const until = closedAt + this.#watchMs;
    return { since: closedAt, until, longUntil: closedAt + Math.max(this.#watchMs, this.#depositsTo?.watchMs ?? 0) };
  }

  /** Adds a stored wallet, whose intents may have left long ago. */
  putWallet({ recipient, accountId, since, until }: WatchedWallet): void {
    if (this.#depositsTo === null) return;
    // What is watched for less time now was stored for more.
    const end = Math.min(until, this.#now() + this.#depositsTo.watchMs);
    this.#recipientsAtRest.addKept(texts.one(recipient), texts.one(accountId), since, end);
  }

  /** So many of the wallets that are to be watched beyond their intents, and are not stored. */
  unkeptWallets(most: number): readonly WatchedWallet[] {
    if (this.#depositsTo === null) return [];
    const { chain } = this.#depositsTo;
    return this.#recipientsAtRest.unkept(most).map(({ account: accountId, ...one }) => ({ chain, accountId, ...one }));
  }

  /** They are stored. */
  keptWallets(wallets: readonly WatchedWallet[]): void {
    for (const { recipient, accountId, until } of wallets) this.#recipientsAtRest.keep(recipient, accountId, until);
  }

  /** The intents in memory that may come to rest. */
  *tired(now: Instant): Generator<IntentId> {
    for (const [hour, ids] of this.#until)
      if (hour <= hourOf(now - this.#restsAfterMs + this.#watchMs))
        for (const id of ids) {
          const intent = this.#get(id);
          if (intent !== undefined && this.#isTired(intent, now)) yield id;
        }
  }

  /** Lets an intent rest that the projection has as it is here. While the set is held, it waits. */
  rest({ id, version, heldFrom }: PaymentIntent, now: Instant): void {
    if (heldFrom !== undefined) return;
    this.#change(() => {
      const intent = this.#get(id);
      if (intent?.version !== version || intent.closedAt === null || !this.#isTired(intent, now)) return;
      this.#remove(id);
      this.putAtRest({ ...intent, closedAt: intent.closedAt });
    });
  }

  /**
   * Reads back the intents at rest that have changed.
   * @throws ProjectionSetBackError
   */
  async readWoken(): Promise<void> {
    if (this.#later) return;
    await this.#readBack(new Map([...this.#woken].map(([id, { version }]) => [id, version])), (change) =>
      this.#change(change),
    );
  }

  /**
   * Folds an event in. While the set is held, the event waits until it is released.
   * @param reference that of the event's intent
   * @throws VersionGapError where it is not the next version of its intent
   */
  apply(event: WatchedEvent, reference?: string): void {
    this.#change(() => this.#fold(event, reference));
  }

  /** Until release() the set does not change: a step sees one state from beginning to end. */
  hold(): void {
    this.release();
    this.#later = [];
  }

  /** @throws VersionGapError as apply() */
  release(): void {
    const later = this.#later ?? [];
    this.#later = null;
    for (const change of later) change();
  }

  /** Drops the intents that are no longer watched or looked for; not while held. */
  prune(now: Instant): void {
    if (this.#later) return;
    for (const id of this.#lapsed.keys()) {
      const intent = this.#get(id);
      if (intent === undefined || !isLapsed(intent, now)) this.#lapsed.delete(id);
    }
    for (const [recipient, createdAt] of this.#awaited)
      if (now - createdAt >= AWAITED_MS) this.#awaited.delete(recipient);
    for (const [hour, ids] of this.#until) {
      if (hour > hourOf(now)) continue;
      for (const id of ids) {
        const intent = this.#get(id);
        if (intent !== undefined && isWatched(intent, now, this.#watchMs)) continue;
        this.#remove(id);
        if (intent !== undefined && intent.closedAt !== null)
          this.#recipientsAtRest.add(intent.requestor, intent.accountId, this.#endOf(intent.closedAt));
      }
      if (ids.size === 0) this.#until.delete(hour);
    }
    this.#resting.drop(now);
    this.#recipientsAtRest.drop(now);
  }

  #viewOf(name: string, isNamed: (intent: PaymentIntent) => boolean): WatchedIntent | undefined {
    const intent = this.#intents.of(packName(name)).map(unpack).find(isNamed);
    return intent && viewOf(intent);
  }

  #change(change: () => void): void {
    if (this.#later) this.#later.push(change);
    else change();
  }

  #dueOf(hour: number): Set<IntentId> {
    const known = this.#until.get(hour);
    if (known) return known;
    const ids = new Set<IntentId>();
    this.#until.set(hour, ids);
    return ids;
  }

  #fold(event: WatchedEvent, reference: string | undefined): void {
    const { intentId: id, version } = event;
    const ahead = this.#ahead.get(id);
    if (ahead !== undefined) {
      if (version <= ahead) return;
      this.#ahead.delete(id);
    }
    const known = this.#get(id);
    // Simulated, or no longer watched: an intent that was dropped stays so.
    if (!known && event.type !== 'intent.created') return this.#wake(event, reference);
    // Passed over where newer code wrote it: what it shows is enough to go on, and the writer judges what is observed.
    this.put(folded(known, event), event.at);
  }

  /** Keeps the event of an intent at rest until the intent is read back. */
  #wake(event: WatchedEvent, reference: string | undefined): void {
    const { intentId: id } = event;
    const version = reference === undefined ? undefined : this.#resting.of(packName(reference)).get(id);
    if (version === undefined || event.version <= version) return;
    this.#woken.set(id, { version, events: [...(this.#woken.get(id)?.events ?? []), event] });
  }

  /**
   * Reads intents at rest, and folds in what has happened since.
   * @param wanted with the version that each has at least
   * @param change puts them into the set
   */
  async #readBack(wanted: ReadonlyMap<IntentId, number>, change: (put: () => void) => void): Promise<void> {
    const ids = [...wanted.keys()];
    for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
      const asked = ids.slice(at, at + READ_AT_ONCE);
      const rows = new Map((await this.#find(asked)).map((row) => [row.id, row]));
      for (const id of asked) {
        const row = rows.get(id);
        if (row === undefined || row.version < (wanted.get(id) ?? 0))
          throw new ProjectionSetBackError(`The projection lacks ${id} in version ${wanted.get(id)}, which it had`);
        change(() => this.#putBack(row));
      }
    }
  }

  #putBack(row: PaymentIntent): void {
    if (this.#has(row.id)) return;
    const events = this.#woken.get(row.id)?.events ?? [];
    this.#woken.delete(row.id);
    let intent = row;
    for (const event of events) if (event.version > intent.version) intent = folded(intent, event);
    this.put(intent, this.#now());
    if (this.#has(row.id)) this.#ahead.set(row.id, row.version);
  }

  #isTired(intent: PaymentIntent, now: Instant): boolean {
    const { id } = intent;
    const isFollowed = this.#submitted.has(id) || this.#settling.has(id) || this.#lapsed.has(id);
    return !isFollowed && isAtRest(intent, now - this.#restsAfterMs);
  }

  #get(id: IntentId): PaymentIntent | undefined {
    const packed = this.#packed(id);
    return packed && unpack(packed);
  }
  #packed(id: IntentId): PackedIntent | PaymentIntent | undefined {
    return this.#intents.of(id).find((one) => one.id === id);
  }
  #has(id: IntentId): boolean {
    return this.#packed(id) !== undefined;
  }

  #remove(id: IntentId): void {
    const packed = this.#packed(id);
    if (!packed) return;
    const intent = unpack(packed);
    this.#intents.remove([id, ...namesOf(intent)], packed);
    const until = watchedUntil(intent, this.#watchMs);
    if (until !== null) this.#until.get(hourOf(until))?.delete(id);
    this.#expected.delete(id);
    this.#lapsed.delete(id);
    this.#submitted.delete(id);
    this.#settling.delete(id);
    this.#held.delete(id);
    this.#ahead.delete(id);
    this.#recipients.remove(intent.requestor, intent.accountId);
    if (!this.#recipients.has(intent.requestor)) this.#awaited.delete(intent.requestor);
  }
}
