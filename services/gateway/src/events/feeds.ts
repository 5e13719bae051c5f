import { type Database, forAll, type IntentLook, type IntentSeen, lookAtIntents, type StoredEvent } from '@pf/database';
import { type IntentId, liveSubmission, type PaymentIntent } from '@pf/domain';
import { BackOff, type Logger } from '@pf/runtime';
import { Notices } from './notices.ts';

/** Intents per query; the query itself bounds how many bytes of them it returns. */
const BATCH_SIZE = 500;
/** Interval at which all feeds are read while no notices arrive. */
const POLL_MS = 1_000;
/** Larger than any version. */
const NO_VERSION = 2 ** 31 - 1;

/** A client's stream of one intent. */
export interface Follower {
  /** The last version that was sent; null if the snapshot comes first. */
  readonly position: number | null;
  /** False while the connection is full; the follower calls `readAgain` when it is not. */
  readonly ready: boolean;
  /** Sends the current intent, or its events after the follower's position. */
  show(intent: PaymentIntent, events: readonly StoredEvent[]): void;
  /** Ends the stream: no more events will come. */
  finish(): void;
  /** Ends the stream because this gateway stops: the client resumes at another. */
  leave(): void;
}

/** The followers of one intent. */
interface Feed {
  readonly id: IntentId;
  readonly followers: Set<Follower>;
  /** As last read. */
  intent: PaymentIntent | null;
  /** Resolves when its notices arrive, or if Redis is unavailable. */
  readonly subscribed: Promise<void>;
}

/**
 * Sends intents and their events to their followers. A notice only says when to read; the content comes from the
 * projection, with one query for all intents that are due, however many followers they have. While a query runs, the
 * next intents become due.
 */
export class Feeds {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #notices: Notices;
  readonly #feeds = new Map<IntentId, Feed>();
  readonly #due = new Set<Feed>();
  readonly #stopping = new AbortController();
  #reading = false;
  #poll: NodeJS.Timeout | undefined;

  constructor(database: Database, redisUrl: string, log: Logger) {
    this.#database = database;
    this.#log = log;
    const noticed = (id: IntentId): void => {
      const feed = this.#feeds.get(id);
      if (feed) this.#read(feed);
    };
    this.#notices = new Notices(redisUrl, { noticed, listening: () => this.#readAll() }, log);
  }

  /** Begins to listen, in the background. */
  open(): void {
    this.#notices.open();
    this.#poll = setInterval(() => {
      if (!this.#notices.listening) this.#readAll();
    }, POLL_MS);
  }

  /** Ends all streams, and those that open from now on. */
  close(): void {
    this.#stopping.abort();
    clearInterval(this.#poll);
    this.#notices.close();
    for (const { followers } of this.#feeds.values()) for (const follower of followers) follower.leave();
  }

  /** Sends an existing intent and its changes to a follower, until the returned function is called. */
  follow(id: IntentId, follower: Follower): () => void {
    if (this.#stopping.signal.aborted) {
      follower.leave();
      return () => undefined;
    }
    let feed = this.#feeds.get(id);
    // Subscribes before the first read, so that no later change is missed.
    if (!feed)
      this.#feeds.set(id, (feed = { id, followers: new Set(), intent: null, subscribed: this.#notices.subscribe(id) }));
    const joined = feed;
    joined.followers.add(follower);
    void joined.subscribed.then(() => this.#read(joined));
    return () => this.#remove(joined, follower);
  }

  /** Reads an intent that has followers, without a notice. */
  readAgain(id: IntentId): void {
    const feed = this.#feeds.get(id);
    if (feed) this.#read(feed);
  }

  #remove(feed: Feed, follower: Follower): void {
    feed.followers.delete(follower);
    if (feed.followers.size > 0 || this.#feeds.get(feed.id) !== feed) return;
    this.#feeds.delete(feed.id);
    this.#notices.unsubscribe(feed.id);
  }

  #readAll(): void {
    for (const feed of this.#feeds.values()) this.#read(feed);
  }

  #read(feed: Feed): void {
    this.#due.add(feed);
    // For the followers of all, whoever's request begins it.
    if (!this.#reading) void forAll(() => this.#readDue());
  }

  async #readDue(): Promise<void> {
    this.#reading = true;
    const backOff = new BackOff(100, 2_000);
    while (this.#due.size > 0 && !this.#stopping.signal.aborted) {
      const feeds = [...this.#due].slice(0, BATCH_SIZE);
      for (const feed of feeds) this.#due.delete(feed);
      const looks = feeds.filter(({ followers }) => followers.size > 0).map((feed) => ({ feed, look: lookOf(feed) }));
      try {
        const seen =
          looks.length === 0
            ? null
            : await lookAtIntents(
                this.#database,
                looks.map(({ look }) => look),
              );
        for (const { feed, look } of looks) show(feed, look, seen?.get(feed.id));
        const again = looks.filter(({ feed }) => isDueAgain(feed, seen?.get(feed.id)));
        // Those for whose events there was no room come first.
        for (const isServed of [false, true])
          for (const { feed } of again) if (hasRead(seen?.get(feed.id)) === isServed) this.#due.add(feed);
        backOff.reset();
      } catch (error) {
        this.#log.warn({ err: error, intents: feeds.length }, 'events for streams cannot be read: will retry');
        for (const feed of feeds) this.#due.add(feed);
        await backOff.wait(this.#stopping.signal);
      }
    }
    this.#reading = false;
  }
}

/** What to read for the followers that are ready: events after the earliest of their positions. */
function lookOf({ id, intent, followers }: Feed): IntentLook {
  let after = NO_VERSION;
  for (const { position, ready } of followers) if (ready && position !== null) after = Math.min(after, position);
  return { id, known: intent?.version ?? 0, after };
}

/** False where other intents took the room of the look, so that nothing was read. */
const hasRead = (seen: IntentSeen | undefined): boolean => seen?.more === false || (seen?.events.length ?? 0) > 0;

/**
 * There may be more to send than was read. Not of an intent whose row cannot be decoded, of which nothing is sent: it
 * is read again with its next notice.
 */
export const isDueAgain = ({ intent }: Pick<Feed, 'intent'>, seen: IntentSeen | undefined): boolean =>
  seen?.more === true && (intent !== null || !hasRead(seen));

function show(feed: Feed, { after }: IntentLook, seen: IntentSeen | undefined): void {
  if (!hasRead(seen)) return;
  if (seen?.intent) feed.intent = seen.intent;
  const { intent } = feed;
  if (!seen || !intent) return;
  const over = isOver(intent);
  for (const follower of [...feed.followers]) {
    const { position, ready } = follower;
    // A follower that joined or became ready during the query is served by the next one.
    if (!ready || (position !== null && position < after)) continue;
    follower.show(intent, position === null ? [] : seen.events.filter(({ version }) => version > position));
    if (over && !seen.more && follower.ready) follower.finish();
  }
}

/** Whether nothing that the service waits for can change the intent. A late payment is reported by webhook only. */
export function isOver(intent: PaymentIntent): boolean {
  switch (intent.status) {
    case 'finalized':
    case 'failed':
    case 'cancelled':
      return true;
    case 'expired':
      return liveSubmission(intent) === undefined;
    case 'created':
    case 'pending':
    case 'confirmed':
      return false;
    default:
      return intent.status satisfies never;
  }
}
