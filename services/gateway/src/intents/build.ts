import { isDeepStrictEqual } from 'node:util';
import type { BuildResult, ChainAdapter } from '@pf/chains';
import { type BuildIntentRequest, buildIntentRequest, type BuiltTransaction, OPERATIONS } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import {
  type ChainId,
  type IntentId,
  isAuthorization,
  isoTime,
  type Lifetime,
  liveSubmission,
  type PublicIntent,
  refusalInProgress,
  termsOf,
  type UnsignedTransaction,
  view,
} from '@pf/domain';
import { ApiError, validationFailed } from '../api-error.ts';
import { isPayer } from '../api-keys.ts';
import { readBody } from '@pf/http';
import type { Commands } from '../commands.ts';
import type { Call, Endpoint } from '../endpoint.ts';
import type { Limiter } from '../limits/limiter.ts';
import { refused, rejected } from '../refusals.ts';
import {
  type AskedSponsor,
  askFeePayer,
  type CosigningDependencies,
  hasPaymaster,
  sponsorOn,
} from '../sponsors/cosigning.ts';
import {
  type Adapters,
  findRequestedIntent,
  intentAfter,
  parseAddress,
  pathId,
  payerOf,
  requirePayable,
} from './lookup.ts';

/** If another payer's build comes first this many times, the client has to retry. */
const MAX_TRIES = 5;

interface Dependencies extends CosigningDependencies {
  readonly adapters: Adapters;
  readonly commands: Commands;
  readonly intents: IntentQueries;
  readonly limiter: Pick<Limiter, 'admitBuild' | 'admitRepeatedBuild'>;
  readonly partitions: number;
}

interface Built {
  readonly intent: PublicIntent;
  readonly transaction: BuiltTransaction;
}

/** What the payer signs, and until when it can land. */
function withExpiry(adapter: ChainAdapter, transaction: UnsignedTransaction, lifetime: Lifetime): BuiltTransaction {
  const { expiresAt, lastValidBlockHeight } = adapter.expiryOf(lifetime);
  return {
    ...transaction,
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    lastValidBlockHeight: lastValidBlockHeight === null ? null : Number(lastValidBlockHeight),
  };
}

/** POST /intents/{id}/build: the same bytes for the same payer while most of their life is left, else new ones. */
export const buildIntent = (dependencies: Dependencies): Endpoint => ({
  operation: OPERATIONS.buildIntent,
  async handle(call) {
    const { request, response } = call;
    const id = pathId(request, dependencies.partitions);
    const body = await readBody(request, response, buildIntentRequest);
    for (let tries = 1; ; tries++) {
      const built = await tryBuild(dependencies, call, id, body, tries);
      if (built) return { status: 200, body: built };
    }
  },
});

const unsponsored = (chain: ChainId): ApiError =>
  new ApiError('chain.not_available', {
    message: `No other account pays the fee of a transaction on ${chain}: build it without sponsored.`,
    param: 'sponsored',
    details: { chain },
  });

/** Why this fee payer cannot be asked for, or has to be; null where it is right. */
function feePayerProblem(
  { sponsors }: ChainAdapter,
  sponsored: boolean,
  feePayer: string | null,
  asked: AskedSponsor | null,
): string | null {
  if (feePayer === null)
    return sponsored && sponsors === 'named' && asked === null
      ? 'feePayer is required: the payer signs for the account that pays the fee. Or set a sponsor for the chain'
      : null;
  if (!sponsored) return 'feePayer is for sponsored transactions only: add sponsored';
  return sponsors === 'named' ? null : 'feePayer is not signed by the payer on this chain: leave it out';
}

/** The error for a payment that cannot be built. */
export function unbuilt(result: Exclude<BuildResult, { readonly kind: 'built' }>, id: IntentId): ApiError {
  if (result.kind === 'rejected') return rejected('payment', id, result.reason);
  const { param, reason } = result;
  return new ApiError('address.not_payable', {
    message: `The ${param} ${reason}.`,
    param,
    details: { intent_id: id, reason },
  });
}

/** @returns null if another build came first: the caller tries again with the intent as it is then */
async function tryBuild(
  dependencies: Dependencies,
  { holder: owner, request }: Pick<Call, 'holder' | 'request'>,
  id: IntentId,
  { fulfiller: requestedFulfiller, sponsored = false, feePayer: requestedFeePayer = null }: BuildIntentRequest,
  tries: number,
): Promise<Built | null> {
  const { intent, adapter, named } = await findRequestedIntent(dependencies, id, owner, requestedFulfiller);
  if (sponsored && adapter.sponsors === 'none' && !(await hasPaymaster(dependencies, adapter, owner)))
    throw unsponsored(intent.chain);
  const asked = sponsored && requestedFeePayer === null ? await sponsorOn(dependencies, adapter, owner) : null;
  const problem = feePayerProblem(adapter, sponsored, requestedFeePayer, asked);
  if (problem !== null) throw validationFailed([{ param: 'feePayer', message: problem }]);
  const namedFeePayer = requestedFeePayer === null ? null : parseAddress(adapter, 'feePayer', requestedFeePayer);
  await requirePayable(dependencies.intents, intent, owner, 'no transaction can be built');
  const fulfiller = payerOf(intent, named);
  const present = intent.build?.fulfiller === fulfiller ? intent.build : null;
  const live = liveSubmission(intent);
  // While a submitted transaction can still land, its payer gets the same bytes: new ones could pay twice.
  if (live && (isAuthorization(live) || !(present && live.sender === fulfiller)))
    throw refused(refusalInProgress(intent));
  if (present) {
    if (!live) await dependencies.limiter.admitRepeatedBuild(id, owner, request.ip);
    if (live || (await adapter.isReusable(present, intent.expiresAt)))
      return { intent: view(intent), transaction: withExpiry(adapter, present.transaction, present.lifetime) };
  }

  await dependencies.limiter.admitBuild(id, owner, request.ip);
  const result = await adapter.build({
    intentId: id,
    terms: termsOf(intent),
    direction: intent.direction,
    fulfiller,
    expiresAt: intent.expiresAt,
    sponsored,
    feePayer: asked ? await askFeePayer(dependencies, asked) : namedFeePayer,
  });
  if (asked && result.kind === 'not_payable' && result.param === 'feePayer')
    throw dependencies.sponsorCalls.refused(asked, `the account that it named ${result.reason}`);
  if (result.kind !== 'built') throw unbuilt(result, id);
  const { transaction, lifetime } = result;
  const answer = withExpiry(adapter, transaction, lifetime);
  // The wallet replaces the blockhash, so nothing is known of what it will sign.
  if (owner.scope === 'solana_pay_token') return { intent: view(intent), transaction: answer };
  const { accountId, livemode } = owner;
  const recorded = await dependencies.commands.send({
    type: 'record_build',
    intentId: id,
    accountId,
    livemode,
    data: { fulfiller, transaction, lifetime, replaces: intent.build?.version ?? null },
    byPayer: isPayer(owner),
  });
  if (recorded.kind === 'refused') {
    if (recorded.refusal.code === 'build.superseded' && tries < MAX_TRIES) return null;
    throw refused(recorded.refusal);
  }
  if (!isDeepStrictEqual(recorded.build?.transaction, transaction)) {
    // A payer signs what was built here, or what the database has: never what a reply alone says.
    if (tries < MAX_TRIES) return null;
    throw refused({
      code: 'build.superseded',
      message: 'Another transaction was built first. Build again.',
      intentId: id,
    });
  }
  return { intent: await intentAfter(dependencies.intents, recorded, owner), transaction: answer };
}
