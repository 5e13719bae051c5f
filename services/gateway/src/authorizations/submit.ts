import { OPERATIONS, submitAuthorizationRequest } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import { refusalUnlessCreated, submissionOf, termsOf, view } from '@pf/domain';
import { readBody } from '@pf/http';
import { ApiError } from '../api-error.ts';
import { isPayer } from '../api-keys.ts';
import type { Commands } from '../commands.ts';
import type { Endpoint } from '../endpoint.ts';
import { requireCleanWallets, type ScreeningDependencies } from '../intents/clean-wallets.ts';
import { type Adapters, findRequestedIntent, intentAfter, pathId, payerOf } from '../intents/lookup.ts';
import type { Limiter } from '../limits/limiter.ts';
import { rejected, requireAllowed } from '../refusals.ts';
import { authorizationsOf, unsupported } from './supported.ts';

interface Dependencies extends ScreeningDependencies {
  readonly adapters: Adapters;
  readonly commands: Commands;
  readonly intents: IntentQueries;
  readonly limiter: Pick<Limiter, 'admitSubmit'>;
  readonly partitions: number;
}

/**
 * POST /intents/{id}/authorization/submit: judges an authorization by what it does, claims the intent for as long as it
 * can move money, and returns the call for whoever pays the gas. Nothing is sent from here, and nothing is believed of
 * who sends it: the watcher finds the payment, or proves that it can no longer be made.
 */
export const submitAuthorization = (dependencies: Dependencies): Endpoint => ({
  operation: OPERATIONS.submitAuthorization,
  async handle({ holder, request, response }) {
    const { commands, intents, limiter, partitions } = dependencies;
    const id = pathId(request, partitions);
    const signed = await readBody(request, response, submitAuthorizationRequest);
    const { intent, adapter, named } = await findRequestedIntent(
      dependencies,
      id,
      holder,
      signed.authorization.from,
      'authorization.from',
    );
    const authorizations = authorizationsOf(adapter, intent);
    await limiter.admitSubmit(id, holder, request.ip);
    requireAllowed(refusalUnlessCreated(intent, 'it cannot be paid'));
    const fulfiller = payerOf(intent, named);
    await requireCleanWallets(dependencies, { ...intent, fulfiller }, { holder, what: 'submit', intentId: id });
    const verification = await authorizations.verify(signed, termsOf(intent), fulfiller, intent.expiresAt);
    switch (verification.kind) {
      case 'unsupported':
        throw unsupported(intent);
      case 'mismatch':
        throw new ApiError('transaction.mismatch', {
          message:
            `The authorization differs from this payment intent in ${Object.keys(verification.differs).join(', ')}. ` +
            'Build it again, and sign it without changes.',
          details: verification.differs,
        });
      case 'rejected':
        throw rejected('authorization', id, verification.reason);
      case 'verified': {
        const { call, x402, transaction } = verification;
        if (submissionOf(intent, transaction.hash)?.status === 'live')
          return { status: 200, body: { intent: view(intent), call, x402 } };
        const claimed = await commands.require({
          type: 'prepare_submission',
          intentId: id,
          accountId: holder.accountId,
          livemode: holder.livemode,
          data: { transaction },
          byPayer: isPayer(holder),
        });
        return { status: 200, body: { intent: await intentAfter(intents, claimed, holder), call, x402 } };
      }
      default:
        return verification satisfies never;
    }
  },
});
