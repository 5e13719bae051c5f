import { PUBLIC_EVENT_TYPES } from '@pf/domain';
import { z } from 'zod';
import { intentResponse, publicIntent } from './api/intent.ts';

/** The body of a webhook, of a streamed event and of an entry of the history (spec.md part 6.1): the same bytes everywhere. */
export const intentEvent = z.strictObject({
  eventId: z.string(),
  type: z.enum(PUBLIC_EVENT_TYPES),
  createdAt: z.iso.datetime({ precision: 3 }),
  livemode: z.boolean(),
  data: intentResponse,
});

/** GET /intents/{id}/events with `Accept: application/json`: the history, oldest first. */
export const intentEventsResponse = z.strictObject({ events: z.array(intentEvent) });

/** The first message of a stream: `event: snapshot`, and this as its data. */
export const SNAPSHOT = 'snapshot';
export const streamSnapshot = z.strictObject({ intent: publicIntent });

/** Between two comments of a stream: they show that it is alive, and its key is checked at each. */
export const STREAM_COMMENT_MS = 15_000;
