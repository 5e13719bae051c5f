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
import { answersFrom } from './answers-from-log.ts';
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

/** A decided slice on its way to the projection, and the spans that show it. */
export interface WriterContext {
  readonly decided: DecidedBatch;
  readonly trace: BatchTrace;
}

/** What ends the spans of a slice that its partition was lost with. */
class PartitionLostError extends Error {
  override readonly name = 'PartitionLostError';
  constructor(partition: number) {
    super(`partition ${partition} was lost`);
  }
}

/** The business of a partition's owner: commands and observations in; events, projection and answers out (architecture.md). */
export class IntentWriter implements PartitionWork<WriterContext> {
  readonly #parts: WriterDependencies;
  readonly #clock: () => Instant;
  readonly #states: IntentStates;
  readonly #projection: ProjectionWriter;
  /** The last time stamped in each partition that is owned. */
  readonly #lastAt = new Map<number, Instant>();
  /** Of the slice under way in each partition. */
  readonly #traces = new Map<number, BatchTrace>();

  constructor(parts: WriterDependencies) {
    this.#parts = parts;
    this.#clock = parts.clock ?? Date.now;
    this.#states = new IntentStates(parts.database.sql);
    this.#projection = new ProjectionWriter(parts.database.sql);
  }

  async checkpoint(partition: number): Promise<bigint> {
    return (await readCheckpoint(this.#parts.database, partition)).position;
  }

  async acquired(partition: number): Promise<void> {
    // The last time in the log stands in the checkpoint: time does not go back, though another's clock was ahead of ours.
    this.#lastAt.set(partition, (await readCheckpoint(this.#parts.database, partition)).lastAt);
    this.#parts.log.info({ partition }, 'partition acquired');
  }

  lost(partition: number): void {
    this.#lastAt.delete(partition);
    this.#traces.get(partition)?.failed(new PartitionLostError(partition));
    this.#traces.delete(partition);
    this.#parts.log.info({ partition }, 'partition lost');
  }

  /**
   * Projects what a former owner appended and did not live to project, and gives the answers it still owed.
   * @throws where the log does not follow what is projected: the partition then stands still until somebody looks.
   */
  async catchUp(partition: number, from: bigint, records: readonly LogRecord[], next: bigint): Promise<boolean> {
    return inSpan('catch up', null, () =>
      this.#alarming(partition, async () => {
        const events = parseEvents(records);
        const folded = fold(await this.#states.find(intentsOf(events)), events);
        const { outcomes, replies, notices } = answersFrom(records, events, folded.intents, this.#clock());
        const projected = await this.#projection.project({ partition, from, next, ...folded, outcomes });
        if (projected) this.#parts.announcer.announce(replies, notices);
        this.#parts.log.info({ partition, events: events.length, projected }, 'caught up with the log');
        return projected;
      }),
    );
  }

  async decide(partition: number, records: readonly LogRecord[]): Promise<BatchResult<WriterContext>> {
    const inputs = records.map((record) => readInput(record, this.#parts.partitions));
    const messages = inputs.flatMap(({ message }) => (message === null ? [] : [message]));
    return this.#deciding(`slice of ${records[0]?.topic ?? 'nothing'}`, partition, inputs, async (trace) => {
      const decider = this.#decider(partition, await this.#known(messages));
      for (const input of trace.inputs) decider.take(input);
      return decider.decided();
    });
  }

  /** Decides the end of these intents' time. Those for which it has been put off meanwhile, or which are no longer open, stay as they are. */
  async expire(partition: number, ids: readonly IntentId[]): Promise<BatchResult<WriterContext>> {
    return this.#deciding('expire', partition, [], async ({ trace }) => {
      const known = await this.#states.lookUp({ ids, keys: [], commandIds: [] });
      const decider = this.#decider(partition, known);
      // Relatives are among them: what is not due stays as it is.
      for (const { id: intentId } of known.intents) {
        try {
          decider.expire({ kind: 'expire', intentId, trace });
        } catch (error) {
          // No message stands behind it that could be put aside; the others' time has run out all the same.
          this.#parts.log.error({ err: error, partition, intentId }, 'the end of an intent’s time cannot be decided');
        }
      }
      return decider.decided();
    });
  }

  async project(partition: number, from: bigint, next: bigint, { decided, trace }: WriterContext): Promise<boolean> {
    const { at, intents, events, outcomes } = decided;
    trace.committed(decided.records.length);
    recordTransitions(decided.transitions);
    // Only offsets have moved: there is nothing to write, and no checkpoint to move.
    const nothing = from === next && outcomes.length === 0;
    const projected =
      nothing ||
      (await trace.run(() =>
        this.#alarming(partition, () =>
          this.#projection.project({ partition, from, next, lastAt: at, intents, events, outcomes }),
        ),
      ));
    if (projected) trace.projected();
    return projected;
  }

  published(_partition: number, { decided }: WriterContext): void {
    this.#parts.announcer.announce(decided.replies, decided.notices);
  }

  #decider(partition: number, known: Known): BatchDecider {
    const clock = this.#clock();
    const at = Math.max(clock, this.#lastAt.get(partition) ?? 0);
    this.#lastAt.set(partition, at);
    return new BatchDecider(partition, at, clock, known);
  }

  /** Everything that the decisions may look at. */
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

  /** Decides in the slice's span, and does what comes before the commit. */
  async #deciding(
    name: string,
    partition: number,
    inputs: readonly Input[],
    decide: (trace: BatchTrace) => Promise<DecidedBatch>,
  ): Promise<BatchResult<WriterContext>> {
    const trace = new BatchTrace(name, partition, inputs);
    this.#traces.set(partition, trace);
    return trace.run(async () => {
      const { publisher, log } = this.#parts;
      const decided = await decide(trace);
      await sendDeadLetters(publisher, decided.dead, log);
      for (const { commandId, intentId, type, trace: sent } of decided.late) {
        count('payments.commands.late', {});
        log.warn(
          { ...fieldsOf(sent), commandId, intentId, type },
          'the command came after its deadline: nobody waits for it any more',
        );
      }
      trace.decided();
      return { append: decided.records, context: { decided, trace } };
    });
  }

  async #alarming<T>(partition: number, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof VersionGapError || error instanceof ProjectionGapError) {
        count('payments.alarms', { alarm: 'version_gap' });
        this.#parts.log.error(
          { err: error, partition, alarm: 'version_gap' },
          'the log does not follow the projection: the partition stands still',
        );
      }
      throw error;
    }
  }
}
