import type { Delivery, DeliveryFilters, Endpoint } from '../api/types.ts';
import type { Tone } from '../ui/badge.tsx';
import { EVENT_TYPES } from './states.ts';

type Status = NonNullable<DeliveryFilters['status']>;
interface Look {
  readonly label: string;
  readonly tone: Tone;
}

export const DELIVERY_STATUS: Readonly<Record<Status, Look>> = {
  pending: { label: 'Pending', tone: 'info' },
  delivered: { label: 'Delivered', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
};

export const statusOf = ({ deliveredAt, failedAt }: Delivery): Status =>
  deliveredAt !== null ? 'delivered' : failedAt !== null ? 'failed' : 'pending';

/** Events of payment links. */
export const LINK_EVENTS = {
  'payment_link.paid': 'A payment link was paid',
  'payment_link.extra_payment': 'A payment link was paid again',
  'payment_link.cancelled': 'A payment link was cancelled',
  'payment_link.expired': 'A payment link has expired',
} as const;
export const LINK_EVENT_TYPES = Object.keys(LINK_EVENTS) as readonly (keyof typeof LINK_EVENTS)[];

/** Everything that a webhook can tell of. */
export const DELIVERED_TYPES = [
  ...EVENT_TYPES,
  ...LINK_EVENT_TYPES,
  'webhook_endpoint.disabled',
  'webhook_endpoint.test',
] as const satisfies readonly NonNullable<DeliveryFilters['type']>[];

export const ENDPOINT_STATUS: Readonly<Record<Endpoint['status'], Look>> = {
  enabled: { label: 'Enabled', tone: 'good' },
  paused: { label: 'Paused', tone: 'warn' },
  disabled: { label: 'Disabled', tone: 'bad' },
};
