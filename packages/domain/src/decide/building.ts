import type { Outcome } from '../model/decision.ts';
import type { Command } from '../model/input.ts';
import type { PaymentIntent } from '../model/intent.ts';
import { RECORDED_BUILDS } from '../model/limits.ts';
import { refusalInProgress, refusalUnlessCreated } from '../model/refusal.ts';
import { isAuthorization, liveSubmission } from '../model/submission.ts';
import { payerProblem } from '../model/terms.ts';
import type { Draft } from './draft.ts';
import { accept, refuse, refuseWith } from './outcome.ts';
import { refusalOfUndoneRefund } from './refunding.ts';

/** `record_build`: the first build counts until the gateway replaces one that is dead or for another fulfiller. */
export const recordBuild = (
  intent: PaymentIntent,
  command: Extract<Command, { type: 'record_build' }>,
  draft: Draft,
): Outcome => {
  const { fulfiller, transaction, lifetime, replaces } = command.data;
  const conflict = refusalUnlessCreated(intent, 'no transaction can be built');
  if (conflict !== null) return refuseWith(conflict);
  const undone = refusalOfUndoneRefund(intent, draft);
  if (undone !== null) return refuseWith(undone);
  const problem = payerProblem(intent, fulfiller);
  if (problem !== null) return refuse(intent, 'request.validation_failed', `${problem}.`, { param: 'fulfiller' });

  const { build } = intent;
  const live = liveSubmission(intent);
  if (live !== undefined) {
    // Its payer may fetch the same bytes again. Anyone else would get new ones, and the intent could be paid twice, as
    // with a transaction beside an authorization.
    return live.sender === fulfiller && build?.fulfiller === fulfiller && !isAuthorization(live)
      ? accept(intent.id, { build })
      : refuseWith(refusalInProgress(intent));
  }
  if (build !== null && build.version !== replaces) {
    return build.fulfiller === fulfiller
      ? accept(intent.id, { build })
      : refuse(intent, 'build.superseded', 'A transaction for another fulfiller was built first. Build again.');
  }
  if (intent.version >= RECORDED_BUILDS[build?.fulfiller === fulfiller ? 'again' : 'other'])
    return accept(intent.id, { build: { version: intent.version, fulfiller, transaction, lifetime } });
  const { build: recorded } = draft.append(intent.id, 'transaction_built', { fulfiller, transaction, lifetime });
  return recorded === null ? accept(intent.id) : accept(intent.id, { build: recorded });
};
