import type { deliveryAttempt, ShownEndpoint, WebhookDelivery } from '@pf/contracts';
import type { ListedAttempt, ListedDelivery, ManagedEndpoint } from '@pf/database';
import type { z } from 'zod';

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

/** A delivery as the API returns it. */
export const shownDelivery = ({
  id,
  eventId,
  type,
  intentId,
  url,
  responseStatus,
  attemptCount,
  lastAttemptedAt,
  deliveredAt,
  failedAt,
  nextAttemptAt,
}: ListedDelivery): WebhookDelivery => ({
  id,
  eventId,
  type,
  intentId,
  url,
  responseStatus,
  attemptCount,
  lastAttemptedAt: iso(lastAttemptedAt),
  deliveredAt: iso(deliveredAt),
  failedAt: iso(failedAt),
  nextAttemptAt: iso(nextAttemptAt),
});

/** An endpoint as the API returns it. */
export const shownEndpoint = ({
  id,
  url,
  name,
  eventTypes,
  apiVersion,
  disabledBy,
  disabledAt,
  pausedAt,
  failingSince,
  missedSince,
  missedCount,
  createdAt,
  livemode,
}: ManagedEndpoint): ShownEndpoint => ({
  id,
  url,
  name,
  eventTypes: eventTypes === null ? null : [...eventTypes],
  apiVersion,
  status: disabledAt ? 'disabled' : pausedAt ? 'paused' : 'enabled',
  disabledReason: disabledBy,
  disabledAt: iso(disabledAt),
  failingSince: iso(failingSince),
  missedSince: iso(missedSince),
  missedCount,
  createdAt: createdAt.toISOString(),
  livemode,
});

/** An attempt as the API returns it. */
export const shownAttempt = ({ at, ...attempt }: ListedAttempt): z.infer<typeof deliveryAttempt> => ({
  ...attempt,
  at: at.toISOString(),
});
