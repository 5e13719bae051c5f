import { PUBLIC_EVENT_TYPES } from '@pf/domain';
import { z } from 'zod';
import { intentResponse, publicIntent } from './api/intent.ts';
import { PAGE_LIMIT } from './api/limits.ts';
import { pageLimit, pageQuery, pageResponse } from './api/paging.ts';

/** The body of a webhook, of a streamed event and of a history entry (docs/reference/contract.md): the same bytes. */
export const intentEvent = z.strictObject({
  eventId: z.string(),
  type: z.enum(PUBLIC_EVENT_TYPES),
  createdAt: z.iso.datetime({ precision: 3 }),
  livemode: z.boolean(),
  data: intentResponse,
});

/** The pages of a history are as long as they may be: that of an ordinary intent is one page. */
const EVENTS_LIMIT = PAGE_LIMIT.max;

/** GET /intents/{id}/events. Other parameters were never refused here. */
export const listEventsQuery = z.object({ ...pageQuery, limit: pageLimit(EVENTS_LIMIT) });

/** GET /intents/{id}/events with `Accept: application/json`: a page of the history, oldest first. */
export const intentEventsResponse = z.strictObject({ events: z.array(intentEvent), ...pageResponse });

/** The first message of a stream: `event: snapshot`, with this as its data. */
export const SNAPSHOT = 'snapshot';
export const streamSnapshot = z.strictObject({ intent: publicIntent });

/** Interval of the comments that keep a stream alive. The API key is checked again with each. */
export const STREAM_COMMENT_MS = 15_000;
