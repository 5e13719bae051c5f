import { newEventId } from './ids.ts';

/** Events of a webhook URL: the account's other URLs get them. */
export const ENDPOINT_EVENT_TYPES = ['webhook_endpoint.disabled'] as const;

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
  const [type] = ENDPOINT_EVENT_TYPES;
  const endpoint = { id, url, disabledAt, disabledBy, failingSince };
  return {
    eventId,
    type,
    body: JSON.stringify({ eventId, type, createdAt: disabledAt, livemode, data: { endpoint } }),
  };
}
