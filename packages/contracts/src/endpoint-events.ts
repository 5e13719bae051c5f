import { z } from 'zod';
import { newEventId } from './ids.ts';

/** Events of a webhook URL: `disabled` goes to the account's other URLs, `test` to the URL itself. */
export const ENDPOINT_EVENT_TYPES = ['webhook_endpoint.disabled', 'webhook_endpoint.test'] as const;
export type EndpointEventType = (typeof ENDPOINT_EVENT_TYPES)[number];

const time = z.iso.datetime({ precision: 3 });
const endpointEvent = <Type extends EndpointEventType, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({
    eventId: z.string(),
    type: z.literal(type),
    createdAt: time,
    livemode: z.boolean(),
    data: z.strictObject({ endpoint: z.strictObject({ id: z.string(), url: z.string(), ...shape }) }),
  });

/** The bodies of their webhooks. */
export const endpointEvents = {
  'webhook_endpoint.disabled': endpointEvent('webhook_endpoint.disabled', {
    disabledAt: time,
    disabledBy: z.enum(['gone', 'failing']),
    failingSince: time.nullable(),
  }),
  'webhook_endpoint.test': endpointEvent('webhook_endpoint.test', {}),
} as const satisfies Readonly<Record<EndpointEventType, z.ZodType>>;

/** Why a URL was disabled: it returned 410 Gone, or nothing was accepted for days. */
export type DisabledReason = 'gone' | 'failing';

/** A URL that was disabled, as its account is told. */
export interface DisabledEndpoint {
  readonly id: string;
  readonly url: string;
  readonly livemode: boolean;
  readonly disabledAt: Date;
  readonly disabledBy: DisabledReason;
  /** The first failed attempt since the last successful one. */
  readonly failingSince: Date | null;
}

/** The event and the exact text of its webhook. */
export function endpointDisabledEvent({ id, url, livemode, disabledAt, disabledBy, failingSince }: DisabledEndpoint): {
  readonly eventId: string;
  readonly type: (typeof ENDPOINT_EVENT_TYPES)[number];
  readonly body: string;
} {
  const eventId = newEventId();
  const type = 'webhook_endpoint.disabled';
  const endpoint = { id, url, disabledAt, disabledBy, failingSince };
  return {
    eventId,
    type,
    body: JSON.stringify({ eventId, type, createdAt: disabledAt, livemode, data: { endpoint } }),
  };
}

/** An event without meaning, which the account has asked for to see how its receiver responds. */
export function endpointTestEvent(
  endpoint: { readonly id: string; readonly url: string },
  { livemode, at }: { readonly livemode: boolean; readonly at: Date },
): { readonly eventId: string; readonly type: (typeof ENDPOINT_EVENT_TYPES)[number]; readonly body: string } {
  const eventId = newEventId();
  const type = 'webhook_endpoint.test';
  const { id, url } = endpoint;
  return {
    eventId,
    type,
    body: JSON.stringify({ eventId, type, createdAt: at, livemode, data: { endpoint: { id, url } } }),
  };
}
