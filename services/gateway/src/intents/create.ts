import { type ChainAdapter, networkOf, type Parsed } from '@pf/chains';
import {
  StickyPartitioner,
  type CreateIntentRequest,
  createIntentRequest,
  newIntentId,
  OPERATIONS,
  partitionOfKey,
  type RequestIssue,
} from '@pf/contracts';
import type { IntentOwner, IntentQueries, ReservedAmounts } from '@pf/database';
import {
  type Address,
  type CreateData,
  IDEMPOTENCY_WINDOW_MS,
  payerProblem,
  type PublicIntent,
  view,
} from '@pf/domain';
import { ApiError, validationFailed } from '../api-error.ts';
import type { ClientSecrets } from '../client-secrets.ts';
import type { Commands } from '../commands.ts';
import { differencesOfIntent, replayedBody } from '../differences.ts';
import type { Endpoint, EndpointResponse } from '../endpoint.ts';
import type { Limiter } from '../limits/limiter.ts';
import { requirePlan } from '../plans.ts';
import { readKeyedBody, REPLAYED } from '../idempotency.ts';
import { readAmount } from './amount.ts';
import { allReserved, requirePayByAmount, withReservedAmount } from './by-amount.ts';
import { requireCleanWallets, type ScreeningDependencies } from './clean-wallets.ts';
import { requireToken, resolveAdapter } from './destination.ts';
import { type Adapters, intentAfter } from './lookup.ts';

interface Dependencies extends ScreeningDependencies {
  readonly adapters: Adapters;
  readonly amounts: Pick<ReservedAmounts, 'reserve' | 'release'>;
  readonly clientSecrets: Pick<ClientSecrets, 'forPayer'>;
  readonly commands: Commands;
  readonly intents: IntentQueries;
  readonly limiter: Pick<Limiter, 'admitCreate'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly partitions: number;
  /** Whether intents may be paid by their amount. */
  readonly payByAmount: boolean;
}

/**
 * POST /intents. The hot path calls only the screening and the writer, which knows whether an idempotency key was used.
 */
export const createIntent = (
  dependencies: Dependencies,
  partitioner = new StickyPartitioner(dependencies.partitions),
): Endpoint => ({
  operation: OPERATIONS.createIntent,
  async handle({ holder, request, response }) {
    const { adapters, clientSecrets, commands, intents, limiter, now, partitions, screening, log } = dependencies;
    const body = await readKeyedBody(request, response, createIntentRequest);
    const respond = (replayed: boolean, intent: PublicIntent): EndpointResponse => {
      const created = { intent, ...clientSecrets.forPayer(intent) };
      if (!replayed) return { status: 201, body: created };
      const differs = differencesOfIntent(adapters, body, intent);
      return { status: 200, body: replayedBody(created, differs), headers: REPLAYED };
    };
    let data: CreateData;
    try {
      data = resolveIntent(adapters, body, holder.livemode);
      if (data.attribution === 'amount') requirePayByAmount(dependencies, data);
      requireAcceptable(data);
      requirePlan(holder, { network: networkOf(data.chain), ttlSeconds: data.ttlSeconds });
      await limiter.admitCreate(holder);
      await requireCleanWallets({ adapters, screening, log }, data, { holder, what: 'create' });
    } catch (error) {
      // A used key returns its intent, whatever the chain, the plan, the quota and the screening say now; an invalid
      // field is a 400.
      if (error instanceof ApiError && error.status !== 400) {
        const earlier = await earlierIntent(intents, body, holder, now());
        if (earlier) return respond(true, earlier);
      }
      throw error;
    }
    const { accountId, livemode } = holder;
    const { idempotencyKey } = data;
    const partition =
      idempotencyKey === null ? partitioner.next() : partitionOfKey(accountId, livemode, idempotencyKey, partitions);
    const intentId = newIntentId(partition);
    const create = (made: CreateData) =>
      commands.require({ type: 'create', intentId, accountId, livemode, data: made });
    if (data.attribution !== 'amount') {
      const accepted = await create(data);
      return respond(accepted.replayed, await intentAfter(intents, accepted, holder));
    }
    // The writer would find it, too, but what was reserved for the repeat would have to be given up.
    const earlier = await earlierIntent(intents, body, holder, now());
    if (earlier) return respond(true, earlier);
    const reserved = await withReservedAmount(dependencies, { intentId, data, holder });
    if (reserved === null) throw allReserved(data);
    const accepted = await create(reserved).catch(async (error: unknown) => {
      // It was refused, or not even sent, so no intent has it. After any other failure there may be one.
      if (error instanceof ApiError && error.status < 500) await dependencies.amounts.release(intentId);
      throw error;
    });
    if (accepted.intentId !== intentId) await dependencies.amounts.release(intentId);
    return respond(accepted.replayed, await intentAfter(intents, accepted, holder));
  },
});

