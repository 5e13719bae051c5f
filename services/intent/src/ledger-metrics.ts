import { networks } from '@pf/chains/networks';
import { type ChainId, submissionOf, type Transition } from '@pf/domain';
import { count, isRecordingMetrics, LATE_AFTER, LatePayments, record } from '@pf/runtime';

const names = new Map<ChainId, string>(networks.map(({ chain, name }) => [chain, name]));
/** As metrics name it. */
export const networkNameOf = (chain: ChainId): string => names.get(chain) ?? 'unknown';
const lateConfirmations = new LatePayments(LATE_AFTER.confirmed);

/** Counts events and records how long payments took. To be called once the events are committed. */
export function recordTransitions(transitions: readonly Transition[]): void {
  if (!isRecordingMetrics()) return;
  for (const { event, intent } of transitions) {
    const where = {
      network: networkNameOf(intent.chain),
      livemode: intent.livemode ? 'true' : 'false',
    } as const;
    count('payments.intent.events', { type: event.type, ...where });
    if (intent.simulated) continue;
    if (event.type === 'intent.confirmed') {
      record('payments.payment.duration', secondsBetween(intent.createdAt, event.at), where);
      // From the claim, which is when the client's submit was accepted. A wallet that broadcast by itself has none.
      const submission = submissionOf(intent, event.data.hash);
      if (submission) {
        const seconds = secondsBetween(submission.preparedAt, event.at);
        const parties = { accountId: intent.accountId, payer: submission.sender };
        const late = lateConfirmations.labelOf(where.network, seconds, parties);
        record('payments.confirmation.duration', seconds, { ...where, ...late });
      }
    }
    if (event.type === 'intent.finalized' && intent.confirmedAt !== null)
      record('payments.finalization.duration', secondsBetween(intent.confirmedAt, event.at), where);
  }
}

/** Between two times stamped by the writer, which never go back within a partition. */
const secondsBetween = (from: number, to: number): number => Math.max(0, to - from) / 1_000;
