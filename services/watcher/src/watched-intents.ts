import { aliasOf, type WatchedIntent, type WatchSet } from '@pf/chains';
import { isOfShard, type Shard } from '@pf/database';
import {
  type Address,
  type EventHead,
  evolve,
  hold,
  type Instant,
  type IntentEvent,
  type IntentId,
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
import { type PackedIntent, Packing, packReference, unpack } from './packed-intent.ts';

/** An event, or the head of one that only newer code understands. */
type WatchedEvent = IntentEvent | EventHead;
type Submitted = ReturnType<WatchSet['submitted']> extends Iterable<infer Intent> ? Intent : never;
type Settling = ReturnType<WatchSet['settling']> extends Iterable<infer Intent> ? Intent : never;

/** How long after its expiry an intent's payment is looked for one last time: a watcher may have been down. */
const LAPSED_MS = 15 * 60_000;
/** How long after an intent was made its recipient is awaited: most are paid within minutes. */
const AWAITED_MS = 15 * 60_000;
/** Closed intents whose time is up within the same hour are dropped together. */
const HOUR_MS = 3_600_000;
const hourOf = (at: Instant): number => Math.floor(at / HOUR_MS);

const viewOf = (intent: PaymentIntent): WatchedIntent => ({
  id: intent.id,
  status: intent.status,
  terms: termsOf(intent),
  submission: liveSubmission(intent) ?? null,
  settlement: intent.settlement,
  createdAt: intent.createdAt,
});
const isLapsed = ({ status, closedAt }: Pick<PaymentIntent, 'status' | 'closedAt'>, now: Instant): boolean =>
  status === 'expired' && closedAt !== null && now < closedAt + LAPSED_MS;
const isSubmitted = (intent: WatchedIntent): intent is Submitted => intent.submission !== null;
const isSettling = (intent: WatchedIntent): intent is Settling => isSettlementFollowed(intent);

/** Of every set: one that is loaded again finds the texts of the set before it. */
const texts = sharedTexts();
const packing = new Packing();

/** The watched intents of a network, or of a shard of it: folded from the log, indexed for the observer. */
export class WatchedIntents implements WatchSet {
  readonly #watchMs: number;
  readonly #shard: Shard;
  readonly #intents = new Map<IntentId, PackedIntent | PaymentIntent>();
  /** By packed references. */
  readonly #byReference = new Map<string, IntentId>();
  readonly #byAlias = new Map<string, IntentId>();
  /** The number of watched intents by recipient. */
  readonly #recipients = new Map<Address, number>();
  /** When the newest intent of a recipient was made, for those that are awaited. */
  readonly #awaited = new Map<Address, Instant>();
  readonly #expected = new Map<IntentId, WatchedIntent>();
  readonly #lapsed = new Map<IntentId, WatchedIntent>();
  readonly #submitted = new Map<IntentId, Submitted>();
  readonly #settling = new Map<IntentId, Settling>();
  readonly #held = new Set<IntentId>();
  /** The closed intents by the hour in which their time is up, so that only those have to be looked at. */
  readonly #until = new Map<number, Set<IntentId>>();
  /** Changes that wait while a step holds the set; null while none does. */
  #later: (() => void)[] | null = null;

  /**
   * @param watchMs how long an intent is watched after it was closed
   * @param shard whose recipients' intents it has
   */
  constructor(watchMs: number, shard: Shard) {
    this.#watchMs = watchMs;
    this.#shard = shard;
  }

  get size(): number {
    return this.#intents.size;
  }

  byReference(reference: Reference): WatchedIntent | undefined {
    return this.#viewOf(this.#byReference.get(packReference(reference)));
  }

  byAlias(alias: string): WatchedIntent | undefined {
    return this.#viewOf(this.#byAlias.get(alias));
  }

  hasRecipient(address: Address): boolean {
    return this.#recipients.has(address);
  }

  recipients(): readonly Address[] {
    return [...this.#recipients.keys()];
  }

  awaited(): Iterable<Address> {
    return this.#awaited.keys();
  }

  /** True for a transaction that was submitted for this intent, whatever its outcome. */
  wasSubmitted(id: IntentId, hash: TransactionHash): boolean {
    const intent = this.#get(id);
    return intent !== undefined && submissionOf(intent, hash) !== undefined;
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
    const reference = packReference(kept.reference);
    // Packed, its submissions and its settlement would be held twice.
    this.#intents.set(kept.id, isSubmitted(view) || isSettling(view) ? kept : packing.pack(kept, reference));
    this.#byReference.set(reference, kept.id);
    const alias = aliasOf(kept);
    if (alias !== null) this.#byAlias.set(alias, kept.id);
    this.#recipients.set(kept.requestor, (this.#recipients.get(kept.requestor) ?? 0) + 1);
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

  /**
   * Folds an event in. While the set is held, the event waits until it is released.
   * @throws VersionGapError where it is not the next version of its intent
   */
  apply(event: WatchedEvent): void {
    this.#change(() => this.#fold(event));
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
        if (intent === undefined || !isWatched(intent, now, this.#watchMs)) this.#remove(id);
      }
      if (ids.size === 0) this.#until.delete(hour);
    }
  }

  #viewOf(id: IntentId | undefined): WatchedIntent | undefined {
    const intent = id && this.#get(id);
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

  #fold(event: WatchedEvent): void {
    const known = this.#get(event.intentId);
    // Simulated, or no longer watched: an intent that was dropped stays so.
    if (!known && event.type !== 'intent.created') return;
    // Passed over where newer code wrote it: what it shows is enough to go on, and the writer judges what is observed.
    this.put('shown' in event ? hold(known, event) : evolve(known, event), event.at);
  }

  #get(id: IntentId): PaymentIntent | undefined {
    const packed = this.#intents.get(id);
    return packed && unpack(packed);
  }

  #remove(id: IntentId): void {
    const intent = this.#get(id);
    if (!intent) return;
    this.#intents.delete(id);
    const until = watchedUntil(intent, this.#watchMs);
    if (until !== null) this.#until.get(hourOf(until))?.delete(id);
    this.#byReference.delete(packReference(intent.reference));
    const alias = aliasOf(intent);
    if (alias !== null) this.#byAlias.delete(alias);
    this.#expected.delete(id);
    this.#lapsed.delete(id);
    this.#submitted.delete(id);
    this.#settling.delete(id);
    this.#held.delete(id);
    const others = (this.#recipients.get(intent.requestor) ?? 1) - 1;
    if (others > 0) this.#recipients.set(intent.requestor, others);
    else {
      this.#recipients.delete(intent.requestor);
      this.#awaited.delete(intent.requestor);
    }
  }
}
