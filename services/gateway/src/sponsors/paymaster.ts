import { OPERATIONS, paymasterRequest } from '@pf/contracts';
import {
  type Database,
  GAS_PROMISES_MAX,
  type IntentQueries,
  type PromiseKind,
  returnGasPromise,
  takeGasPromise,
} from '@pf/database';
import { type IntentId, liveSubmission, refusalInProgress, termsOf } from '@pf/domain';
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
  readonly database: Database;
  readonly intents: IntentQueries;
  readonly limiter: Pick<Limiter, 'admitBuild'>;
  readonly now: () => number;
  readonly partitions: number;
}

/** What its answers count as. */
const KIND_OF = { pm_getPaymasterStubData: 'stubs', pm_getPaymasterData: 'promises' } as const;

/**
 * POST /intents/{id}/paymaster: has the account's paymaster promise to pay the gas of a smart account. It hears of
 * nothing but operations that would pay this intent now, at a price of the chain, and of few of them: what an account
 * does in the end is decided by its code, which is its owner's. Nothing is claimed: the wallet sends the operation by
 * itself, and the watcher finds the payment.
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
    const { call, differences, excess, judge, sender } = operation.value;
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
    const result = await counted(dependencies, id, KIND_OF[method], async () => {
      const judgment = await judge(termsOf(intent));
      if (judgment === null)
        throw new ApiError('rpc.unavailable', {
          message:
            `The operation could not be simulated, so no gas is paid for it: no RPC provider of ${network.name} that ` +
            'responds has the method eth_simulateV1. Send it without a paymaster.',
          details: { chain: network.chain },
        });
      if (judgment.kind === 'rejected') throw rejected('operation', id, judgment.reason);
      return sponsorCalls.ask({ sponsor, holder, network }, call(sponsor.context), (promised) => promised);
    });
    return { status: 200, body: { jsonrpc, id: callId, result } };
  },
});

/** Counts an answer of the paymaster for good. Only what the payer gets counts: no one has any other promise. */
async function counted<T>(
  { database, now }: Pick<Dependencies, 'database' | 'now'>,
  id: IntentId,
  kind: PromiseKind,
  answer: () => Promise<T>,
): Promise<T> {
  if (!(await takeGasPromise(database, id, kind, new Date(now()))))
    throw new ApiError('intent.limit_reached', {
      message:
        `The sponsor was asked for this payment intent as often as it may be: ${GAS_PROMISES_MAX} times. Pay the gas ` +
        'yourself, or ask for another payment intent.',
      details: { intent_id: id, limit: kind, max: GAS_PROMISES_MAX },
    });
  try {
    return await answer();
  } catch (error) {
    // If this fails, too, there is one promise less.
    await returnGasPromise(database, id, kind);
    throw error;
  }
}
