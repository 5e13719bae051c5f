import {
  type CreatePaymentLinkRequest,
  createPaymentLinkRequest,
  emptyRequest,
  isPaymentLinkId,
  listPaymentLinksQuery,
  OPERATIONS,
  type RequestIssue,
  type ShownOffer,
  type ShownPaymentLink,
  writeCursor,
} from '@pf/contracts';
import {
  answerOnce,
  cancelPaymentLink as cancel,
  createPaymentLink as create,
  type Database,
  findPaymentLink,
  type Keyring,
  listPaymentLinks as findLinks,
  type PaymentLink,
  shownLink,
} from '@pf/database';
import { networkOf } from '@pf/chains';
import { bytesOfJson, pageOf, positionOf, readBody, readQuery } from '@pf/http';
import type { Request } from 'express';
import { ApiError, validationFailed } from '../api-error.ts';
import { type Holder, seesSecrets } from '../api-keys.ts';
import type { ClientSecrets } from '../client-secrets.ts';
import { differencesOf, replayedBody, termsAt } from '../differences.ts';
import type { Endpoint } from '../endpoint.ts';
import { requireCleanWallets, type ScreeningDependencies } from '../intents/clean-wallets.ts';
import { requirePayByAmount } from '../intents/by-amount.ts';
import { requireAcceptable, resolveIntent } from '../intents/create.ts';
import type { Adapters } from '../intents/lookup.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { LinkTurns } from '../limits/link-turns.ts';
import { requirePlan } from '../plans.ts';
import { admitUnlessAnswered, readKeyedBody, REPLAYED, requestKey } from '../idempotency.ts';
import { wake, type Wakes } from '../webhooks/wake.ts';

interface Dependencies {
  readonly clientSecrets: Pick<ClientSecrets, 'forPayerOfLink'>;
  readonly database: Database;
  readonly now: () => number;
}

interface CreateDependencies extends Dependencies, ScreeningDependencies {
  readonly adapters: Adapters;
  readonly keyring: Keyring;
  readonly limiter: Pick<Limiter, 'admitCreate'>;
  /** Whether intents may be paid by their amount. */
  readonly payByAmount: boolean;
}

interface CancelDependencies extends Dependencies {
  readonly turns: Pick<LinkTurns, 'run'>;
  readonly wakes: Wakes;
}

/** @throws ApiError `payment_link.not_found` for a text that cannot be the id of one */
export function linkIdOf({ params }: Request): string {
  const id = String(params['id']);
  if (!isPaymentLinkId(id)) throw new ApiError('payment_link.not_found');
  return id;
}

/** 409 for a link that is not open. @param consequence `it cannot be cancelled` */
export const notOpen = ({ id, state }: PaymentLink, consequence: string): ApiError =>
  new ApiError('payment_link.invalid_state', {
    message: `The payment link is ${state}, so ${consequence}.`,
    details: { payment_link_id: id, current_state: state },
  });

/** POST /payment-links. */
export const createPaymentLink = ({
  adapters,
  clientSecrets,
  database,
  keyring,
  limiter,
  log,
  now,
  payByAmount,
  screening,
}: CreateDependencies): Endpoint => ({
  operation: OPERATIONS.createPaymentLink,
  async handle({ holder, request, response }) {
    const body = await readKeyedBody(request, response, createPaymentLinkRequest);
    const { amount, ttlSeconds, metadata = null, idempotencyKey } = body;
    const attribution = body.attribution === 'amount' ? body.attribution : null;
    const accept = body.accept === 'at_least' ? body.accept : null;
    const at = new Date(now());
    const key = requestKey(holder, 'create-payment-link', idempotencyKey);
    const offers = await resolveOffers({ adapters, payByAmount }, body, holder);
    await admitUnlessAnswered(database, key, at, () => limiter.admitCreate(holder));
    await Promise.all(
      offers.map(({ chain, requestor }, number) =>
        atOffer(number, () =>
          requireCleanWallets(
            { adapters, screening, log },
            { chain, requestor, fulfiller: null },
            { holder, what: 'link' },
          ),
        ),
      ),
    );
    const { answer, replayed } = await answerOnce(database, keyring, key, at, async (client) => {
      const link = await create(client, holder, { amount, attribution, accept, offers, ttlSeconds, metadata }, at);
      return { paymentLink: shownLink(link) };
    });
    const { paymentLink } = answer;
    const more = clientSecrets.forPayerOfLink(paymentLink);
    if (!replayed) return { status: 201, body: { paymentLink, ...more } };
    const current = await findPaymentLink(database, holder, paymentLink.id);
    const shown = current ? shownLink(current) : paymentLink;
    const asked = {
      amount,
      ...(attribution && { attribution }),
      ...(accept && { accept }),
      offers,
      ttlSeconds,
      metadata,
    };
    const differs = differencesOf(termsOf(paymentLink), termsOf(asked));
    return { status: 200, body: replayedBody({ paymentLink: shown, ...more }, differs), headers: REPLAYED };
  },
});

