import type { Answer } from '../model/decision.ts';
import type { EventData } from '../model/event.ts';
import type { Command, CommandData } from '../model/input.ts';
import type { Metadata, PaymentIntent } from '../model/intent.ts';
import { accept, refuse, refuseState } from './answering.ts';
import type { Draft } from './draft.ts';
import { isoTime } from '../model/view.ts';

/** spec.md part 8. */
const MAX_METADATA_KEYS = 20;

/** `update`: metadata in any state, amount and time-to-live until something was built or submitted on them. */
export const update = (intent: PaymentIntent, command: Extract<Command, { type: 'update' }>, draft: Draft): Answer => {
  const { updatedAt, metadata, amount, amountBaseUnits, ttlSeconds } = command.data;
  if (updatedAt !== intent.updatedAt) {
    return refuse(
      intent,
      'intent.stale_update',
      'The payment intent has changed since: fetch it and try again with its updatedAt.',
      {
        details: { current_updated_at: isoTime(intent.updatedAt) },
      },
    );
  }
  const termsChange = amount !== undefined || ttlSeconds !== undefined;
  if (termsChange && !areTermsOpen(intent))
    return refuseState(intent, 'given another amount or ttlSeconds once a transaction was built or submitted');
  if (ttlSeconds !== undefined && intent.createdAt + ttlSeconds * 1000 <= draft.now) {
    return refuse(intent, 'request.validation_failed', 'ttlSeconds counts from createdAt and would end in the past.', {
      param: 'ttlSeconds',
    });
  }
  const merged = metadata === undefined ? intent.metadata : merge(intent.metadata, metadata);
  if (merged !== null && Object.keys(merged).length > MAX_METADATA_KEYS) {
    return refuse(intent, 'request.validation_failed', `metadata would hold more than ${MAX_METADATA_KEYS} keys.`, {
      param: 'metadata',
    });
  }
  const change: EventData['intent.updated'] = {
    ...(sameMetadata(intent.metadata, merged) ? {} : { metadata: merged }),
    ...(amount === undefined || amountBaseUnits === undefined || amount === intent.amount
      ? {}
      : { amount, amountBaseUnits }),
    ...(ttlSeconds === undefined || ttlSeconds === intent.ttlSeconds ? {} : { ttlSeconds }),
  };
  if (Object.keys(change).length > 0) draft.append(intent.id, 'intent.updated', change);
  return accept(intent.id);
};

/** Nobody can have signed for the present amount yet, not even in a simulation. */
const areTermsOpen = (intent: PaymentIntent): boolean =>
  intent.status === 'created' && !intent.retryRequired && intent.build === null && intent.submissions.length === 0;

/** Key by key; null removes a key, null alone removes all. */
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
