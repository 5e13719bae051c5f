import { z } from 'zod';
import { moment, must, text, word } from './api/fields.ts';
import { IDEMPOTENCY_KEY_LENGTH_MAX } from './api/limits.ts';
import { pageQuery, pageResponse } from './api/paging.ts';
import { selectedTypes } from './endpoints.ts';

/** Which deliveries are sent again: those that failed, or those that arrived as well. */
export const REPLAYED_STATUSES = ['failed', 'all'] as const;
export type ReplayedStatus = (typeof REPLAYED_STATUSES)[number];

export const REPLAY_STATES = ['counting', 'sending', 'completed', 'cancelled'] as const;
export type ReplayState = (typeof REPLAY_STATES)[number];

/** Replays of an account and mode that have not ended. */
export const REPLAYS_MAX = 10;

const endpointId = word('the id of a webhook endpoint, whe_…', 64);

/** POST /webhook-replays. */
export const createReplayRequest = z.strictObject({
  since: moment,
  until: moment.optional(),
  endpointId: endpointId.optional(),
  toEndpointId: endpointId.optional(),
  eventTypes: selectedTypes.optional(),
  status: z.enum(REPLAYED_STATUSES, must(`one of ${REPLAYED_STATUSES.join(', ')}`)).optional(),
  idempotencyKey: text(1, IDEMPOTENCY_KEY_LENGTH_MAX).optional(),
});

/** GET /webhook-replays. */
export const listReplaysQuery = z.strictObject(pageQuery);

const time = z.iso.datetime({ precision: 3 });
const count = z.number().int().nonnegative();

/** A replay in responses. */
export const webhookReplay = z.strictObject({
  id: z.string(),
  state: z.enum(REPLAY_STATES),
  since: time,
  until: time,
  endpointId: z.string().nullable(),
  toEndpointId: z.string().nullable(),
  eventTypes: z.array(z.string()).nullable(),
  status: z.enum(REPLAYED_STATUSES),
  total: count,
  pending: count,
  delivered: count,
  failed: count,
  skipped: count,
  createdAt: time,
  endedAt: time.nullable(),
  livemode: z.boolean(),
});
export type ShownReplay = z.infer<typeof webhookReplay>;

export const replayResponse = z.strictObject({ replay: webhookReplay });
export const replaysResponse = z.strictObject({ replays: z.array(webhookReplay), ...pageResponse });
