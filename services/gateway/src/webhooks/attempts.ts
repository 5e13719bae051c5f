import { OPERATIONS } from '@pf/contracts';
import { type Database, deliveryAttempts as findAttempts } from '@pf/database';
import { ApiError } from '../api-error.ts';
import type { Endpoint } from '../endpoint.ts';
import { deliveryIdOf } from './ids.ts';
import { shownAttempt } from './shown.ts';

/** GET /webhooks/{id}/attempts: what was tried, and what came back. */
export const deliveryAttempts = ({ database }: { readonly database: Database }): Endpoint => ({
  operation: OPERATIONS.deliveryAttempts,
  async handle({ holder, request }) {
    const found = await findAttempts(database, holder, deliveryIdOf(request));
    if (!found) throw new ApiError('delivery.not_found');
    const { attempts, nextAttemptAt, requestBody } = found;
    return {
      status: 200,
      body: {
        attempts: attempts.map(shownAttempt),
        nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
        requestBody,
      },
    };
  },
});
