import type { ChainAdapter } from '@pf/chains';
import { newIntentId, OPERATIONS, partitionOf, refundIntentRequest, TTL_SECONDS } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import { type Address, type PaymentIntent, refusalOf, refusalUnlessPaid } from '@pf/domain';
import { readBody } from '@pf/http';
import { ApiError, validationFailed } from '../api-error.ts';
import { seesSecrets } from '../api-keys.ts';
import type { ClientSecrets } from '../client-secrets.ts';
import type { Commands } from '../commands.ts';
import type { Endpoint } from '../endpoint.ts';
import { requireAllowed } from '../refusals.ts';
import { requireCleanWallets, type ScreeningDependencies } from './clean-wallets.ts';
import { adapterOf, type Adapters, intentAfter, parseAddress, pathId, requireIntent } from './lookup.ts';

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
    const body = await readBody(request, response, refundIntentRequest);
    const original = await requireIntent(intents, intentId, holder);
    requireAllowed(refusalUnlessPaid(original, 'it cannot be refunded'));
    const adapter = adapterOf(adapters, original);
    const to = body.to === undefined ? undefined : recipientOf(adapter, original, body.to);
    // Of one that has a refund the writer says so.
    if (to === undefined && original.refundedBy === null) await requirePerson(adapter, original);
    const occasion = { holder, what: 'refund', intentId } as const;
    await requireCleanWallets({ adapters, screening, log }, original, occasion);
    if (to !== undefined) {
      const wallets = { chain: original.chain, requestor: to, fulfiller: null };
      await requireCleanWallets({ adapters, screening, log }, wallets, { ...occasion, requestorParam: 'to' });
    }
    const data = {
      refundIntentId: newIntentId(partitionOf(intentId)),
      reference: adapter.newReference(),
      ttlSeconds: TTL_SECONDS.default,
      ...(to !== undefined && { to }),
    };
    const { accountId, livemode } = holder;
    const accepted = await commands.require({ type: 'refund', intentId, accountId, livemode, data });
    const refund = await intentAfter(intents, accepted, holder);
    // An intent service of an earlier version pays whoever has paid, whatever the request says.
    if (to !== undefined && refund.requestor !== to)
      throw new ApiError('service.unavailable', {
        message: `The refund ${refund.id} pays ${refund.requestor}, not ${to}: cancel it, and try again later.`,
      });
    const more = seesSecrets(holder) ? clientSecrets.forPayer(refund) : {};
    return { status: 201, body: { intent: refund, ...more } };
  },
});

/** The address in a refund request, which the wallet that signs the refund cannot be. */
function recipientOf(adapter: ChainAdapter, { requestor }: PaymentIntent, text: string): Address {
  const to = parseAddress(adapter, 'to', text);
  if (to !== requestor) return to;
  throw validationFailed([{ param: 'to', message: 'to must not be the wallet that pays the refund' }]);
}

/**
 * A program may keep what is sent back to it. What a deposit has paid needs `to` anyway, which the writer says.
 * @throws ApiError `intent.invalid_state` if the payer is a program
 */
async function requirePerson(adapter: ChainAdapter, original: PaymentIntent): Promise<void> {
  const { fulfiller, settlement } = original;
  if (fulfiller === null || settlement?.depositId !== undefined) return;
  const problem = await adapter.refundProblem(fulfiller);
  if (problem === null) return;
  const message =
    `The wallet that paid, ${fulfiller}, ${problem}: it might keep the money. Ask the payer for an address, and ` +
    'pass it as `to`. That may be the same wallet.';
  requireAllowed(refusalOf(original, 'intent.invalid_state', message));
}
