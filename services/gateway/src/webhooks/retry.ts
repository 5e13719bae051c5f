import { emptyRequest, OPERATIONS } from '@pf/contracts';
import { retryDelivery as makeDue } from '@pf/database';
import { ApiError } from '../api-error.ts';
import { readBody } from '@pf/http';
import type { Endpoint } from '../endpoint.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { EndpointDependencies } from './endpoints.ts';
import { deliveryIdOf } from './ids.ts';
import { shownDelivery } from './shown.ts';
import { wake } from './wake.ts';

interface Dependencies extends EndpointDependencies {
  readonly limiter: Pick<Limiter, 'admitRetry'>;
}

/**
 * POST /webhooks/{id}/retry: makes the delivery due in Postgres, and wakes its URL so that it is sent at once.
 */
export const retryDelivery = ({ database, limiter, now, wakes }: Dependencies): Endpoint => ({
  operation: OPERATIONS.retryDelivery,
  async handle({ holder, request, response }) {
    const deliveryId = deliveryIdOf(request);
    await readBody(request, response, emptyRequest);
    await limiter.admitRetry(holder);
    const { accountId, livemode } = holder;
    const retried = await makeDue(database, { deliveryId, accountId, livemode, at: new Date(now()) });
    if (!retried) throw new ApiError('delivery.not_found');
    wake(wakes, retried.endpointId);
    return { status: 200, body: { delivery: shownDelivery(retried.delivery) } };
  },
});
