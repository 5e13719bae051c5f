import { BrokenRuleError } from '../model/broken-rule.ts';
import type { Outcome } from '../model/decision.ts';
import type { Command } from '../model/input.ts';
import type { Draft } from './draft.ts';
import { accept } from './outcome.ts';

/** `create`: a new intent, or the one that its idempotency key made within 24 hours, whatever the new request says. */
export const create = (command: Extract<Command, { type: 'create' }>, draft: Draft): Outcome => {
  const { intentId, accountId, livemode, data } = command;
  const existing = draft.intent(intentId);
  if (existing !== undefined) {
    // Each request gets a new id: what names one that exists is the same command, delivered again, or a request for an
    // offer of a payment link, whose id was assigned before.
    if (existing.accountId !== accountId || existing.livemode !== livemode)
      throw new BrokenRuleError(`${intentId} exists and belongs to another account or mode`);
    return accept(intentId);
  }
  if (data.idempotencyKey !== null) {
    const earlier = draft.withKey(accountId, livemode, data.idempotencyKey, draft.now);
    if (earlier !== undefined) return accept(earlier.id, { replayed: true });
  }
  draft.append(intentId, 'intent.created', { ...data, accountId, livemode, refundOf: null });
  return accept(intentId);
};
