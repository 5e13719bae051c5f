import {
  chooseOfferRequest,
  newIntentId,
  OPERATIONS,
  randomPartition,
  type ShownOffer,
  TTL_SECONDS,
} from '@pf/contracts';
import {
  chooseOffer as choose,
  type Database,
  type IntentQueries,
  type PaymentLink,
  type ReservedAmounts,
} from '@pf/database';
import { type CreateData, type IntentId, type PublicIntent, view } from '@pf/domain';
import { readBody } from '@pf/http';
import { ApiError, validationFailed } from '../api-error.ts';
import { type Holder, isPayer } from '../api-keys.ts';
import type { ClientSecrets } from '../client-secrets.ts';
import type { Commands } from '../commands.ts';
import type { Endpoint } from '../endpoint.ts';
import { withReservedAmount } from '../intents/by-amount.ts';
import { requireCleanWallets, type ScreeningDependencies } from '../intents/clean-wallets.ts';
import { resolveIntent } from '../intents/create.ts';
import { type Adapters, intentAfter } from '../intents/lookup.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { LinkTurns } from '../limits/link-turns.ts';
import { linkIdOf, notOpen } from './payment-links.ts';

interface Dependencies extends ScreeningDependencies {
  readonly adapters: Adapters;
  readonly amounts: Pick<ReservedAmounts, 'reserve'>;
  readonly clientSecrets: Pick<ClientSecrets, 'forPayer'>;
  readonly commands: Commands;
  readonly database: Database;
  readonly intents: IntentQueries;
  readonly limiter: Pick<Limiter, 'admitChoice' | 'admitCreate'>;
  readonly now: () => number;
  readonly partitions: number;
  /** Whether intents may be paid by their amount. */
  readonly payByAmount: boolean;
  readonly turns: Pick<LinkTurns, 'run'>;
}

/**
 * POST /payment-links/{id}/choose. The id of the intent is in Postgres before the intent is created, and a create with
 * an id that exists returns its intent: so an offer has one, whoever asks, and however often.
 */
export const chooseOffer = (dependencies: Dependencies): Endpoint => ({
  operation: OPERATIONS.chooseOffer,
  async handle({ holder, request, response }) {
    const { clientSecrets, database, intents, limiter, now, partitions, turns } = dependencies;
    const id = linkIdOf(request);
    const { offer } = await readBody(request, response, chooseOfferRequest);
    if (!isPayer(holder)) await limiter.admitCreate(holder);
    const choice = await choose(
      database,
      holder,
      { id, offer, newIntentId: newIntentId(randomPartition(partitions)), at: new Date(now()) },
      (work) => turns.run(id, work),
    );
    if (!choice) throw new ApiError('payment_link.not_found');
    if (choice.kind === 'ended') throw notOpen(choice.link, 'nothing of it can be chosen');
    if (choice.kind === 'too_many')
      throw new ApiError('payment_link.limit_reached', { details: { payment_link_id: id, max: choice.max } });
    const { link } = choice;
    const chosen = link.offers[offer];
    if (choice.kind === 'no_such_offer' || !chosen)
      throw validationFailed([
        { param: 'offer', message: `offer must be a whole number from 0 to ${link.offers.length - 1}` },
      ]);
    const { intentId } = choice;
    const known = choice.isNew ? null : await intents.findIntent(intentId, holder);
    const intent = known ? view(known) : await begin(dependencies, holder, link, chosen, intentId);
    return { status: 200, body: { intent, ...clientSecrets.forPayer(intent) } };
  },
});

/** Creates the intent that pays an offer. */
async function begin(
  dependencies: Dependencies,
  holder: Holder,
  link: PaymentLink,
  offer: ShownOffer,
  intentId: IntentId,
): Promise<PublicIntent> {
  const { adapters, commands, intents, limiter, log, now, payByAmount, screening } = dependencies;
  // The request before it failed, and the link has ended since.
  if (link.state !== 'open' || now() >= link.expiresAt) throw notOpen(link, 'nothing of it can be chosen');
  if (isPayer(holder)) await limiter.admitChoice(holder);
  const asked = intentOf(adapters, link, offer, holder.livemode, now());
  // Tokens and sanctions may have changed since the link was created.
  await requireCleanWallets({ adapters, screening, log }, asked, { holder, what: 'create' });
  // Where the operator has switched it off since, or all amounts are reserved, its reference still pays it.
  const attribution = payByAmount ? link.attribution : null;
  const reserved =
    attribution === 'amount'
      ? await withReservedAmount(dependencies, { intentId, data: { ...asked, attribution }, holder })
      : null;
  const data = reserved ?? asked;
  const { accountId, livemode } = holder;
  const command = { type: 'create', intentId, accountId, livemode, data, byPayer: isPayer(holder) } as const;
  return intentAfter(intents, await commands.require(command), holder);
}

/** It expires with the link, as exactly as an intent can. */
function intentOf(
  adapters: Adapters,
  { amount, accept, expiresAt, metadata, ttlSeconds }: PaymentLink,
  { chain, tokenAddress, requestor }: ShownOffer,
  livemode: boolean,
  now: number,
): CreateData {
  const left = Math.ceil((expiresAt - now) / 1_000);
  return resolveIntent(
    adapters,
    {
      chain,
      token: tokenAddress,
      requestor,
      amount,
      accept: accept ?? undefined,
      direction: 'request',
      ttlSeconds: Math.min(ttlSeconds, Math.max(TTL_SECONDS.min, left)),
      metadata: metadata === null ? null : { ...metadata },
    },
    livemode,
  );
}