/** What a repeat is compared by. */
const termsOf = ({
  amount,
  attribution = undefined,
  accept = undefined,
  offers,
  ttlSeconds,
  metadata,
}: Pick<ShownPaymentLink, 'amount' | 'attribution' | 'accept' | 'ttlSeconds' | 'metadata'> & {
  readonly offers: readonly ShownOffer[];
}) => ({
  amount,
  attribution: attribution ?? 'reference',
  accept: accept ?? 'exact',
  ttlSeconds,
  ...termsAt('offers', offers),
  ...termsAt('metadata', metadata),
});

/** GET /payment-links/{id}. */
export const getPaymentLink = ({ clientSecrets, database }: Dependencies): Endpoint => ({
  operation: OPERATIONS.getPaymentLink,
  async handle({ holder, request }) {
    const link = await findPaymentLink(database, holder, linkIdOf(request));
    if (!link) throw new ApiError('payment_link.not_found');
    const more = seesSecrets(holder) ? clientSecrets.forPayerOfLink(link) : {};
    return { status: 200, body: { paymentLink: shownLink(link), ...more } };
  },
});

/** GET /payment-links. */
export const listPaymentLinks = ({ database }: Dependencies): Endpoint => ({
  operation: OPERATIONS.listPaymentLinks,
  async handle({ holder, request }) {
    const { limit, cursor } = readQuery(request, listPaymentLinksQuery);
    const found = await findLinks(database, holder, positionOf({ cursor }), limit + 1);
    const { rows, hasMore, nextCursor } = pageOf(found, limit, writeCursor, (row) => bytesOfJson(shownLink(row)));
    return { status: 200, body: { paymentLinks: rows.map(shownLink), hasMore, nextCursor } };
  },
});

/** POST /payment-links/{id}/cancel. The keeper cancels what is open of it. */
export const cancelPaymentLink = ({ database, now, turns, wakes }: CancelDependencies): Endpoint => ({
  operation: OPERATIONS.cancelPaymentLink,
  async handle({ holder, request, response }) {
    const id = linkIdOf(request);
    await readBody(request, response, emptyRequest);
    const cancelled = await turns.run(id, () => cancel(database, holder, id, new Date(now())));
    if (!cancelled) throw new ApiError('payment_link.not_found');
    const { link, deliveries } = cancelled;
    if (link.state !== 'cancelled') throw notOpen(link, 'it cannot be cancelled');
    for (const { endpointId } of deliveries) wake(wakes, endpointId);
    return { status: 200, body: { paymentLink: shownLink(link) } };
  },
});

/**
 * Resolves each offer on its chain, as the intent that pays it will be.
 * @throws ApiError with the path of the field: `offers.0.requestor`
 */
async function resolveOffers(
  { adapters, payByAmount }: Pick<CreateDependencies, 'adapters' | 'payByAmount'>,
  { amount, attribution, accept, offers, ttlSeconds }: CreatePaymentLinkRequest,
  holder: Holder,
): Promise<readonly ShownOffer[]> {
  const resolved = await Promise.all(
    offers.map((offer, number) =>
      atOffer(number, () => {
        const asked = { ...offer, amount, attribution, accept, direction: 'request', ttlSeconds } as const;
        const data = resolveIntent(adapters, asked, holder.livemode);
        if (data.attribution === 'amount') requirePayByAmount({ payByAmount }, data);
        requireAcceptable(data);
        const { chain, token, tokenAddress, requestor } = data;
        requirePlan(holder, { network: networkOf(chain), ttlSeconds });
        return { chain, token, tokenAddress, requestor };
      }),
    ),
  );
  const number = resolved.findIndex((offer, index) =>
    resolved.slice(0, index).some((other) => JSON.stringify(other) === JSON.stringify(offer)),
  );
  if (number >= 0)
    throw validationFailed([{ param: `offers.${number}`, message: `offers.${number} repeats an earlier offer` }]);
  return resolved;
}

/** What all offers have in common. */
const OF_THE_LINK: readonly string[] = ['amount', 'attribution', 'accept'];

/** Does something for an offer; an error that names one of its fields then names it in the request. */
async function atOffer<Result>(number: number, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError && error.param !== null && !OF_THE_LINK.includes(error.param))
      throw located(number, error);
    throw error;
  }
}

function located(number: number, error: ApiError): ApiError {
  const at = `offers.${number}.`;
  if (error.code !== 'request.validation_failed')
    return new ApiError(error.code, {
      message: error.message,
      param: `${at}${error.param}`,
      details: error.details,
      cause: error,
    });
  const issues = error.details?.['issues'] as readonly RequestIssue[];
  const [first, ...others] = issues.map(({ param, message }) =>
    OF_THE_LINK.includes(param) ? { param, message } : { param: `${at}${param}`, message: `${at}${message}` },
  );
  return first ? validationFailed([first, ...others]) : error;
}
