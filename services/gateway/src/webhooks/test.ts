import { setTimeout as pause } from 'node:timers/promises';
import { emptyRequest, OPERATIONS } from '@pf/contracts';
import { addTestDelivery, deliveryAttempts, endTestDelivery } from '@pf/database';
import { ApiError } from '../api-error.ts';
import { readBody } from '@pf/http';
import type { Endpoint } from '../endpoint.ts';
import { type EndpointDependencies, requireEndpoint } from './endpoints.ts';
import { shownAttempt } from './shown.ts';
import { wake } from './wake.ts';

/** An attempt takes up to 15 s; the rest is for its way there and back. */
const WAIT_MS = 20_000;
const LOOK_MS = 200;

/**
 * POST /webhook-endpoints/{id}/test: the webhook service sends, as it sends everything, with its signatures and its
 * guard of addresses; the gateway waits for the result.
 */
export const testEndpoint = ({ database, now, wakes }: EndpointDependencies): Endpoint => ({
  operation: OPERATIONS.testEndpoint,
  async handle({ holder, request, response }) {
    await readBody(request, response, emptyRequest);
    const endpoint = await requireEndpoint(database, holder, request);
    if (endpoint.pausedAt ?? endpoint.disabledAt) throw new ApiError('webhook_endpoint.not_enabled');
    const { deliveryId, eventId } = await addTestDelivery(database, holder, endpoint, new Date(now()));
    wake(wakes, endpoint.id);
    const until = performance.now() + WAIT_MS;
    while (performance.now() < until && !response.destroyed) {
      const [attempt] = (await deliveryAttempts(database, holder, deliveryId))?.attempts ?? [];
      if (attempt) {
        await endTestDelivery(database, deliveryId, new Date(now()));
        return { status: 200, body: { deliveryId, eventId, attempt: shownAttempt(attempt) } };
      }
      await pause(LOOK_MS);
    }
    return { status: 200, body: { deliveryId, eventId, attempt: null } };
  },
});
