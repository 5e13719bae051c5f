import { type Clock, PartitionTimes } from '@pf/clock';
import {
  type CommandMessage,
  type CommandSeal,
  encodeObservation,
  isDepositEvent,
  isIntentEvent,
  type LoggedEvent,
  partitionOf,
} from '@pf/contracts';
import {
  type EventSealer,
  fold,
  foldDeposits,
  type FoldedDeposits,
  type Found,
  type IdempotencyKey,
  intentsOf,
  type LedgerStore,
  type OpenedEvents,
  type ProjectionBatch,
  readRecords,
  ProjectionGapError,
  RepeatedVersionError,
  type Wanted,
} from '@pf/database';
import { type DepositId, type IntentId, type PaymentIntent, VersionGapError } from '@pf/domain';
import type { LogRecord, PartitionWork, Publisher, BatchResult } from '@pf/event-log';
import { count, fieldsOf, inSpan, inWork, type Logger } from '@pf/runtime';
import type { Announcer } from './announcer.ts';
import { gatheredLedger } from './gathered-ledger.ts';
import { owedReplies } from './owed-replies.ts';
import { sendDeadLetters } from './dead-letters.ts';
import { type Input, isOfDeposit, type Message, readInput } from './input.ts';
import type { ObservationAuthors } from './observation-authors.ts';
import { recordTransitions } from './ledger-metrics.ts';
import { type DecidedBatch, type Known, BatchDecider } from './batch-decider.ts';
import { WrongExtras } from './wrong-extras.ts';
import { BatchTrace } from './batch-trace.ts';

export interface WriterDependencies {
  readonly partitions: number;
  readonly ledger: LedgerStore;
  readonly publisher: Publisher;
  readonly announcer: Pick<Announcer, 'announce'>;
  readonly log: Logger;
  readonly clock: Clock;
  /** Without it whoever wrote an observation is believed, and its own are not signed. */
  readonly observations?: SignedObservations;
  /** Without it events are neither sealed nor opened. */
  readonly personalData?: PersonalData;
  /** Without it those that have left stay where they are. */
  readonly cold?: ColdIntents;
}

/** Who is believed about what the chains did. */
interface SignedObservations {
  readonly authors: ObservationAuthors;
  /** Signs what intents are told of deposits. */
  readonly key: Uint8Array;
}

/** Intents that have left Postgres (docs/operations/growth.md). */
export interface ColdIntents {
  /** Stores these intents of a partition again. @returns false if they cannot be read now */
  bringBack(partition: number, ids: readonly IntentId[]): Promise<boolean>;
}

/** What the writer does about personal data in events (docs/operations/privacy.md). */
export interface PersonalData {
  /** Null: events hold personal data as it is. */
  readonly sealer: Pick<EventSealer, 'seal'> | null;
  /** Opens sealed commands; null: it cannot. */
  readonly commands: CommandSeal | null;
  open(events: readonly LoggedEvent[]): Promise<OpenedEvents>;
  /** Nothing is left to be erased of these intents. */
  settle(ids: readonly IntentId[]): Promise<void>;
}

/** A decided batch on its way to the projection, and its spans. */
export interface WriterContext {
  readonly decided: DecidedBatch;
  readonly trace: BatchTrace;
}

/** An intent, its original, and the refund that the original names may come back one after another. */
const BROUGHT_BACK_IN = 3;
/** Held intents that are reported once; all of them again after more than these. */
const HELD_REMEMBERED = 1_000;

/**
 * What nothing can be decided about while these intents have left and cannot be read: they, and the refunds and
 * originals that need them.
 */
