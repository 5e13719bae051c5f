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
import { type Database, findIntentByKey, type KeyHolder } from '@pf/database';
import { type Address, type CreateData, view } from '@pf/domain';
import { ApiError, validationFailed } from '../api-error.ts';
import { readBody } from '../body.ts';
import type { Commands } from '../commands.ts';
import type { Answer, Endpoint } from '../endpoint.ts';
import { requirePlan } from '../plans.ts';
import { readAmount } from './amount.ts';
import { requireCleanWallets, type ScreeningDependencies } from './clean-wallets.ts';
import { requireToken, resolveAdapter } from './destination.ts';
import { type Adapters, answeredIntent } from './lookup.ts';

/** An idempotency key is remembered this long from its first use. */
const KEY_LIFE_MS = 24 * 3_600_000;

interface Dependencies extends ScreeningDependencies {
  readonly adapters: Adapters;
  readonly commands: Commands;
  readonly database: Database;
  readonly partitions: number;
}

/** POST /intents. The hot path asks nobody but the screening and the writer: whether an idempotency key was used is the writer's to know. */
export const createIntent = (
  { adapters, commands, database, partitions, screening, log }: Dependencies,
  anywhere = new StickyPartitioner(partitions),
): Endpoint => ({
  operation: OPERATIONS.createIntent,
  async handle({ holder, request, response }) {
    const body = await readBody(request, response, createIntentRequest);
    let data: CreateData;
    try {
      data = resolve(adapters, body, holder.livemode);
      requirePlan(holder, { family: networkOf(data.chain).family, ttlSeconds: data.ttlSeconds });
      await requireCleanWallets({ screening, log }, data, { holder, what: 'create' });
    } catch (error) {
      // A used key answers with its intent, whatever the body, the plan and the screening say now; a field that is wrong is wrong.
      if (error instanceof ApiError && error.status !== 400) {
        const earlier = await earlierIntent(database, body, holder);
        if (earlier) return earlier;
      }
      throw error;
    }
    const { accountId, livemode } = holder;
    const { idempotencyKey } = data;
    const partition =
      idempotencyKey === null ? anywhere.next() : partitionOfKey(accountId, livemode, idempotencyKey, partitions);
    const accepted = await commands.require({
      type: 'create',
      intentId: newIntentId(partition),
      accountId,
      livemode,
      data,
    });
    return answer(accepted.replayed, { intent: await answeredIntent(database, accepted, holder) });
  },
});

const answer = (replayed: boolean, body: object): Answer =>
  replayed ? { status: 200, body, headers: { 'Idempotent-Replayed': 'true' } } : { status: 201, body };

async function earlierIntent(
  database: Database,
  { idempotencyKey }: CreateIntentRequest,
  holder: KeyHolder,
): Promise<Answer | null> {
  if (idempotencyKey === undefined) return null;
  const intent = await findIntentByKey(database, idempotencyKey, holder, Date.now() - KEY_LIFE_MS);
  return intent && answer(true, { intent: view(intent) });
}

/**
 * Everything that is made of the request and its chain: canonical addresses, the token, base units, a new reference.
 * @throws ApiError `chain.not_available`, `token.not_available`, or `request.validation_failed` with all that is wrong
 */
function resolve(adapters: Adapters, body: CreateIntentRequest, livemode: boolean): CreateData {
  const adapter = resolveAdapter(adapters, body.chain, livemode);
  const token = requireToken(adapter, body.token);
  const issues: RequestIssue[] = [];
  const take = <T>(param: string, parsed: Parsed<T>): T | null => {
    if (parsed.ok) return parsed.value;
    issues.push({ param, message: `${param} ${parsed.problem}` });
    return null;
  };
  const amountBaseUnits = take('amount', readAmount(body.amount, token));
  const requestor = take('requestor', adapter.parseAddress(body.requestor));
  const fulfiller = take('fulfiller', parseFulfiller(adapter, body, requestor));
  const [first, ...others] = issues;
  if (first) throw validationFailed([first, ...others]);
  // Nothing is wrong, so nothing is null but a fulfiller that was not given.
  if (amountBaseUnits === null || requestor === null) throw new Error('a create was resolved in part');
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
    reference: adapter.newReference(),
    ttlSeconds: body.ttlSeconds,
    metadata: body.metadata ?? null,
  };
}

function parseFulfiller(
  adapter: ChainAdapter,
  { fulfiller, direction }: CreateIntentRequest,
  requestor: Address | null,
): Parsed<Address | null> {
  if (fulfiller === undefined || fulfiller === null)
    return direction === 'send'
      ? { ok: false, problem: 'is required when direction is "send": it is the wallet that pays' }
      : { ok: true, value: null };
  const parsed = adapter.parseAddress(fulfiller);
  return parsed.ok && parsed.value === requestor
    ? { ok: false, problem: 'must be another wallet than the requestor' }
    : parsed;
}
