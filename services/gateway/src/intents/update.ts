import { OPERATIONS, updateIntentRequest } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import type { CommandData, PaymentIntent } from '@pf/domain';
import { validationFailed } from '../api-error.ts';
import { readBody } from '@pf/http';
import type { Commands } from '../commands.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Limiter } from '../limits/limiter.ts';
import { requirePlan } from '../plans.ts';
import { readAmount } from './amount.ts';
import { intentAfter, pathId, requireIntent } from './lookup.ts';

interface Dependencies {
  readonly commands: Commands;
  readonly intents: IntentQueries;
  readonly limiter: Pick<Limiter, 'admitChange' | 'countSize'>;
  readonly partitions: number;
}

/** PATCH /intents/{id}. The writer compares `updatedAt` and merges the metadata; an update may change nothing. */
export const updateIntent = ({ commands, intents, limiter, partitions }: Dependencies): Endpoint => ({
  operation: OPERATIONS.updateIntent,
  async handle({ holder, request, response }) {
    const intentId = pathId(request, partitions);
    const { updatedAt, amount, ttlSeconds, metadata } = await readBody(request, response, updateIntentRequest);
    await limiter.admitChange(holder);
    const { accountId, livemode } = holder;
    const data: CommandData['update'] = {
      updatedAt: Date.parse(updatedAt),
      ...(metadata !== undefined && { metadata }),
      ...(amount !== undefined && amountOf(await requireIntent(intents, intentId, holder), amount)),
      ...(ttlSeconds !== undefined && { ttlSeconds }),
    };
    requirePlan(holder, { ttlSeconds });
    const accepted = await commands.require({ type: 'update', intentId, accountId, livemode, data });
    const intent = await intentAfter(intents, accepted, holder);
    await limiter.countSize(holder, intent.metadata);
    return { status: 200, body: { intent } };
  },
});

function amountOf(
  { decimals, token }: PaymentIntent,
  amount: string,
): Pick<CommandData['update'], 'amount' | 'amountBaseUnits'> {
  const baseUnits = readAmount(amount, { decimals, symbol: token });
  if (!baseUnits.ok) throw validationFailed([{ param: 'amount', message: `amount ${baseUnits.problem}` }]);
  return { amount, amountBaseUnits: baseUnits.value };
}
