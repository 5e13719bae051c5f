import { emptyRequest, newIntentId, OPERATIONS, partitionOf, TTL_SECONDS } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import { refusalUnlessPaid } from '@pf/domain';
import { readBody } from '@pf/http';
import { seesSecrets } from '../api-keys.ts';
import type { ClientSecrets } from '../client-secrets.ts';
import type { Commands } from '../commands.ts';
import type { Endpoint } from '../endpoint.ts';
import { requireAllowed } from '../refusals.ts';
import { requireCleanWallets, type ScreeningDependencies } from './clean-wallets.ts';
import { adapterOf, type Adapters, intentAfter, pathId, requireIntent } from './lookup.ts';

interface Dependencies extends ScreeningDependencies {
  readonly adapters: Adapters;
  readonly clientSecrets: Pick<ClientSecrets, 'forPayer'>;
  readonly commands: Commands;
  readonly intents: IntentQueries;
  readonly partitions: number;
}

/**
 * POST /intents/{id}/refund. The refund is in the original's partition, so that one writer decides both in one
 * transaction.
 */
export const refundIntent = ({
  adapters,
  clientSecrets,
  commands,
  intents,
  partitions,
  screening,
  log,
}: Dependencies): Endpoint => ({
  operation: OPERATIONS.refundIntent,
  async handle({ holder, request, response }) {
    const intentId = pathId(request, partitions);
    await readBody(request, response, emptyRequest);
    const original = await requireIntent(intents, intentId, holder);
    requireAllowed(refusalUnlessPaid(original, 'it cannot be refunded'));
    await requireCleanWallets({ adapters, screening, log }, original, { holder, what: 'refund', intentId });
    const reference = adapterOf(adapters, original).newReference();
    const data = { refundIntentId: newIntentId(partitionOf(intentId)), reference, ttlSeconds: TTL_SECONDS.default };
    const { accountId, livemode } = holder;
    const accepted = await commands.require({ type: 'refund', intentId, accountId, livemode, data });
    const refund = await intentAfter(intents, accepted, holder);
    const more = seesSecrets(holder) ? clientSecrets.forPayer(refund) : {};
    return { status: 201, body: { intent: refund, ...more } };
  },
});
