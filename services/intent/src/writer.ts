import type { CommandMessage, ObservationMessage } from '@pf/contracts';
import {
  type Database,
  fold,
  type IdempotencyKey,
  intentsOf,
  IntentStates,
  parseEvents,
  ProjectionGapError,
  ProjectionWriter,
  readCheckpoint,
} from '@pf/database';
import { type Instant, type IntentId, VersionGapError } from '@pf/domain';
import type { LogRecord, PartitionWork, Publisher, BatchResult } from '@pf/event-log';
import { count, fieldsOf, inSpan, type Logger } from '@pf/runtime';
import type { Announcer } from './announcer.ts';
import { owedReplies } from './owed-replies.ts';
import { sendDeadLetters } from './dead-letters.ts';
import { type Input, readInput } from './input.ts';
import { recordTransitions } from './ledger-metrics.ts';
import { type DecidedBatch, type Known, BatchDecider } from './batch-decider.ts';
import { BatchTrace } from './batch-trace.ts';

export interface WriterDependencies {
  readonly partitions: number;
  readonly database: Database;
  readonly publisher: Publisher;
  readonly announcer: Pick<Announcer, 'announce'>;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly clock?: () => Instant;
}

/** A decided batch on its way to the projection, and its spans. */
export interface WriterContext {
  readonly decided: DecidedBatch;
  readonly trace: BatchTrace;
}

/** Ends the spans of a batch whose partition was lost. */
class PartitionLostError extends Error {
  override readonly name = 'PartitionLostError';
  constructor(partition: number) {
    super(`partition ${partition} was lost`);
  }
}

/**
 * The work of a partition's owner: commands and observations in; events, projection and replies out
 * (docs/internals/architecture.md).
 */
export class IntentWriter implements PartitionWork<WriterContext> {
  readonly #dependencies: WriterDependencies;
  readonly #clock: () => Instant;
  readonly #states: IntentStates;
  readonly #projection: ProjectionWriter;
  /** The last time stamped in each owned partition. */
  readonly #lastAt = new Map<number, Instant>();
  /** The trace of the current batch of each partition. */
  readonly #traces = new Map<number, BatchTrace>();

  constructor(dependencies: WriterDependencies) {
    this.#dependencies = dependencies;
    this.#clock = dependencies.clock ?? Date.now;
    this.#states = new IntentStates(dependencies.database.sql);
    this.#projection = new ProjectionWriter(dependencies.database.sql);
  }

  async checkpoint(partition: number): Promise<bigint> {
    return (await readCheckpoint(this.#dependencies.database, partition)).position;
  }

  async acquired(partition: number): Promise<void> {
    // The checkpoint has the last time in the log: time does not go back, even if another owner's clock was ahead.
    this.#lastAt.set(partition, (await readCheckpoint(this.#dependencies.database, partition)).lastAt);
    this.#dependencies.log.info({ partition }, 'partition acquired');
  }

  lost(partition: number): void {
    this.#lastAt.delete(partition);
    this.#traces.get(partition)?.failed(new PartitionLostError(partition));
    this.#traces.delete(partition);
    this.#dependencies.log.info({ partition }, 'partition lost');
  }

  /**
   * Projects events that an earlier owner appended and did not project, and publishes the replies it still owed.
   * @throws where the log does not follow the projection: the partition then stops until an operator intervenes.
   */
  async catchUp(partition: number, from: bigint, records: readonly LogRecord[], next: bigint): Promise<boolean> {
    return inSpan('catch up', null, () =>
      this.#withGapAlarm(partition, async () => {
        const events = parseEvents(records);
        const folded = fold(await this.#states.find(intentsOf(events)), events);
        const { outcomes, replies, notices } = owedReplies(records, events, folded.intents, this.#clock());
        const projected = await this.#projection.project({ partition, from, next, ...folded, outcomes });
        if (projected) this.#dependencies.announcer.announce(replies, notices);
        this.#dependencies.log.info({ partition, events: events.length, projected }, 'caught up with the log');
        return projected;
      }),
    );
  }

  async decide(partition: number, records: readonly LogRecord[]): Promise<BatchResult<WriterContext>> {
    const inputs = records.map((record) => readInput(record, this.#dependencies.partitions));
    const messages = inputs.flatMap(({ message }) => (message === null ? [] : [message]));
    return this.#decideBatch(`batch of ${records[0]?.topic ?? 'nothing'}`, partition, inputs, async (trace) => {
      const decider = this.#decider(partition, await this.#known(messages));
      for (const input of trace.inputs) decider.process(input);
      return decider.decided();
    });
  }

  /** Expires these intents, except those that are no longer open or whose expiresAt has moved. */
  async expire(partition: number, ids: readonly IntentId[]): Promise<BatchResult<WriterContext>> {
    return this.#decideBatch('expire', partition, [], async ({ trace }) => {
      const known = await this.#states.lookUp({ ids, keys: [], commandIds: [] });
      const decider = this.#decider(partition, known);
      // Related intents are among them: the domain expires only those that are due.
      for (const { id: intentId } of known.intents) {
        try {
          decider.expire({ kind: 'expire', intentId, trace });
        } catch (error) {
          // There is no message for the dead letters, and the other intents must still expire.
          this.#dependencies.log.error({ err: error, partition, intentId }, 'an intent could not be expired');
        }
      }
      return decider.decided();
    });
  }

