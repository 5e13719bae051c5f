import type { Answer } from '../model/decision.ts';
import type { Command } from '../model/input.ts';
import type { PaymentIntent } from '../model/intent.ts';
import { accept, refuse, refuseInProgress, refuseOutsideCreated } from './answering.ts';
import type { Draft } from './draft.ts';
import { liveSubmission } from '../model/submission.ts';

/** `record_build`: the first of several builds counts, until the gateway finds it dead or another fulfiller comes. */
export const recordBuild = (
  intent: PaymentIntent,
  command: Extract<Command, { type: 'record_build' }>,
  draft: Draft,
): Answer => {
  const { fulfiller, transaction, lifetime, replaces } = command.data;
  if (intent.status !== 'created') return refuseOutsideCreated(intent, 'built for');
  if (intent.direction === 'send' && fulfiller !== intent.fulfiller) {
    return refuse(
      intent,
      'request.validation_failed',
      'A payment intent of direction send is paid by the fulfiller it names.',
      { param: 'fulfiller' },
    );
  }
  if (fulfiller === intent.requestor) {
    return refuse(intent, 'request.validation_failed', 'The requestor cannot pay itself.', { param: 'fulfiller' });
  }

  const { build } = intent;
  const live = liveSubmission(intent);
  if (live !== undefined) {
    // Its payer may ask for the bytes again. One that never asked for any has none, and new ones might pay twice.
    return live.sender === fulfiller && build?.fulfiller === fulfiller
      ? accept(intent.id, { build })
      : refuseInProgress(intent);
  }
  if (build !== null && build.version !== replaces) {
    return build.fulfiller === fulfiller
      ? accept(intent.id, { build })
      : refuse(intent, 'build.superseded', 'Another fulfiller has built this payment intent in the meantime.');
  }
  const { build: recorded } = draft.append(intent.id, 'transaction_built', { fulfiller, transaction, lifetime });
  return recorded === null ? accept(intent.id) : accept(intent.id, { build: recorded });
};
