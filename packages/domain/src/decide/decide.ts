import type { Instant } from '../model/ids.ts';
import type { Answer, Decision, World } from '../model/decision.ts';
import { UnknownIntentError } from '../model/decision.ts';
import type { Command, Input } from '../model/input.ts';
import { accept, refuseUnknown } from './answering.ts';
import { recordBuild } from './building.ts';
import { cancel } from './cancelling.ts';
import { create } from './creating.ts';
import { detect } from './detecting.ts';
import { Draft } from './draft.ts';
import { expire } from './expiring.ts';
import { observe } from './observing.ts';
import { refund, releaseEndedRefund } from './refunding.ts';
import { simulate } from './simulating.ts';
import { prepareSubmission, recordBroadcast, releaseSubmission } from './submitting.ts';
import { update } from './updating.ts';

/**
 * Decides one input (lifecycle.md). Pure: the same input, time and world make the same decision.
 * @param now stamped by the partition's writer; never earlier than any event in the world.
 * @returns the events that happen, of one intent or of a refund and its relatives, to be appended together and in this
 *   order; and what the sender of a command is told.
 * @throws UnknownIntentError for an observation or expiry of an intent that the world does not have.
 * @throws BrokenRuleError, VersionGapError when the world contradicts itself.
 */
export const decide = (input: Input, now: Instant, world: World): Decision => {
  const draft = new Draft(now, world);
  const answer = answerTo(input, draft);
  if (draft.events.length > 0) releaseEndedRefund(input.intentId, draft);
  return { events: draft.events, answer };
};

const answerTo = (input: Input, draft: Draft): Answer => {
  if (input.kind === 'command') return handleCommand(input, draft);
  const intent = draft.intent(input.intentId);
  if (intent === undefined) throw new UnknownIntentError(`${input.kind} of ${input.intentId}, which does not exist`);
  if (input.kind === 'observation') observe(intent, input, draft);
  else expire(intent, draft);
  return accept(intent.id);
};

const handleCommand = (command: Command, draft: Draft): Answer => {
  if (command.type === 'create') return create(command, draft);
  const found = draft.intent(command.intentId);
  if (found?.accountId !== command.accountId || found.livemode !== command.livemode)
    return refuseUnknown(command.intentId);
  // No command slips in between the end of an intent's time and its expiry. What the chain saw is another matter: who paid in time has paid.
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