const undecidableWithout = (intents: readonly PaymentIntent[], cold: readonly IntentId[]): ReadonlySet<IntentId> =>
  new Set([
    ...cold,
    ...intents.flatMap(({ id, refundOf, refundedBy }) =>
      cold.some((other) => other === refundOf || other === refundedBy) ? [id] : [],
    ),
  ]);

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
  readonly #clock: Clock;
  readonly #ledger: ReturnType<typeof gatheredLedger>;
  readonly #times: PartitionTimes;
  /** The trace of the current batch of each partition. */
  readonly #traces = new Map<number, BatchTrace>();
  /** The held intents that were reported. */
  readonly #held = new Set<IntentId>();
  readonly #wrongExtras: WrongExtras;

  constructor(dependencies: WriterDependencies) {
    this.#dependencies = dependencies;
    this.#clock = dependencies.clock;
    this.#wrongExtras = new WrongExtras(dependencies.log);
    this.#times = new PartitionTimes(this.#clock);
    this.#ledger = gatheredLedger(dependencies.ledger);
  }

  /** By how many ms the event time of each owned partition is ahead of the clock, because an earlier owner's was. */
  get ahead(): ReadonlyMap<number, number> {
    return this.#times.ahead;
  }

  async checkpoint(partition: number): Promise<bigint> {
    return (await this.#ledger.checkpoint(partition)).position;
  }

  async acquired(partition: number): Promise<void> {
    await this.#clock.prove();
    // The checkpoint has the last time in the log: time does not go back, even if another owner's clock was ahead.
    this.#times.begin(partition, (await this.#ledger.checkpoint(partition)).lastAt);
    this.#dependencies.log.info({ partition }, 'partition acquired');
  }

  lost(partition: number): void {
    this.#times.end(partition);
    this.#traces.get(partition)?.failed(new PartitionLostError(partition));
    this.#traces.delete(partition);
    this.#dependencies.log.info({ partition }, 'partition lost');
  }

  /**
   * Projects events that an earlier owner appended and did not project, and publishes the replies it still owed.
   * @throws where the log does not follow the projection: the partition then stops until an operator intervenes.
   */
  async catchUp(partition: number, from: bigint, records: readonly LogRecord[], next: bigint): Promise<boolean> {
    return inWork('catch up', () => this.#catchUp(partition, from, records, next));
  }

  async #catchUp(partition: number, from: bigint, records: readonly LogRecord[], next: bigint): Promise<boolean> {
    return inSpan('catch up', null, () =>
      this.#withLedgerAlarm(partition, async () => {
        await this.#clock.prove();
        const logged = readRecords(records);
        const ofDeposits = logged.filter(isDepositEvent);
        const { events, recovered, missing } = await this.#opened(logged.filter(isIntentEvent));
        if (missing > 0)
          this.#dependencies.log.warn({ partition, missing }, 'events were erased, or their keys are lost');
        const depositIds = [...new Set(ofDeposits.map(({ depositId }) => depositId))];
        const wanted = { partition, ids: intentsOf(events), keys: [], commandIds: [], depositIds };
        const { position, intents, deposits, cold } = await this.#lookUp(wanted);
        const changed = new Set(wanted.ids);
        if (cold.some((id) => changed.has(id))) throw new Error(`${cold.join(', ')} must come back from the archive`);
        // Rows that are not as of `from` would make these events look repeated, or missing.
        if (position !== from) return false;
        const folded = fold(intents, events);
        const received = foldDeposits(deposits, ofDeposits);
        await this.#tell(received.told);
        const { outcomes, replies, notices } = owedReplies(records, logged, folded.intents, this.#clock.now());
        this.#alarmHeld(
          partition,
          folded.intents.map(({ intent }) => intent),
        );
        const changes = { intents: folded.intents, deposits: received.deposits };
        const projected = await this.#ledger.project({
          partition,
          from,
          next,
          ...folded,
          lastAt: Math.max(folded.lastAt, received.lastAt),
          deposits: received.deposits,
          events: [...folded.events, ...received.events],
          outcomes,
          keys: recovered,
        });
        if (projected) this.#dependencies.announcer.announce({ replies, notices, ...changes });
        this.#dependencies.log.info({ partition, events: logged.length, projected }, 'caught up with the log');
        return projected;
      }),
    );
  }

  async decide(partition: number, records: readonly LogRecord[]): Promise<BatchResult<WriterContext>> {
    return inWork('decide', () => this.#decide(partition, records));
  }

  async #decide(partition: number, records: readonly LogRecord[]): Promise<BatchResult<WriterContext>> {
    const { partitions, personalData, observations } = this.#dependencies;
    const [commands, authors] = [personalData?.commands ?? null, observations?.authors ?? null];
    const inputs = records.map((record) => readInput(record, partitions, commands, authors));
    const messages = inputs.flatMap(({ message }) => (message === null ? [] : [message]));
    return this.#decideBatch(`batch of ${records[0]?.topic ?? 'nothing'}`, partition, inputs, async (trace) => {
      const found = await this.#known(partition, messages);
      this.#alarmHeld(partition, found.intents);
      const decider = this.#decider(partition, found);
      const undecidable = undecidableWithout(found.intents, found.cold);
      await decider.processAll(trace.inputs, (input) => this.#process(input, undecidable, decider));
      return { decided: decider.decided(), position: found.position };
    });
  }

  /** Expires these intents, except those that are no longer open or whose expiresAt has moved. */
  async expire(partition: number, ids: readonly IntentId[]): Promise<BatchResult<WriterContext>> {
    return this.#decideBatch('expire', partition, [], async ({ trace }) => {
      const known = await this.#lookUp({ partition, ids, keys: [], commandIds: [] });
      const undecidable = undecidableWithout(known.intents, known.cold);
      const decider = this.#decider(partition, known);
      // Related intents are among them: the domain expires only those that are due.
      for (const { id: intentId, heldFrom } of known.intents) {
        if (heldFrom !== undefined || undecidable.has(intentId)) continue;
        try {
          decider.decideOwn({ kind: 'expire', intentId, trace });
        } catch (error) {
          // There is no message for the dead letters, and the other intents must still expire.
          this.#dependencies.log.error({ err: error, partition, intentId }, 'an intent could not be expired');
        }
      }
      return { decided: decider.decided(), position: known.position };
    });
  }

  /**
   * Erases personal data of these intents. Those that are erased already are settled. One that is held waits for newer
   * code, one without a row for its projection, and one that has left until it can be read.
   */
  erase(partition: number, ids: readonly IntentId[]): Promise<BatchResult<WriterContext>> {
    return this.#decideBatch('erase', partition, [], async ({ trace }) => {
      const known = await this.#lookUp({ partition, ids, keys: [], commandIds: [] });
      const intents = new Map(known.intents.map((intent) => [intent.id, intent]));
      const [due, done]: [IntentId[], IntentId[]] = [[], []];
      for (const id of ids) {
        const intent = intents.get(id);
        if (intent?.erasedAt !== undefined) done.push(id);
        else if (intent !== undefined && intent.heldFrom === undefined) due.push(id);
      }
      await this.#dependencies.personalData?.settle(done);
      const decider = this.#decider(partition, known);
      for (const intentId of due) {
        try {
          decider.decideOwn({ kind: 'erase', intentId, trace });
        } catch (error) {
          this.#dependencies.log.error({ err: error, partition, intentId }, 'an intent could not be erased');
        }
      }
      return { decided: decider.decided(), position: known.position };
    });
  }

  /** Does this between the batches of a partition, and decides nothing. */
  between(partition: number, work: () => Promise<void>): Promise<BatchResult<WriterContext>> {
    return this.#decideBatch('leave', partition, [], async () => {
      await work();
      const known = await this.#ledger.lookUp({ partition, ids: [], keys: [], commandIds: [] });
      return { decided: this.#decider(partition, known).decided(), position: known.position };
    });
  }

  async project(partition: number, from: bigint, next: bigint, { decided, trace }: WriterContext): Promise<boolean> {
    const { at, intents, deposits, events, outcomes, keys, erased } = decided;
    trace.committed(decided.records.length);
    recordTransitions(decided.transitions);
    for (const one of decided.wrongExtras) this.#wrongExtras.note(one);
    await this.#tell(decided.told);
    // Only offsets have moved: there is nothing to write.
    const nothing = from === next && outcomes.length === 0;
    const projected =
      nothing ||
      (await trace.run(() =>
        this.#withLedgerAlarm(partition, () =>
          this.#projected({ partition, from, next, lastAt: at, intents, deposits, events, outcomes, keys, erased }),
        ),
      ));
    if (projected) trace.projected();
    return projected;
  }

  published(_partition: number, { decided }: WriterContext): void {
    this.#dependencies.announcer.announce(decided);
  }

  /**
   * An owner that does not know yet that it is no more may have moved an intent out after this one had looked it up: it
   * comes back first.
   */
  async #projected(batch: ProjectionBatch): Promise<boolean> {
    try {
      return await this.#ledger.project(batch);
    } catch (error) {
      if (!(error instanceof ProjectionGapError)) throw error;
      const { partition, intents } = batch;
      const ids = intents.map(({ intent }) => intent.id);
      const { cold } = await this.#ledger.lookUp({ partition, ids, keys: [], commandIds: [] });
      if (cold.length === 0 || !(await this.#dependencies.cold?.bringBack(partition, cold))) throw error;
      return await this.#ledger.project(batch);
    }
  }

  #decider(partition: number, known: Known): BatchDecider {
    const { personalData } = this.#dependencies;
    return new BatchDecider(partition, this.#times.next(partition), known, personalData?.sealer ?? null);
  }

  async #opened(events: readonly LoggedEvent[]): Promise<OpenedEvents> {
    const { personalData } = this.#dependencies;
    return personalData ? personalData.open(events) : { events, recovered: [], missing: 0 };
  }

  /**
   * Tells intents how the deposits stand that are assigned to them, before that is projected: whoever owns the
   * partition next tells it again if this process dies here. An intent takes each version of a deposit once.
   */
  async #tell(told: FoldedDeposits['told']): Promise<void> {
    for (const { intentId, data, trace } of told)
      await this.#dependencies.publisher.publish('chain.observations', {
        partition: partitionOf(intentId),
        key: intentId,
        value: encodeObservation(
          { kind: 'observation', type: 'assigned', intentId, data, trace },
          this.#dependencies.observations?.key ?? null,
        ),
      });
  }

  /** Once for each held intent, as long as this process remembers it. */
  #alarmHeld(partition: number, intents: readonly PaymentIntent[]): void {
    for (const { id: intentId, version, heldFrom } of intents) {
      if (heldFrom === undefined || this.#held.has(intentId)) continue;
      if (this.#held.size >= HELD_REMEMBERED) this.#held.clear();
      this.#held.add(intentId);
      count('payments.alarms', { alarm: 'held_intent' });
      this.#dependencies.log.error(
        {
          partition,
          intentId,
          version,
          heldFrom,
          alarm: 'held_intent',
          runbook: 'docs/operations/runbooks/intent-held.md',
        },
        'newer code has changed an intent: its commands are refused until this process is as new',
      );
    }
  }

  /** A command whose intent cannot be read gets no outcome: whoever waits is told to send it again. */
  #process(input: Input, undecidable: ReadonlySet<IntentId>, decider: BatchDecider): void {
    const { record, message } = input;
    if (message === null || isOfDeposit(message) || !undecidable.has(message.intentId)) return decider.process(input);
    if (message.kind === 'command') return;
    const head = { commandId: null, intentId: message.intentId, replyTo: null, trace: message.trace };
    decider.process({ record, message: null, reason: 'its intent has left, and the archive is unavailable', head });
  }

  /** Looks up, and brings back what has left. @returns also what could not be brought back */
  async #lookUp(wanted: Wanted): Promise<Found> {
    for (let round = 1; ; round++) {
      const found = await this.#ledger.lookUp(wanted);
      if (found.cold.length === 0 || round > BROUGHT_BACK_IN) return found;
      if (!(await this.#dependencies.cold?.bringBack(wanted.partition, found.cold))) return found;
    }
  }

  /** Reads everything that the decisions may need. */
  #known(partition: number, messages: readonly Message[]): Promise<Found> {
    const ids: IntentId[] = [];
    const keys: IdempotencyKey[] = [];
    const commandIds: CommandMessage['commandId'][] = [];
    const depositIds: DepositId[] = [];
    for (const message of messages) {
      if (isOfDeposit(message)) {
        depositIds.push(message.depositId);
        if (message.kind === 'deposit_command') commandIds.push(message.commandId);
        continue;
      }
      ids.push(message.intentId);
      if (message.kind === 'observation') continue;
      commandIds.push(message.commandId);
      const { accountId, livemode, type, data } = message;
      if (type === 'create' && data.idempotencyKey !== null)
        keys.push({ accountId, livemode, idempotencyKey: data.idempotencyKey });
      if (type === 'refund') ids.push(data.refundIntentId);
    }
    return this.#lookUp({ partition, ids, keys, commandIds, depositIds });
  }

  /** Decides in the batch's span and publishes dead letters before the commit. */
  async #decideBatch(
    name: string,
    partition: number,
    inputs: readonly Input[],
    decide: (trace: BatchTrace) => Promise<{ readonly decided: DecidedBatch; readonly position: bigint }>,
  ): Promise<BatchResult<WriterContext>> {
    const trace = new BatchTrace(name, partition, inputs);
    this.#traces.set(partition, trace);
    return trace.run(async () => {
      const { publisher, log } = this.#dependencies;
      await this.#clock.prove();
      const { decided, position } = await decide(trace);
      await sendDeadLetters(publisher, decided.dead, log);
      for (const late of decided.late) {
        count('payments.commands.late', {});
        const { commandId, type, trace: sent } = late;
        const subject = isOfDeposit(late) ? { depositId: late.depositId } : { intentId: late.intentId };
        log.warn(
          { ...fieldsOf(sent), commandId, ...subject, type },
          'the command came after its deadline: it was dropped, because its gateway no longer waits',
        );
      }
      if (inputs.length === 0 && decided.records.length === 0) trace.decidedNothing();
      else trace.decided();
      return { append: decided.records, position, context: { decided, trace } };
    });
  }

  #stopped(err: Error, partition: number, alarm: 'version_gap' | 'repeated_version', what: string): void {
    count('payments.alarms', { alarm });
    this.#dependencies.log.error({ err, partition, alarm }, `${what}: the partition has stopped`);
  }

  async #withLedgerAlarm<T>(partition: number, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // docs/operations/runbooks/ledger-gap.md, docs/operations/runbooks/ledger-forked.md
      if (error instanceof VersionGapError || error instanceof ProjectionGapError)
        this.#stopped(error, partition, 'version_gap', 'the log does not follow the projection');
      if (error instanceof RepeatedVersionError)
        this.#stopped(error, partition, 'repeated_version', 'the log repeats a version of an intent');
      throw error;
    }
  }
}
