import { buildAuthorizationRequest, OPERATIONS } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import { isAuthorization, liveSubmission, refusalInProgress, termsOf, view } from '@pf/domain';
import { readBody } from '@pf/http';
import type { Endpoint } from '../endpoint.ts';
import { unbuilt } from '../intents/build.ts';
import { type Adapters, findRequestedIntent, pathId, payerOf, requirePayable } from '../intents/lookup.ts';
import type { Limiter } from '../limits/limiter.ts';
import { refused } from '../refusals.ts';
import { authorizationsOf, unsupported } from './supported.ts';

interface Dependencies {
  readonly adapters: Adapters;
  readonly intents: IntentQueries;
  readonly limiter: Pick<Limiter, 'admitBuild'>;
  readonly partitions: number;
}

/** POST /intents/{id}/authorization/build: what the payer signs, so that another pays the gas. Changes nothing. */
export const buildAuthorization = (dependencies: Dependencies): Endpoint => ({
  operation: OPERATIONS.buildAuthorization,
  async handle({ holder, request, response }) {
    const { intents, limiter, partitions } = dependencies;
    const id = pathId(request, partitions);
    const body = await readBody(request, response, buildAuthorizationRequest);
    const { intent, adapter, named } = await findRequestedIntent(dependencies, id, holder, body.fulfiller);
    const authorizations = authorizationsOf(adapter, intent);
    await requirePayable(intents, intent, holder, 'no authorization can be built');
    const fulfiller = payerOf(intent, named);
    const live = liveSubmission(intent);
    // Of one wallet's authorizations at most one moves money: they have the same nonce.
    if (live && !(isAuthorization(live) && live.sender === fulfiller)) throw refused(refusalInProgress(intent));

    await limiter.admitBuild(id, holder, request.ip);
    const { direction, expiresAt } = intent;
    const result = await authorizations.build({
      intentId: id,
      terms: termsOf(intent),
      direction,
      fulfiller,
      expiresAt,
    });
    if (result.kind === 'unsupported') throw unsupported(intent);
    if (result.kind !== 'built') throw unbuilt(result, id);
    return { status: 200, body: { intent: view(intent), typedData: result.typedData } };
  },
});
