import type { IntentOwner, IntentQueries } from '@pf/database';
import type { ChainAdapter } from '@pf/chains';
import { parseIntentId } from '@pf/contracts';
import {
  type Address,
  type ChainId,
  type IntentId,
  payerProblem,
  type PaymentIntent,
  type PublicIntent,
  refusalOfUnavailable,
  refusalUnlessCreated,
  refusalUnlessOriginalPaid,
  view,
} from '@pf/domain';
import type { Request } from 'express';
import { ApiError, validationFailed } from '../api-error.ts';
import type { Accepted } from '../commands.ts';
import { refused, requireAllowed } from '../refusals.ts';

export type Adapters = ReadonlyMap<ChainId, ChainAdapter>;

/** The intent id in the request's path. @throws ApiError `intent.not_found` if it cannot be the id of an intent */
export function pathId({ params }: Request, partitions: number): IntentId {
  const parsed = parseIntentId(String(params['id']), partitions);
  if (!parsed) throw new ApiError('intent.not_found');
  return parsed.id;
}

/** The current intent. @throws ApiError `intent.not_found`, also if it is another account's or of the other mode */
export async function requireIntent(intents: IntentQueries, id: IntentId, owner: IntentOwner): Promise<PaymentIntent> {
  const intent = await intents.findIntent(id, owner);
  if (!intent) throw new ApiError('intent.not_found');
  return intent;
}

/** Refuses what cannot be decided about an intent that newer code has changed. @throws ApiError 503 */
export function requireDecidable({ id, heldFrom }: PaymentIntent): void {
  if (heldFrom !== undefined) throw refused(refusalOfUnavailable(id));
}

/**
 * Refuses early what the writer would refuse: an intent that is not `created`, and a refund of an undone payment.
 * @param consequence `it cannot be paid`
 * @throws ApiError 409
 */
export async function requirePayable(
  intents: IntentQueries,
  intent: PaymentIntent,
  owner: IntentOwner,
  consequence: string,
): Promise<void> {
  requireDecidable(intent);
  requireAllowed(refusalUnlessCreated(intent, consequence));
  if (intent.refundOf !== null)
    requireAllowed(refusalUnlessOriginalPaid(intent, await requireIntent(intents, intent.refundOf, owner)));
}

/** The intent for the response: right after the command or, if the outcome was read from the database, as it is now. */
export async function intentAfter(
  intents: IntentQueries,
  { intent, intentId }: Pick<Accepted, 'intent' | 'intentId'>,
  owner: IntentOwner,
): Promise<PublicIntent> {
  return intent ?? view(await requireIntent(intents, intentId, owner));
}

/**
 * The adapter of an intent's chain.
 * @throws ApiError `chain.not_available` if its upstreams are no longer configured
 */
export function adapterOf(adapters: Adapters, { chain }: PaymentIntent): ChainAdapter {
  const adapter = adapters.get(chain);
  if (!adapter)
    throw new ApiError('chain.not_available', {
      message: `The chain ${chain} is not available at the moment.`,
      param: 'chain',
      details: { chain },
    });
  return adapter;
}

/** A wallet's address in its canonical form. @throws ApiError `request.validation_failed` for `param` */
export function parseAddress(adapter: ChainAdapter, param: string, text: string): Address {
  const parsed = adapter.parseAddress(text);
  if (!parsed.ok) throw validationFailed([{ param, message: `${param} ${parsed.problem}` }]);
  return parsed.value;
}

/** The intent of a build or submit request. */
export interface RequestedIntent {
  /** The current intent. */
  readonly intent: PaymentIntent;
  readonly adapter: ChainAdapter;
  /** The fulfiller that the request names, if any. */
  readonly named: Address | null;
}

/**
 * @param param the field that names the fulfiller
 * @throws ApiError `intent.not_found`, `chain.not_available` or `request.validation_failed`
 */
export async function findRequestedIntent(
  { adapters, intents }: { readonly adapters: Adapters; readonly intents: IntentQueries },
  id: IntentId,
  owner: IntentOwner,
  fulfiller: string | null | undefined,
  param = 'fulfiller',
): Promise<RequestedIntent> {
  const intent = await requireIntent(intents, id, owner);
  const adapter = adapterOf(adapters, intent);
  return {
    intent,
    adapter,
    named: fulfiller === undefined || fulfiller === null ? null : parseAddress(adapter, param, fulfiller),
  };
}

/**
 * The wallet that is to pay: the fulfiller that the request names, else the intent's own.
 * @throws ApiError `request.validation_failed` if there is none, or if it may not pay this intent
 */
export function payerOf(intent: PaymentIntent, named: Address | null): Address {
  const fulfiller = named ?? intent.fulfiller;
  const problem = payerProblem(intent, fulfiller);
  if (problem !== null || fulfiller === null)
    throw validationFailed([{ param: 'fulfiller', message: problem ?? 'fulfiller is required' }]);
  return fulfiller;
}
