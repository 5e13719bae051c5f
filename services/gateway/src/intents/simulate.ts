import { OPERATIONS, simulateIntentRequest } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import { ApiError } from '../api-error.ts';
import { readBody } from '@pf/http';
import type { Commands } from '../commands.ts';
import type { Endpoint } from '../endpoint.ts';
import { adapterOf, type Adapters, intentAfter, pathId, requireIntent } from './lookup.ts';

interface Dependencies {
  readonly adapters: Adapters;
  readonly commands: Commands;
  readonly intents: IntentQueries;
  readonly partitions: number;
}

/** POST /test/intents/{id}/simulate: stands in for the chain or the clock, with the same writer and the same events. */
export const simulateIntent = ({ adapters, commands, intents, partitions }: Dependencies): Endpoint => ({
  operation: OPERATIONS.simulateIntent,
  async handle({ holder, request, response }) {
    const { accountId, livemode } = holder;
    // Part of authorization, so it comes before the request is validated.
    if (livemode) throw new ApiError('api_key.test_mode_required');
    const intentId = pathId(request, partitions);
    const { targetState } = await readBody(request, response, simulateIntentRequest);
    const { hash, address } = adapterOf(adapters, await requireIntent(intents, intentId, holder)).synthetic();
    const accepted = await commands.require({
      type: 'simulate',
      intentId,
      accountId,
      livemode,
      data: { targetState, hash, fulfiller: address },
    });
    return { status: 200, body: { intent: await intentAfter(intents, accepted, holder) } };
  },
});
