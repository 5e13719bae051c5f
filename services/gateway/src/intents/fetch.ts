import { OPERATIONS } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import { view } from '@pf/domain';
import type { Endpoint } from '../endpoint.ts';
import { pathId, requireIntent } from './lookup.ts';

/** GET /intents/{id}. */
export const fetchIntent = ({
  intents,
  partitions,
}: {
  readonly intents: IntentQueries;
  readonly partitions: number;
}): Endpoint => ({
  operation: OPERATIONS.getIntent,
  handle: async ({ holder, request }) => ({
    status: 200,
    body: { intent: view(await requireIntent(intents, pathId(request, partitions), holder)) },
  }),
});
