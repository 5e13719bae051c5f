import { emptyRequest, OPERATIONS } from '@pf/contracts';
import { addTestDelivery, deliveryAttempts } from '@pf/database';
import { ApiError } from '../api-error.ts';
import { readBody } from '@pf/http';
import { BackOff } from '@pf/runtime';
import type { Endpoint } from '../endpoint.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Waits } from '../limits/waits.ts';
import { type EndpointDependencies, requireEndpoint } from './endpoints.ts';
import { shownAttempt } from './shown.ts';
import { wake } from './wake.ts';

/** An attempt takes up to 15 s; the rest is for its way there and back. */
const WAIT_MS = 20_000;
/** Between two looks at what has come back: most receivers respond at once. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;

interface Dependencies extends EndpointDependencies {
  readonly limiter: Pick<Limiter, 'admitTest'>;
  readonly waits: Pick<Waits, 'test'>;
}

/**
 * POST /webhook-endpoints/{id}/test: the webhook service sends, as it sends everything, with its signatures and its
 * guard of addresses; the gateway waits for the result.
 */
export const testEndpoint = ({ database, limiter, now, wakes, waits }: Dependencies): Endpoint => ({
  operation: OPERATIONS.testEndpoint,
  async handle({ holder, request, response }) {
    await readBody(request, response, emptyRequest);
    await limiter.admitTest(holder);
    const endpoint = await requireEndpoint(database, holder, request);
    if (endpoint.pausedAt ?? endpoint.disabledAt) throw new ApiError('webhook_endpoint.not_enabled');
    return waits.test(holder, request.ip, async () => {
      const { deliveryId, eventId } = await addTestDelivery(database, holder, endpoint, new Date(now()));
      wake(wakes, endpoint.id);
      const until = performance.now() + WAIT_MS;
      const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
      while (performance.now() < until && !response.destroyed) {
        await backOff.wait();
        const [attempt] = (await deliveryAttempts(database, holder, deliveryId))?.attempts ?? [];
        if (attempt) return { status: 200, body: { deliveryId, eventId, attempt: shownAttempt(attempt) } };
      }
      return { status: 200, body: { deliveryId, eventId, attempt: null } };
    });
  },
});
