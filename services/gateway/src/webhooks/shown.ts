import type { WebhookDelivery } from '@pf/contracts';
import type { ListedDelivery } from '@pf/database';

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

/** A delivery as the API returns it. */
export const shownDelivery = ({
  id,
  eventId,
  url,
  responseStatus,
  attemptCount,
  lastAttemptedAt,
  deliveredAt,
  failedAt,
}: ListedDelivery): WebhookDelivery => ({
  id,
  eventId,
  url,
  responseStatus,
  attemptCount,
  lastAttemptedAt: iso(lastAttemptedAt),
  deliveredAt: iso(deliveredAt),
  failedAt: iso(failedAt),
});
