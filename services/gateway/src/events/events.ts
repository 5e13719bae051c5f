import { OPERATIONS, STREAM_COMMENT_MS } from '@pf/contracts';
import { type Database, intentEvents } from '@pf/database';
import type { IntentId, PaymentIntent } from '@pf/domain';
import type { Logger } from '@pf/runtime';
import { ApiError } from '../api-error.ts';
import type { ApiKeys } from '../api-keys.ts';
import { type Call, type Endpoint, write } from '../endpoint.ts';
import { pathId, requireIntent } from '../intents/lookup.ts';
import type { Feeds } from './feeds.ts';
import { EventStream } from './stream.ts';

interface Dependencies {
  readonly database: Database;
  readonly feeds: Feeds;
  readonly keys: ApiKeys;
  readonly log: Logger;
  readonly partitions: number;
}

/** GET /intents/{id}/events: the history as JSON or, for those who accept an event stream, what happens as it happens. */
export const followIntent = (parts: Dependencies, commentMs: number = STREAM_COMMENT_MS): Endpoint => ({
  operation: OPERATIONS.intentEvents,
  async handle(call) {
    const { holder, request, response } = call;
    const intent = await requireIntent(parts.database, pathId(request, parts.partitions), holder);
    response.setHeader('Vary', 'Accept');
    if (request.accepts(['application/json', 'text/event-stream']) === 'text/event-stream')
      stream(parts, call, intent, commentMs);
    else write(response, 200, await history(parts.database, intent.id));
    return null;
  },
});

/** Put together from the stored bytes: they are JSON already. */
async function history(database: Database, id: IntentId): Promise<string> {
  const events = await intentEvents(database, id);
  return `{"events":[${events.map(({ body }) => body).join(',')}]}`;
}

function stream(
  { feeds, keys, log }: Dependencies,
  { request, response }: Call,
  intent: PaymentIntent,
  commentMs: number,
): void {
  // The connection may have gone while the intent was read.
  if (response.destroyed) return;
  if (request.method === 'HEAD') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end();
    return;
  }
  const { authorization } = request.headers;
  const check = async (): Promise<boolean> => {
    feeds.lookAgain(intent.id);
    try {
      await keys.holder(authorization);
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return false;
      // Nobody can say: then nothing can be read for the stream either, and the next comment asks again.
      log.warn({ err: error }, 'the key of a stream cannot be checked');
      return true;
    }
  };
  const follower = new EventStream({
    response,
    position: lastSeen(request.headers['last-event-id'], intent),
    commentMs,
    check,
    onReady: () => feeds.lookAgain(intent.id),
  });
  response.once('close', feeds.follow(intent.id, follower));
}

/** The version that the client has seen last. Null where it names none, or one that there has not been: it begins anew. */
function lastSeen(header: string | readonly string[] | undefined, { version }: PaymentIntent): number | null {
  if (typeof header !== 'string' || !/^\d{1,9}$/.test(header)) return null;
  const seen = Number(header);
  return seen <= version ? seen : null;
}
