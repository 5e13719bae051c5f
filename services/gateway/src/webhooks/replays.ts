import {
  createReplayRequest,
  emptyRequest,
  listReplaysQuery,
  OPERATIONS,
  REPLAYS_MAX,
  type ShownReplay,
  writeCursor,
} from '@pf/contracts';
import {
  answerOnce,
  cancelReplay as cancel,
  createReplay as begin,
  type Database,
  everHadEndpoint,
  findReplay,
  type Keyring,
  listReplays as findReplays,
  managedEndpoint,
  type Replay,
} from '@pf/database';
import { ApiError, validationFailed } from '../api-error.ts';
import type { Holder } from '../api-keys.ts';
import { pageOf, positionOf, readBody, readQuery } from '@pf/http';
import type { Endpoint } from '../endpoint.ts';
import { admitUnlessAnswered, readKeyedBody, REPLAYED, requestKey } from '../idempotency.ts';
import type { Limiter } from '../limits/limiter.ts';
import { replayIdOf } from './ids.ts';
import { wake, type Wakes } from './wake.ts';

export interface ReplayDependencies {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly now: () => number;
  readonly wakes: Wakes;
}

interface Beginning extends ReplayDependencies {
  readonly limiter: Pick<Limiter, 'admitReplay'>;
}

/** POST /webhook-replays: the webhook services do it, step by step. */
export const createReplay = ({ database, keyring, limiter, now, wakes }: Beginning): Endpoint => ({
  operation: OPERATIONS.createReplay,
  async handle({ holder, request, response }) {
    const body = await readKeyedBody(request, response, createReplayRequest);
    const at = new Date(now());
    const { since, until } = rangeOf(body, at);
    const key = requestKey(holder, 'create-replay', body.idempotencyKey);
    await admitUnlessAnswered(database, key, at, () => limiter.admitReplay(holder));
    const { endpointId = null, toEndpointId = null, eventTypes = null, status = 'failed' } = body;
    const receiver = toEndpointId ?? endpointId;
    if (receiver !== null)
      await requireReceiver(database, holder, toEndpointId === null ? 'endpointId' : 'toEndpointId', receiver);
    // What a URL got that was removed since can be sent to another one.
    if (toEndpointId !== null && endpointId !== null && !(await everHadEndpoint(database, holder, endpointId)))
      throw new ApiError('webhook_endpoint.not_found', { param: 'endpointId' });
    const { answer, replayed } = await answerOnce(database, keyring, key, at, async (client) => {
      const replay = await begin(client, holder, { since, until, endpointId, toEndpointId, eventTypes, status }, at);
      if (!replay)
        throw new ApiError('webhook_replay.limit_reached', {
          message: `The account has ${REPLAYS_MAX} webhook replays in this mode that have not ended. Cancel one.`,
          details: { max: REPLAYS_MAX },
        });
      return { replay: shownReplay(replay) };
    });
    wake(wakes, answer.replay.id);
    if (!replayed) return { status: 201, body: answer };
    const current = await findReplay(database, holder, answer.replay.id);
    return { status: 200, body: current ? { replay: shownReplay(current) } : answer, headers: REPLAYED };
  },
});

/** GET /webhook-replays. */
export const listReplays = ({ database }: ReplayDependencies): Endpoint => ({
  operation: OPERATIONS.listReplays,
  async handle({ holder, request }) {
    const { limit, cursor } = readQuery(request, listReplaysQuery);
    const found = await findReplays(database, holder, positionOf({ cursor }), limit + 1);
    const { rows, hasMore, nextCursor } = pageOf(found, limit, ({ createdAt, id }) =>
      writeCursor({ createdAt: createdAt.getTime(), id }),
    );
    return { status: 200, body: { replays: rows.map(shownReplay), hasMore, nextCursor } };
  },
});

/** GET /webhook-replays/{id}. */
export const getReplay = ({ database }: ReplayDependencies): Endpoint => ({
  operation: OPERATIONS.getReplay,
  async handle({ holder, request }) {
    const replay = await findReplay(database, holder, replayIdOf(request));
    if (!replay) throw new ApiError('webhook_replay.not_found');
    return { status: 200, body: { replay: shownReplay(replay) } };
  },
});

/** POST /webhook-replays/{id}/cancel. */
export const cancelReplay = ({ database, now }: ReplayDependencies): Endpoint => ({
  operation: OPERATIONS.cancelReplay,
  async handle({ holder, request, response }) {
    const id = replayIdOf(request);
    await readBody(request, response, emptyRequest);
    const replay = await cancel(database, holder, id, new Date(now()));
    if (!replay) throw new ApiError('webhook_replay.not_found');
    return { status: 200, body: { replay: shownReplay(replay) } };
  },
});

/** @throws ApiError if the account has no such endpoint, or nothing can be sent to it */
async function requireReceiver(database: Database, holder: Holder, param: string, id: string): Promise<void> {
  const endpoint = await managedEndpoint(database, holder, id);
  if (!endpoint) throw new ApiError('webhook_endpoint.not_found', { param });
  if (endpoint.disabledAt)
    throw new ApiError('webhook_endpoint.not_enabled', {
      param,
      message: 'The webhook endpoint is disabled, so nothing is sent to it. Enable it first.',
    });
}

/** What comes after the request is not part of it: a replay has an end. */
function rangeOf(
  body: { readonly since: string; readonly until?: string | undefined },
  at: Date,
): { readonly since: Date; readonly until: Date } {
  const since = new Date(body.since);
  const until = new Date(Math.min(body.until === undefined ? at.getTime() : Date.parse(body.until), at.getTime()));
  if (since >= until)
    throw validationFailed([
      body.until === undefined
        ? { param: 'since', message: 'since must be in the past' }
        : { param: 'until', message: 'until must be after since, and since in the past' },
    ]);
  return { since, until };
}

function shownReplay(replay: Replay): ShownReplay {
  const { id, state, total, sent, delivered, failed, skipped, since, until, createdAt, endedAt, livemode } = replay;
  const { endpointId, toEndpointId, eventTypes, status } = replay;
  return {
    id,
    state,
    since: since.toISOString(),
    until: until.toISOString(),
    endpointId,
    toEndpointId,
    eventTypes: eventTypes === null ? null : [...eventTypes],
    status,
    total,
    pending: Math.max(0, sent - delivered - failed),
    delivered,
    failed,
    skipped,
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    livemode,
  };
}
