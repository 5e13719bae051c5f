import { encodeInput, partitionOf } from '@pf/contracts';
import type { Observation } from '@pf/domain';
import { LogUnavailableError, type NewRecord, type Publisher } from '@pf/event-log';
import { BackOff, currentTrace, inSpan, SpanKind, type Logger } from '@pf/runtime';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Each observation begins a trace of its own: nobody asked for it. */
const send = (publisher: Publisher, observation: Observation): Promise<void> =>
  inSpan(`observe ${observation.type}`, null, () => publisher.publish('chain.observations', recordOf(observation)), {
    kind: SpanKind.PRODUCER,
    attributes: { 'intent.id': observation.intentId, 'transaction.hash': observation.data.hash },
  });

const recordOf = (observation: Observation): NewRecord => ({
  partition: partitionOf(observation.intentId),
  key: observation.intentId,
  value: encodeInput({ ...observation, trace: { ...currentTrace(), requestId: null } }),
});

/**
 * Sends what a step saw, to the partitions of its intents, again and again until the log has acknowledged all of it.
 * @param ended gives up, at the next try
 * @param onTry called for each try that failed
 * @returns false where it was given up: what was seen must be looked for again
 */
export async function publishObservations(publisher: Publisher, observations: readonly Observation[], ended: AbortSignal, log: Logger, onTry: () => void): Promise<boolean> {
  const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  for (let waiting = observations; waiting.length > 0; ) {
    const results = await Promise.allSettled(waiting.map((observation) => send(publisher, observation)));
    const failures = results.filter((result) => result.status === 'rejected').map(({ reason }) => (reason instanceof Error ? reason : new Error(String(reason))));
    const fatal = failures.find((error) => !(error instanceof LogUnavailableError));
    if (fatal !== undefined) throw fatal;
    waiting = waiting.filter((_, at) => results[at]?.status === 'rejected');
    if (waiting.length === 0) break;
    onTry();
    log.warn({ err: failures[0], observations: waiting.length }, 'the log is away: observations wait');
    if (ended.aborted) return false;
    await backOff.wait(ended);
  }
  return true;
}
