import { networks } from '@pf/chains/networks';
import { type ChainId, type IntentEvent, type PaymentIntent, submissionOf } from '@pf/domain';
import { count, record, isRecording } from '@pf/runtime';

/** An event that was appended, and the intent after it. */
export interface Appended {
  readonly event: IntentEvent;
  readonly intent: PaymentIntent;
}

const names = new Map<ChainId, string>(networks.map(({ chain, name }) => [chain, name]));

/** Counts what was appended, and takes down how long payments took. Called once what was appended is committed. */
export function measureAppended(appended: readonly Appended[]): void {
  if (!isRecording()) return;
  for (const { event, intent } of appended) {
    const where = {
      network: names.get(intent.chain) ?? 'unknown',
      livemode: intent.livemode ? 'true' : 'false',
    } as const;
    count('payments.intent.events', { type: event.type, ...where });
    if (intent.simulated) continue;
    if (event.type === 'intent.confirmed') {
      record('payments.payment.duration', secondsBetween(intent.createdAt, event.at), where);
      // From the claim: that is when the client's submit was accepted. A wallet that sent it by itself has none.
      const submission = submissionOf(intent, event.data.hash);
      if (submission) record('payments.confirmation.duration', secondsBetween(submission.preparedAt, event.at), where);
    }
    if (event.type === 'intent.finalized' && intent.confirmedAt !== null)
      record('payments.finalization.duration', secondsBetween(intent.confirmedAt, event.at), where);
  }
}

/** Of times that the ledger has stamped: they never go back within a partition. */
const secondsBetween = (from: number, to: number): number => Math.max(0, to - from) / 1_000;
