import type { Outcome } from '../model/decision.ts';
import type { EventData } from '../model/event.ts';
import type { Command, CommandData } from '../model/input.ts';
import type { Metadata, PaymentIntent } from '../model/intent.ts';
import { refusalAtLimit } from '../model/limits.ts';
import { isoTime } from '../model/view.ts';
import type { Draft } from './draft.ts';
import { accept, refuse, refuseWith } from './outcome.ts';

const MAX_METADATA_KEYS = 20;

/** `update`: metadata in any state; amount and ttlSeconds until a transaction was built or submitted. */
export const update = (intent: PaymentIntent, command: Extract<Command, { type: 'update' }>, draft: Draft): Outcome => {
  const { updatedAt, metadata, amount, amountBaseUnits, ttlSeconds } = command.data;
  if (updatedAt !== intent.updatedAt) {
    const current = isoTime(intent.updatedAt);
    return refuse(
      intent,
      'intent.stale_update',
      `The payment intent has changed: its updatedAt is ${current}. Fetch it and try again with its current updatedAt.`,
      { details: { current_updated_at: current } },
    );
  }
  const termsChange = amount !== undefined || ttlSeconds !== undefined;
  if (termsChange && !areTermsOpen(intent))
    return refuse(
      intent,
      'intent.invalid_state',
      'amount and ttlSeconds can change only while the payment intent is created and nothing was built or submitted.',
    );
  if (termsChange && intent.attribution === 'amount')
    return refuse(
      intent,
      'intent.invalid_state',
      'The amount of this payment intent is reserved for it until a time, so amount and ttlSeconds stay as they are. ' +
        'Cancel it and create another one.',
    );
  if (ttlSeconds !== undefined && intent.createdAt + ttlSeconds * 1000 <= draft.now) {
    const message = `ttlSeconds counts from createdAt: with ${ttlSeconds}, expiresAt would be in the past.`;
    return refuse(intent, 'request.validation_failed', message, { param: 'ttlSeconds' });
  }
  if (metadata !== undefined && intent.erasedAt !== undefined)
    return refuse(
      intent,
      'intent.invalid_state',
      'The personal data of the payment intent was erased, so its metadata cannot be set again. Leave metadata out.',
    );
  const merged = metadata === undefined ? intent.metadata : merge(intent.metadata, metadata);
  if (merged !== null && Object.keys(merged).length > MAX_METADATA_KEYS) {
    const keys = Object.keys(merged).length;
    const message = `metadata can have at most ${MAX_METADATA_KEYS} keys; merged, it would have ${keys}.`;
    return refuse(intent, 'request.validation_failed', message, { param: 'metadata' });
  }
  const change: EventData['intent.updated'] = {
    ...(sameMetadata(intent.metadata, merged) ? {} : { metadata: merged }),
    ...(amount === undefined || amountBaseUnits === undefined || amount === intent.amount
      ? {}
      : { amount, amountBaseUnits }),
    ...(ttlSeconds === undefined || ttlSeconds === intent.ttlSeconds ? {} : { ttlSeconds }),
  };
  if (Object.keys(change).length === 0) return accept(intent.id);
  const limit = refusalAtLimit(intent, 'change');
  if (limit !== null) return refuseWith(limit);
  draft.append(intent.id, 'intent.updated', change);
  return accept(intent.id);
};

/** True while no transaction over the current amount can exist, not even a simulated one. */
const areTermsOpen = (intent: PaymentIntent): boolean =>
  intent.status === 'created' && !intent.retryRequired && intent.build === null && intent.submissions.length === 0;

/** Merges key by key. A null value removes its key; null in place of the map removes all. */
const merge = (
  present: Metadata | null,
  patch: NonNullable<CommandData['update']['metadata']> | null,
): Metadata | null => {
  if (patch === null) return null;
  const merged = new Map(Object.entries(present ?? {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return present === null && merged.size === 0 ? null : Object.fromEntries(merged);
};

const sameMetadata = (one: Metadata | null, other: Metadata | null): boolean => {
  if (one === null || other === null) return one === other;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && other[key] === one[key])
  );
};