async function earlierIntent(
  intents: IntentQueries,
  { idempotencyKey }: CreateIntentRequest,
  owner: IntentOwner,
  now: number,
): Promise<PublicIntent | null> {
  if (idempotencyKey === undefined) return null;
  const intent = await intents.findIntentByKey(idempotencyKey, owner, now - IDEMPOTENCY_WINDOW_MS);
  return intent && view(intent);
}

/**
 * Resolves the request on its chain: canonical addresses, token, base units, and a new reference.
 * @throws ApiError `chain.not_available`, `token.not_available`, or `request.validation_failed` with every invalid
 *   field
 */
export function resolveIntent(adapters: Adapters, body: CreateIntentRequest, livemode: boolean): CreateData {
  const adapter = resolveAdapter(adapters, body.chain, livemode);
  const token = requireToken(adapter, body.token);
  const issues: RequestIssue[] = [];
  const valueOf = <T>(param: string, parsed: Parsed<T>): T | null => {
    if (parsed.ok) return parsed.value;
    issues.push({ param, message: `${param} ${parsed.problem}` });
    return null;
  };
  const amountBaseUnits = valueOf('amount', readAmount(body.amount, token));
  const requestor = valueOf('requestor', adapter.parseAddress(body.requestor));
  const fulfiller = valueOf('fulfiller', parseFulfiller(adapter, body));
  if (requestor !== null && fulfiller !== null) {
    const problem = payerProblem({ direction: body.direction, requestor, fulfiller }, fulfiller);
    if (problem !== null) issues.push({ param: 'fulfiller', message: problem });
  }
  const [first, ...others] = issues;
  if (first) throw validationFailed([first, ...others]);
  // Without issues only an omitted fulfiller is null.
  if (amountBaseUnits === null || requestor === null) throw new Error('a create has no issues, but lacks a value');
  return {
    idempotencyKey: body.idempotencyKey ?? null,
    chain: adapter.network.chain,
    token: token.symbol,
    tokenAddress: token.address,
    decimals: token.decimals,
    amount: body.amount,
    amountBaseUnits,
    requestor,
    fulfiller,
    direction: body.direction,
    ...(body.attribution === 'amount' && { attribution: body.attribution }),
    ...(body.accept === 'at_least' && { accept: body.accept }),
    reference: adapter.newReference(),
    ttlSeconds: body.ttlSeconds,
    metadata: body.metadata ?? null,
  };
}

/**
 * More than the amount can pay only what anyone is asked to pay, and names itself: by its amount an intent is found by
 * nothing but exactly that.
 * @throws ApiError 400
 */
export function requireAcceptable({ accept, attribution, direction }: CreateData): void {
  if (accept === undefined) return;
  const of = direction !== 'request' ? 'is for direction "request"' : 'is not possible with attribution "amount"';
  if (direction !== 'request' || attribution !== undefined)
    throw validationFailed([{ param: 'accept', message: `accept "at_least" ${of}: leave it out` }]);
}

function parseFulfiller(adapter: ChainAdapter, { fulfiller, direction }: CreateIntentRequest): Parsed<Address | null> {
  if (fulfiller !== undefined && fulfiller !== null) return adapter.parseAddress(fulfiller);
  return direction === 'send'
    ? { ok: false, problem: 'is required when direction is "send": name the wallet that pays' }
    : { ok: true, value: null };
}
