import type { Outcome } from '../model/decision.ts';
import type { Command } from '../model/input.ts';
import type { IntentStatus, PaymentIntent } from '../model/intent.ts';
import { refusalAtLimit } from '../model/limits.ts';
import { refusalInProgress } from '../model/refusal.ts';
import { liveSubmission } from '../model/submission.ts';
import type { Draft } from './draft.ts';
import { expireNow } from './expiring.ts';
import { accept, refuse, refuseWith } from './outcome.ts';

type Path = readonly IntentStatus[];

/** From each state, the states that a simulation passes through to each target. Other targets cannot be simulated. */
const PATHS: Partial<Record<IntentStatus, Partial<Record<IntentStatus, Path>>>> = {
  created: {
    pending: ['pending'],
    confirmed: ['pending', 'confirmed'],
    finalized: ['pending', 'confirmed', 'finalized'],
    failed: ['pending', 'failed'],
    expired: ['expired'],
    cancelled: ['cancelled'],
  },
  pending: {
    created: ['created'],
    confirmed: ['confirmed'],
    finalized: ['confirmed', 'finalized'],
    failed: ['failed'],
    expired: ['expired'],
  },
  confirmed: { finalized: ['finalized'] },
};

/**
 * `simulate`: in test mode, the events that the chain or the clock would cause. The intent is marked as simulated: its
 * payment is not on chain.
 */
export const simulate = (
  intent: PaymentIntent,
  command: Extract<Command, { type: 'simulate' }>,
  draft: Draft,
): Outcome => {
  const { targetState } = command.data;
  if (command.livemode)
    return refuse(
      intent,
      'api_key.test_mode_required',
      'Simulation is available in test mode only: use a test API key.',
    );
  if (targetState === intent.status) return accept(intent.id);
  const path = PATHS[intent.status]?.[targetState];
  if (path === undefined)
    return refuse(
      intent,
      'intent.invalid_state',
      `The payment intent is ${intent.status}, from where ${targetState} cannot be simulated.`,
    );
  if (intent.status === 'created' && liveSubmission(intent) !== undefined) return refuseWith(refusalInProgress(intent));

  const limit = refusalAtLimit(intent, 'change');
  if (limit !== null) return refuseWith(limit);

  let current = intent;
  for (const state of path) current = step(current, state, command, draft);
  return accept(intent.id);
};

const step = (
  intent: PaymentIntent,
  to: IntentStatus,
  command: Extract<Command, { type: 'simulate' }>,
  draft: Draft,
): PaymentIntent => {
  const hash = intent.txSignature ?? command.data.hash;
  const fulfiller = intent.fulfiller ?? command.data.fulfiller;
  const simulated = true;
  switch (to) {
    case 'created':
      return draft.append(intent.id, 'intent.retry_required', { hash, proof: 'simulated', simulated });
    case 'pending':
      return draft.append(intent.id, 'intent.pending', { hash, fulfiller, simulated });
    case 'confirmed':
      return draft.append(intent.id, 'intent.confirmed', { hash, fulfiller, landing: null, late: null, simulated });
    case 'finalized':
      return draft.append(intent.id, 'intent.finalized', { hash, landing: null, simulated });
    case 'failed':
      return draft.append(intent.id, 'intent.failed', { hash, reason: 'simulated', simulated });
    case 'expired':
      return expireNow(intent, draft, simulated);
    case 'cancelled':
      return draft.append(intent.id, 'intent.cancelled', { cause: 'simulated' });
    default:
      return to satisfies never;
  }
};
