import { type Database, type IntentLook, type IntentSeen, lookAtIntents, type StoredEvent } from '@pf/database';
import { type IntentId, liveSubmission, type PaymentIntent } from '@pf/domain';
import { BackOff, type Logger } from '@pf/runtime';
import { Notices } from './notices.ts';

/** Intents in one query. */
const AT_ONCE = 500;
/** While no notices are heard all feeds are looked at again so often. */
const POLL_MS = 1_000;
/** Beyond all versions. */
const NEVER = 2 ** 31 - 1;

/** Somebody who follows an intent. */
export interface Follower {
  /** The version up to which everything was sent; null where the intent itself is to come first. */
  readonly position: number | null;
  /** False while nothing can be sent: it asks again when something can. */
  readonly ready: boolean;
  /** How the intent is now, and its events after the follower's position. */
  show(intent: PaymentIntent, events: readonly StoredEvent[]): void;
  /** There is nothing more to come. */
  finish(): void;
  /** This gateway stops: another one goes on. */
  leave(): void;
}

/** Those who follow one intent. */
interface Feed {
  readonly id: IntentId;
  readonly followers: Set<Follower>;
  /** As it was seen last. */
  intent: PaymentIntent | null;
  /** Resolves when notices of it are heard, or cannot be. */
  readonly subscribed: Promise<void>;
}

/**
 * Brings intents and their events to those who follow them. Notices only say when to look: what is shown is read from the
 * projection, one query for all intents that are due, however many follow them; while a query is under way the next ones gather.
 */
export class Feeds {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #notices: Notices;
  readonly #feeds = new Map<IntentId, Feed>();
  readonly #due = new Set<Feed>();
  readonly #stopping = new AbortController();
  #looking = false;
  #poll: NodeJS.Timeout | undefined;

  constructor(database: Database, redisUrl: string, log: Logger) {
    this.#database = database;
    this.#log = log;
    const noticed = (id: IntentId): void => {
      const feed = this.#feeds.get(id);
      if (feed) this.#look(feed);
    };
    this.#notices = new Notices(redisUrl, { noticed, listening: () => this.#lookAtAll() }, log);
  }

  /** Begins to listen, in the background. */
  open(): void {
    this.#notices.open();
    this.#poll = setInterval(() => {
      if (!this.#notices.listening) this.#lookAtAll();
    }, POLL_MS);
  }

  /** Sends all followers away, and those who come from now on. */
  close(): void {
    this.#stopping.abort();
    clearInterval(this.#poll);
    this.#notices.close();
    for (const { followers } of this.#feeds.values()) for (const follower of followers) follower.leave();
  }

  /** Shows an intent to a follower, as it is and as it changes, until the returned function is called. The intent exists. */
  follow(id: IntentId, follower: Follower): () => void {
    if (this.#stopping.signal.aborted) {
      follower.leave();
      return () => undefined;
    }
    let feed = this.#feeds.get(id);
    // Subscribed before anything is read: what changes after the reading is noticed.
    if (!feed)
      this.#feeds.set(id, (feed = { id, followers: new Set(), intent: null, subscribed: this.#notices.subscribe(id) }));
    const joined = feed;
    joined.followers.add(follower);
    void joined.subscribed.then(() => this.#look(joined));
    return () => this.#forsake(joined, follower);
  }

  /** Looks at an intent that is followed, though nothing was heard of it. */
  lookAgain(id: IntentId): void {
    const feed = this.#feeds.get(id);
    if (feed) this.#look(feed);
  }

  #forsake(feed: Feed, follower: Follower): void {
    feed.followers.delete(follower);
    if (feed.followers.size > 0 || this.#feeds.get(feed.id) !== feed) return;
    this.#feeds.delete(feed.id);
    this.#notices.unsubscribe(feed.id);
  }

  #lookAtAll(): void {
    for (const feed of this.#feeds.values()) this.#look(feed);
  }

  #look(feed: Feed): void {
    this.#due.add(feed);
    if (!this.#looking) void this.#lookAtDue();
  }

  async #lookAtDue(): Promise<void> {
    this.#looking = true;
    const backOff = new BackOff(100, 2_000);
    while (this.#due.size > 0 && !this.#stopping.signal.aborted) {
      const feeds = [...this.#due].slice(0, AT_ONCE);
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
        backOff.reset();
      } catch (error) {
        this.#log.warn({ err: error, intents: feeds.length }, 'streams cannot be fed: the database is asked again');
        for (const feed of feeds) this.#due.add(feed);
        await backOff.wait(this.#stopping.signal);
      }
    }
    this.#looking = false;
  }
}

/** What must be read for those who are ready: from the one on who is furthest behind. */
function lookOf({ id, intent, followers }: Feed): IntentLook {
  let after = NEVER;
  for (const { position, ready } of followers) if (ready && position !== null) after = Math.min(after, position);
  return { id, known: intent?.version ?? 0, after };
}

function show(feed: Feed, { after }: IntentLook, seen: IntentSeen | undefined): void {
  if (seen?.intent) feed.intent = seen.intent;
  const { intent } = feed;
  if (!seen || !intent) return;
  const over = isOver(intent);
  for (const follower of [...feed.followers]) {
    const { position, ready } = follower;
    // Who came, or became ready, after the question was put is served by the next one.
    if (!ready || (position !== null && position < after)) continue;
    follower.show(intent, position === null ? [] : seen.events.filter(({ version }) => version > position));
    if (over && follower.ready) follower.finish();
  }
}

/** True where an intent can get no further by what the service waits for. A payment that lands later is heard of by webhook. */
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