  async project(partition: number, from: bigint, next: bigint, { decided, trace }: WriterContext): Promise<boolean> {
    const { at, intents, events, outcomes } = decided;
    trace.committed(decided.records.length);
    recordTransitions(decided.transitions);
    // Only offsets have moved: there is nothing to write.
    const nothing = from === next && outcomes.length === 0;
    const projected =
      nothing ||
      (await trace.run(() =>
        this.#withGapAlarm(partition, () =>
          this.#projection.project({ partition, from, next, lastAt: at, intents, events, outcomes }),
        ),
      ));
    if (projected) trace.projected();
    return projected;
  }

  published(_partition: number, { decided }: WriterContext): void {
    this.#dependencies.announcer.announce(decided.replies, decided.notices);
  }

  #decider(partition: number, known: Known): BatchDecider {
    const clock = this.#clock();
    const at = Math.max(clock, this.#lastAt.get(partition) ?? 0);
    this.#lastAt.set(partition, at);
    return new BatchDecider(partition, at, clock, known);
  }

  /** Reads everything that the decisions may need. */
  #known(messages: readonly (CommandMessage | ObservationMessage)[]): Promise<Known> {
    const ids: IntentId[] = [];
    const keys: IdempotencyKey[] = [];
    const commandIds: CommandMessage['commandId'][] = [];
    for (const message of messages) {
      ids.push(message.intentId);
      if (message.kind === 'observation') continue;
      commandIds.push(message.commandId);
      const { accountId, livemode, type, data } = message;
      if (type === 'create' && data.idempotencyKey !== null)
        keys.push({ accountId, livemode, idempotencyKey: data.idempotencyKey });
      if (type === 'refund') ids.push(data.refundIntentId);
    }
    return this.#states.lookUp({ ids, keys, commandIds });
  }

  /** Decides in the batch's span and publishes dead letters before the commit. */
  async #decideBatch(
    name: string,
    partition: number,
    inputs: readonly Input[],
    decide: (trace: BatchTrace) => Promise<DecidedBatch>,
  ): Promise<BatchResult<WriterContext>> {
    const trace = new BatchTrace(name, partition, inputs);
    this.#traces.set(partition, trace);
    return trace.run(async () => {
      const { publisher, log } = this.#dependencies;
      const decided = await decide(trace);
      await sendDeadLetters(publisher, decided.dead, log);
      for (const { commandId, intentId, type, trace: sent } of decided.late) {
        count('payments.commands.late', {});
        log.warn(
          { ...fieldsOf(sent), commandId, intentId, type },
          'the command came after its deadline: it was dropped, because its gateway no longer waits',
        );
      }
      trace.decided();
      return { append: decided.records, context: { decided, trace } };
    });
  }

  async #withGapAlarm<T>(partition: number, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof VersionGapError || error instanceof ProjectionGapError) {
        count('payments.alarms', { alarm: 'version_gap' });
        this.#dependencies.log.error(
          { err: error, partition, alarm: 'version_gap' },
          'the log does not follow the projection: the partition has stopped',
        );
      }
      throw error;
    }
  }
}
