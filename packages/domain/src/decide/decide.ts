import type { Decision, Outcome, World } from '../model/decision.ts';
import { HeldIntentError, UnknownIntentError } from '../model/decision.ts';
import type { Instant } from '../model/ids.ts';
import type { Command, Input } from '../model/input.ts';
import { refusalOfUnavailable, refusalOfUnknown } from '../model/refusal.ts';
import { recordBuild } from './building.ts';
import { cancel } from './cancelling.ts';
import { create } from './creating.ts';
import { detect } from './detecting.ts';
import { Draft } from './draft.ts';
import { erase } from './erasing.ts';
import { expire } from './expiring.ts';
import { observe, reportTransfer } from './observing.ts';
import { accept, refuseWith } from './outcome.ts';
import { refund, settleRefunds } from './refunding.ts';
import { simulate } from './simulating.ts';
import { prepareSubmission, recordBroadcast, releaseSubmission } from './submitting.ts';
import { update } from './updating.ts';

/**
 * Decides one input (docs/reference/lifecycle.md). Pure: the same input, time and world make the same decision.
 * @param now stamped by the partition's owner; never earlier than any event in the world.
 * @param clock the owner's clock, by which an intent's time runs out. It is before `now` where an earlier owner's clock
 *   was ahead: no intent expires early for that.
 * @throws HeldIntentError for an observation or expiry that concerns an intent which this code must not touch.
 * @throws UnknownIntentError for an observation or expiry of an intent that the world does not have.
 * @throws BrokenRuleError, VersionGapError when the world contradicts itself.
 */
export const decide = (input: Input, now: Instant, world: World, clock: Instant = now): Decision => {
  const draft = new Draft(now, clock, world);
  try {
    const outcome = outcomeOf(input, draft);
    if (draft.transitions.length > 0) settleRefunds(input.intentId, draft);
    return { transitions: draft.transitions, outcome };
  } catch (error) {
    if (!(error instanceof HeldIntentError) || input.kind !== 'command') throw error;
    return { transitions: [], outcome: refuseWith(refusalOfUnavailable(input.intentId)) };
  }
};

const outcomeOf = (input: Input, draft: Draft): Outcome => {
  if (input.kind === 'command') return handleCommand(input, draft);
  const intent = draft.intent(input.intentId);
  if (intent === undefined) throw new UnknownIntentError(`${input.kind} of ${input.intentId}, which does not exist`);
  if (input.kind === 'observation') observe(intent, input, draft);
  else if (input.kind === 'erase') erase(intent, draft);
  else expire(intent, draft);
  return accept(intent.id);
};

const handleCommand = (command: Command, draft: Draft): Outcome => {
  if (command.type === 'create') return create(command, draft);
  const found = draft.intent(command.intentId);
  if (found?.accountId !== command.accountId || found.livemode !== command.livemode)
    return refuseWith(refusalOfUnknown(command.intentId));
  // No command may come between the end of an intent's time and its expiry. Observations may: a payment in time counts.
  const intent = expire(found, draft);
  switch (command.type) {
    case 'update':
      return update(intent, command, draft);
    case 'detect':
      return detect(intent, draft);
    case 'record_build':
      return recordBuild(intent, command, draft);
    case 'prepare_submission':
      return prepareSubmission(intent, command, draft);
    case 'record_broadcast':
      return recordBroadcast(intent, command, draft);
    case 'release_submission':
      return releaseSubmission(intent, command, draft);
    case 'report_transfer':
      return reportTransfer(intent, command, draft);
    case 'cancel':
      return cancel(intent, draft);
    case 'refund':
      return refund(intent, command, draft);
    case 'simulate':
      return simulate(intent, command, draft);
    default:
      return command satisfies never;
  }
};
