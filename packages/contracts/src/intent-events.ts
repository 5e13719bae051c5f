import { PUBLIC_EVENT_TYPES } from '@pf/domain';
import { z } from 'zod';
import { intentResponse, publicIntent } from './api/intent.ts';

/** The body of a webhook, of a streamed event and of a history entry (docs/reference/contract.md): the same bytes. */
export const intentEvent = z.strictObject({
  eventId: z.string(),
  type: z.enum(PUBLIC_EVENT_TYPES),
  createdAt: z.iso.datetime({ precision: 3 }),
  livemode: z.boolean(),
  data: intentResponse,
});

/** GET /intents/{id}/events with `Accept: application/json`: the history, oldest first. */
export const intentEventsResponse = z.strictObject({ events: z.array(intentEvent) });

/** The first message of a stream: `event: snapshot`, with this as its data. */
export const SNAPSHOT = 'snapshot';
export const streamSnapshot = z.strictObject({ intent: publicIntent });

/** Interval of the comments that keep a stream alive. The API key is checked again with each. */
export const STREAM_COMMENT_MS = 15_000;
