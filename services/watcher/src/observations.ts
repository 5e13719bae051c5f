import { encodeObservation, partitionOf } from '@pf/contracts';
import type { ChainId, DepositId, DepositObservation, IntentId, Observation } from '@pf/domain';
import { LogUnavailableError, type NewRecord, type Publisher } from '@pf/event-log';
import { BackOff, count, currentTrace, inSpan, type Logger, OpenSpan, SpanKind, type TraceContext } from '@pf/runtime';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));
/** What the log refuses because of what it is, such as its size: it would otherwise stop all others of its network. */
const isBad = (error: Error): boolean => error instanceof RangeError;

/** What a watcher tells the writer, and of what. */
type Told = Observation | DepositObservation;
const subjectOf = (told: Told): IntentId | DepositId => (told.kind === 'deposit' ? told.depositId : told.intentId);
/** For spans and logs. */
const nameOf = (told: Told): Readonly<Record<string, string>> =>
  told.kind === 'deposit' ? { depositId: told.depositId } : { intentId: told.intentId };
const hashOf = ({ data }: Told): string => ('hash' in data ? data.hash : data.arrival.hash);

/** The observations of one step. */
export interface Seen {
  /** The network's name. */
  readonly network: string;
  readonly chain: ChainId;
  /** Signs them as those of this network; null: they are not signed. */
  readonly key: Uint8Array | null;
  readonly observations: readonly Told[];
  /** When the step began, by performance.now(). */
  readonly began: number;
  /** The trace in which an intent was last processed; null: its observation begins a new one. */
  readonly traceOf: (intentId: IntentId) => TraceContext | null;
}

/** As whom a watcher writes. */
type Author = Pick<Seen, 'chain' | 'key'>;

/** The observation is a span in the payment's trace, linked to the step that observed it. */
const send = (
  publisher: Publisher,
  { network, chain, key }: Seen,
  observation: Told,
  parent: TraceContext | null,
  step: OpenSpan,
): Promise<void> =>
  inSpan(`observe ${observation.type}`, parent, () => publish(publisher, observation, { chain, key }), {
    links: [step.trace],
    attributes: {
      'payments.network': network,
      ...(observation.kind === 'deposit'
        ? { 'payments.deposit.id': observation.depositId }
        : { 'payments.intent.id': observation.intentId }),
      'payments.transaction.hash': hashOf(observation),
      ...('level' in observation.data && { 'payments.finality': observation.data.level }),
    },
  });

const publish = (publisher: Publisher, observation: Told, by: Author): Promise<void> =>
  inSpan('send chain.observations', null, () => publisher.publish('chain.observations', recordOf(observation, by)), {
    kind: SpanKind.PRODUCER,
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'chain.observations',
      'messaging.destination.partition.id': String(partitionOf(subjectOf(observation))),
    },
  });

const recordOf = (observation: Told, { chain, key }: Author): NewRecord => ({
  partition: partitionOf(subjectOf(observation)),
  key: subjectOf(observation),
  value: encodeObservation({ ...observation, chain, trace: { ...currentTrace(), requestId: null } }, key),
});

/**
 * Publishes a step's observations to the partitions of their intents, retrying until the log has acknowledged all of
 * them.
 * @param ended gives up at the next attempt
 * @param onTry called for each failed attempt
 * @returns false where it gave up: the step must be repeated
 */
export async function publishObservations(
  publisher: Publisher,
  seen: Seen,
  ended: AbortSignal,
  log: Logger,
  onTry: () => void,
): Promise<boolean> {
  const { network, observations, began, traceOf } = seen;
  if (observations.length === 0) return true;
  const parents = new Map(
    observations.flatMap((one) => (one.kind === 'deposit' ? [] : [[subjectOf(one), traceOf(one.intentId)] as const])),
  );
  const step = new OpenSpan(`watch ${network}`, null, {
    began,
    links: [...parents.values()].filter((parent) => parent !== null),
    attributes: { 'payments.network': network, 'payments.observations': observations.length },
  });
  const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  try {
    for (let waiting = observations; waiting.length > 0;) {
      const results = await Promise.allSettled(
        waiting.map((observation) =>
          send(publisher, seen, observation, parents.get(subjectOf(observation)) ?? null, step),
        ),
      );
      const failures = results.map((result) => (result.status === 'rejected' ? asError(result.reason) : null));
      const fatal = failures.find((error) => error !== null && !(error instanceof LogUnavailableError || isBad(error)));
      if (fatal) throw fatal;
      for (const [at, told] of waiting.entries()) {
        const failure = failures[at];
        if (failure === null) count('payments.observations', { network, type: told.type });
        else if (failure !== undefined && isBad(failure))
          log.error(
            { err: failure, type: told.type, ...nameOf(told), hash: hashOf(told) },
            'an observation cannot be written to the log, now or later: it is passed over',
          );
      }
      waiting = waiting.filter((_, at) => failures[at] instanceof LogUnavailableError);
      if (waiting.length === 0) break;
      onTry();
      log.warn(
        { err: failures.find((error) => error !== null), observations: waiting.length },
        'the log is unavailable: observations wait',
      );
      if (ended.aborted) return false;
      await backOff.wait(ended);
    }
    return true;
  } finally {
    step.end();
  }
}
