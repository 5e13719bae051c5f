import { OPERATIONS, paymasterRequest } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import { liveSubmission, refusalInProgress, termsOf } from '@pf/domain';
import { readBody } from '@pf/http';
import { ApiError } from '../api-error.ts';
import type { Endpoint } from '../endpoint.ts';
import { requireCleanWallets, type ScreeningDependencies } from '../intents/clean-wallets.ts';
import { adapterOf, type Adapters, pathId, payerOf, requireIntent, requirePayable } from '../intents/lookup.ts';
import type { Limiter } from '../limits/limiter.ts';
import { refused, rejected } from '../refusals.ts';
import type { CosigningDependencies } from './cosigning.ts';

interface Dependencies extends CosigningDependencies, ScreeningDependencies {
  readonly adapters: Adapters;
  readonly intents: IntentQueries;
  readonly limiter: Pick<Limiter, 'admitBuild'>;
  readonly partitions: number;
}

/**
 * POST /intents/{id}/paymaster: has the account's paymaster promise to pay the gas of a smart account. It hears of
 * nothing but payments of this intent, so that payers cannot have the account pay for what they like. Nothing is
 * claimed and nothing is kept: the wallet sends the operation by itself, and the watcher finds the payment.
 */
export const askPaymaster = (dependencies: Dependencies): Endpoint => ({
  operation: OPERATIONS.askPaymaster,
  async handle({ holder, request, response }) {
    const { adapters, findSponsor, intents, limiter, partitions, sponsorCalls } = dependencies;
    const id = pathId(request, partitions);
    const { jsonrpc, id: callId, method, params } = await readBody(request, response, paymasterRequest);
    const intent = await requireIntent(intents, id, holder);
    const { network, paymasters } = adapterOf(adapters, intent);
    const sponsor = paymasters && (await findSponsor(holder.accountId, network.chain));
    if (!paymasters || !sponsor) throw new ApiError('sponsor.not_found');
    await limiter.admitBuild(id, holder, request.ip);
    await requirePayable(intents, intent, holder, 'no gas is paid for it');
    if (liveSubmission(intent)) throw refused(refusalInProgress(intent));
    const operation = paymasters.parse(method, params);
    if (!operation.ok)
      throw new ApiError('transaction.malformed', {
        message: `The user operation ${operation.problem}.`,
        param: 'params',
      });
    const { call, differences, excess, sender } = operation.value;
    const fulfiller = payerOf(intent, sender);
    const differs = differences(termsOf(intent));
    if (Object.keys(differs).length > 0)
      throw new ApiError('transaction.mismatch', {
        message:
          `The user operation differs from this payment intent in ${Object.keys(differs).join(', ')}. A sponsor pays ` +
          'the gas of the payment alone: pass the call of the transaction that was built, and no other.',
        details: differs,
      });
    if (excess !== null) throw rejected('operation', id, excess);
    await requireCleanWallets(dependencies, { ...intent, fulfiller }, { holder, what: 'submit', intentId: id });
    const asking = { sponsor, holder, network };
    const result = await sponsorCalls.ask(asking, call(sponsor.context), (promised) => promised);
    return { status: 200, body: { jsonrpc, id: callId, result } };
  },
});
