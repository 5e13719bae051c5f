import {
  type Listed,
  listEventsQuery,
  OPERATIONS,
  payerEventOf,
  STREAM_COMMENT_MS,
  writeEventCursor,
} from '@pf/contracts';
import { type Database, intentEvents, type IntentQueries, type StoredEvent } from '@pf/database';
import type { PaymentIntent } from '@pf/domain';
import { pageOf, readQuery, versionOf, write } from '@pf/http';
import type { Logger } from '@pf/runtime';
import { ApiError } from '../api-error.ts';
import { type ApiKeys, isPayer } from '../api-keys.ts';
import type { ClientSecrets } from '../client-secrets.ts';
import type { Call, Endpoint } from '../endpoint.ts';
import type { IntentHolders } from '../intent-holders.ts';
import type { ColdIntents } from '../intents/cold-intents.ts';
import { pathId, requireIntent } from '../intents/lookup.ts';
import type { OpenStreams } from '../limits/open-streams.ts';
import type { Feeds } from './feeds.ts';
import { EventStream } from './stream.ts';

interface Dependencies {
  readonly clientSecrets: Pick<ClientSecrets, 'read'>;
  readonly cold: Pick<ColdIntents, 'find'>;
  readonly database: Database;
  readonly feeds: Feeds;
  readonly intentHolders: Pick<IntentHolders, 'holder'>;
  readonly intents: IntentQueries;
  readonly keys: ApiKeys;
  readonly log: Logger;
  readonly partitions: number;
  readonly streams: Pick<OpenStreams, 'open'>;
}

/**
 * How long a stream may go on that the dashboard began for a person: the dashboard ends it with the session, and a
 * client that is still there resumes with another pass.
 */
const PASS_STREAM_SECONDS = 900;

/** GET /intents/{id}/events: the history as JSON or, if the client accepts it, a stream of server-sent events. */
export const followIntent = (dependencies: Dependencies, commentMs: number = STREAM_COMMENT_MS): Endpoint => ({
  operation: OPERATIONS.intentEvents,
  async handle(call) {
    const { holder, request, response } = call;
    const { cold, database, intents, partitions } = dependencies;
    const id = pathId(request, partitions);
    const isStream = request.accepts(['application/json', 'text/event-stream']) === 'text/event-stream';
    const page = isStream ? null : readPage(request);
    const intent = await requireIntent(intents, id, holder);
    response.setHeader('Vary', 'Accept');
    // What is open has not left: most streams, and those who ask again and again for what is new, need no look-up.
    const left = async () => (intent.closedAt === null ? null : ((await cold.find(id, holder))?.events ?? null));
    if (page === null) stream(dependencies, call, intent, await left(), commentMs);
    else {
      const stored = await intentEvents(database, id, page.after, page.limit + 1);
      const events = stored.rows.length > 0 ? stored : { rows: (await left()) ?? [], isCut: false };
      write(response, 200, history(events, page, isPayer(holder)));
    }
    return null;
  },
});

interface Page {
  /** The version with which the page before ended. */
  readonly after: number;
  readonly limit: number;
}

function readPage(request: Call['request']): Page {
  const { limit, cursor } = readQuery(request, listEventsQuery);
  return { after: versionOf({ cursor }) ?? 0, limit };
}

/** Joins the stored bodies, which are JSON already. */
function history({ rows: events, isCut }: Listed<StoredEvent>, { after, limit }: Page, forPayer: boolean): string {
  const found = { rows: events.filter(({ version }) => version > after).slice(0, limit + 1), isCut };
  const cursorOf = ({ version }: StoredEvent): string => writeEventCursor(version);
  const { rows, hasMore, nextCursor } = pageOf(found, limit, cursorOf, ({ body }) => Buffer.byteLength(body));
  const bodies = rows.map(({ body }) => (forPayer ? payerEventOf(body) : body)).join(',');
  return `{"events":[${bodies}],"hasMore":${hasMore},"nextCursor":${JSON.stringify(nextCursor)}}`;
}

/** @param left the events of an intent that has left Postgres: nothing changes it while it is shown */
function stream(
  { clientSecrets, feeds, intentHolders, keys, log, streams }: Dependencies,
  { holder, request, response }: Call,
  intent: PaymentIntent,
  left: readonly StoredEvent[] | null,
  commentMs: number,
): void {
  // The client may have disconnected while the intent was read.
  if (response.destroyed) return;
  if (request.method === 'HEAD') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end();
    return;
  }
  response.once('close', streams.open(holder, request.ip));
  const { authorization } = request.headers;
  const check = async (): Promise<boolean> => {
    feeds.readAgain(intent.id);
    try {
      const opened = clientSecrets.read(authorization);
      await (opened ? intentHolders.holder(opened) : keys.stillHolder(authorization, PASS_STREAM_SECONDS));
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return false;
      // The database is unavailable, so the stream shows nothing either. The next comment checks again.
      log.warn({ err: error }, 'the API key or client secret of a stream cannot be checked: will retry');
      return true;
    }
  };
  const follower = new EventStream({
    response,
    position: lastEventId(request.headers['last-event-id'], intent),
    commentMs,
    check,
    forPayer: isPayer(holder),
    onReady: () => (left ? showAll(follower, intent, left) : feeds.readAgain(intent.id)),
  });
  if (left) showAll(follower, intent, left);
  else response.once('close', feeds.follow(intent.id, follower));
}

/** Shows what the follower has not seen, and ends the stream: as with any intent that is over. */
function showAll(follower: EventStream, intent: PaymentIntent, events: readonly StoredEvent[]): void {
  const { position } = follower;
  follower.show(intent, position === null ? [] : events.filter(({ version }) => version > position));
  if (follower.ready) follower.finish();
}

/**
 * The version that the client has received last. Null, for a new start, if it names none or one that does not exist.
 */
function lastEventId(header: string | readonly string[] | undefined, { version }: PaymentIntent): number | null {
  if (typeof header !== 'string' || !/^\d{1,9}$/.test(header)) return null;
  const id = Number(header);
  return id <= version ? id : null;
}
