import { emptyRequest, OPERATIONS } from '@pf/contracts';
import { type Database, retryDelivery as makeDue } from '@pf/database';
import type { WakeQueue } from '@pf/redis';
import { ApiError } from '../api-error.ts';
import { readBody } from '../body.ts';
import type { Endpoint } from '../endpoint.ts';
import { deliveryIdOf } from './ids.ts';
import { shownDelivery } from './shown.ts';

/**
 * POST /webhooks/{id}/retry: makes the delivery due in Postgres, and wakes its URL so that it is sent at once.
 */
export const retryDelivery = ({
  database,
  now,
  wakes,
}: {
  readonly database: Database;
  readonly now: () => number;
  readonly wakes: Pick<WakeQueue, 'wake'>;
}): Endpoint => ({
  operation: OPERATIONS.retryDelivery,
  async handle({ holder, request, response }) {
    const deliveryId = deliveryIdOf(request);
    await readBody(request, response, emptyRequest);
    const { accountId, livemode } = holder;
    const retried = await makeDue(database, { deliveryId, accountId, livemode, at: new Date(now()) });
    if (!retried) throw new ApiError('delivery.not_found');
    // Without Redis, a sweep finds it within 10 s.
    void wakes.wake([retried.endpointId]).catch(() => undefined);
    return { status: 200, body: { delivery: shownDelivery(retried.delivery) } };
  },
});
