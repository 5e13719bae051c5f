import { setImmediate } from 'node:timers/promises';
import type { BatchTimes } from '@pf/clock';
import {
  COMMAND_DEADLINE_MS,
  type CommandMessage,
  type DeadLetter,
  DEPOSIT_EVENT_SCHEMA_VERSION,
  type DepositCommandMessage,
  type DepositEnvelope,
  type DepositMessage,
  encodeDepositEvent,
  encodeEvent,
  eventSchemaVersion,
  type EventEnvelope,
  eventIdOf,
  hasDeadline,
  type InputMessage,
  type Outcome,
  type Reply,
} from '@pf/contracts';
import {
  type EventSealer,
  type FoldedDeposits,
  type IntentKey,
  OUTCOME_RETENTION_MS,
  type ProjectedDeposit,
  projectedDepositEvent,
  type ProjectedEvent,
  projectedEvent,
  type ProjectedIntent,
  type ProjectedOutcome,
} from '@pf/database';
import {
  CLOCK_TOLERANCE_MS,
  type CommandId,
  decide,
  decideDeposit,
  decideDepositCommand,
  type Decision,
  type Deposit,
  type DepositId,
  type DepositTransition,
  depositView,
  type Instant,
  type IntentId,
  isoTime,
  isPublicType,
  isWrongExtra,
  Ledger,
  type Observation,
  type PaymentIntent,
  type PublicIntent,
  toldIntent,
  transferKey,
  type Transition,
  view,
} from '@pf/domain';
import type { LogRecord, NewRecord } from '@pf/event-log';
import type { Notice } from '@pf/redis';
import { type DepositInput, type Input, isOfDeposit, type Message, type MessageHead } from './input.ts';
import { outcomeOf } from './outcome.ts';
import type { WrongExtra } from './wrong-extras.ts';

/**
 * The age of a command is the difference between two clocks, this process's and the broker's. None is dropped that a
 * gateway may still wait for.
 */
const LATE_AFTER_MS = COMMAND_DEADLINE_MS + CLOCK_TOLERANCE_MS;
/** Header with the reply channel of an accepted command: the next owner replies if this one dies before it has. */
export const REPLY_TO_HEADER = 'reply-to';
/** The broker rejects records over 1 MiB for good, so an event stays far below that. */
const MAX_EVENT_BYTES = 512 * 1024;

/**
 * Of events, after which other work has its turn: they take a few milliseconds. A batch is bounded by what is asked,
 * and one account can ask in some KB for 64 changes of intents with 43 KB of metadata each.
 */
const PIECE_CHARACTERS = 128 * 1024;

/** Whether a letter with this payload stays within what the broker accepts: as JSON in JSON it is longer. */
const fits = (payload: string): boolean => Buffer.byteLength(JSON.stringify(payload)) <= MAX_EVENT_BYTES;

/** A letter for intent.dead, and the error behind it where one was thrown. */
export interface DeadLettered {
  readonly letter: DeadLetter;
  readonly cause: unknown;
}

/** To whom a dead letter of this message replies, and what it names. */
const headOf = (message: Message): MessageHead =>
  message.kind === 'command'
    ? message
    : {
        commandId: null,
        intentId: isOfDeposit(message) ? null : message.intentId,
        replyTo: null,
        trace: message.trace,
      };

/** Everything that a batch led to. */
export interface DecidedBatch {
  readonly at: Instant;
  readonly records: readonly NewRecord[];
  /** The events of those records, each with the intent after it. */
  readonly transitions: readonly Transition[];
  readonly intents: readonly ProjectedIntent[];
  readonly deposits: readonly ProjectedDeposit[];
  /** What intents have to know of them, in order: the owner sends it before it projects the batch. */
  readonly told: FoldedDeposits['told'];
  readonly events: readonly ProjectedEvent[];
  readonly outcomes: readonly ProjectedOutcome[];
  /** Of the sealed ones among the records. */
  readonly keys: readonly IntentKey[];
  /** What was told of as an extra payment, and carries the reference of another intent. */
  readonly wrongExtras: readonly WrongExtra[];
  /** Intents whose personal data is erased. */
  readonly erased: readonly IntentId[];
  /** By the reply channel of the gateway that waits. */
  readonly replies: ReadonlyMap<string, readonly Reply[]>;
  readonly notices: readonly Notice[];
  readonly dead: readonly DeadLettered[];
  /** Commands that came after their deadline: their gateway no longer waits. */
  readonly late: readonly (CommandMessage | DepositCommandMessage)[];
}

/** What was read of the projection for a batch. */
export interface Known {
  readonly intents: Iterable<PaymentIntent>;
  readonly deposits: Iterable<Deposit>;
  readonly outcomes: Iterable<Outcome>;
}

/** An intent that this batch has changed. */
interface Changed {
  readonly before: number;
  intent: PaymentIntent;
  shown: PublicIntent;
  /** True once one of its events was public: a stream may wait for it. */
  noticed: boolean;
}

/** Decides the messages of one batch in order: each sees what those before it changed. Without side effects. */
export class BatchDecider {
  readonly #partition: number;
  readonly #at: Instant;
  readonly #clock: Instant;
  readonly #ledger: Ledger;
  readonly #sealer: Pick<EventSealer, 'seal'> | null;
  readonly #outcomes = new Map<CommandId, Outcome>();
  readonly #changed = new Map<IntentId, Changed>();
  readonly #deposits = new Map<DepositId, Deposit>();
  /** Of those that this batch has changed, the version before. */
  readonly #depositsBefore = new Map<DepositId, number>();
  readonly #told: FoldedDeposits['told'][number][] = [];
  readonly #records: NewRecord[] = [];
  readonly #transitions: Transition[] = [];
  readonly #events: ProjectedEvent[] = [];
  readonly #keys: IntentKey[] = [];
  readonly #newOutcomes: ProjectedOutcome[] = [];
  readonly #replies = new Map<string, Reply[]>();
  readonly #wrongExtras: WrongExtra[] = [];
  readonly #dead: DeadLettered[] = [];
  readonly #late: (CommandMessage | DepositCommandMessage)[] = [];
  /** Of all events. */
  #characters = 0;

  /** @param sealer null: events hold personal data as it is */
  constructor(
    partition: number,
    { at, clock }: BatchTimes,
    known: Known,
    sealer: Pick<EventSealer, 'seal'> | null = null,
  ) {
    this.#partition = partition;
    this.#at = at;
    this.#clock = clock;
    this.#sealer = sealer;
    this.#ledger = new Ledger(known.intents);
    for (const deposit of known.deposits) this.#deposits.set(deposit.id, deposit);
    for (const outcome of known.outcomes) this.#outcomes.set(outcome.commandId, outcome);
  }

  /**
   * Decides the records of the batch in order, and lets the process do other work between them.
   * @param process decides one of them. Default: as `process`
   */
  async processAll(inputs: readonly Input[], process = (input: Input): void => this.process(input)): Promise<void> {
    let end = PIECE_CHARACTERS;
    for (const input of inputs) {
      process(input);
      if (this.#characters < end) continue;
      end = this.#characters + PIECE_CHARACTERS;
      await setImmediate();
    }
  }

  /** Decides the next record of the batch. Never throws: a record that cannot be decided becomes a dead letter. */
  process(input: Input): void {
    const { record, message } = input;
    if (message === null) return this.#deadLetter(record, input.head, input.reason, null);
    if ('commandId' in message) {
      const known = this.#outcomes.get(message.commandId);
      if (known !== undefined) return this.#reply(message.replyTo, known);
      if (hasDeadline(message.type) && this.#clock - record.timestamp > LATE_AFTER_MS) {
        this.#late.push(message);
        return;
      }
      // Read again from the start of the input, because the group's offsets were lost: its outcome may be forgotten.
      if (this.#clock - record.timestamp > OUTCOME_RETENTION_MS) {
        this.#late.push(message);
        return;
      }
    }
    const foreign = this.#foreignTo(message);
    if (foreign !== null) return this.#deadLetter(record, headOf(message), foreign, null);
    try {
      if (message.kind === 'deposit') this.#observeDeposit(message);
      else if (message.kind === 'deposit_command') this.#decideDeposit(message);
      else this.#decide(message);
    } catch (error) {
      this.#deadLetter(
        record,
        headOf(message),
        `cannot be decided: ${error instanceof Error ? error.name : 'unknown error'}`,
        error,
      );
    }
  }

  /** Decides the owner's own input. Throws what the domain throws. */
  decideOwn(message: Extract<InputMessage, { kind: 'expire' | 'erase' }>): void {
    this.#decide(message);
  }

  decided(): DecidedBatch {
    const changed = [...this.#changed.values()];
    return {
      at: this.#at,
      records: this.#records,
      transitions: this.#transitions,
      intents: changed,
      deposits: [...this.#depositsBefore].flatMap(([id, before]) => {
        const deposit = this.#deposits.get(id);
        return deposit === undefined ? [] : [{ deposit, before }];
      }),
      told: this.#told,
      events: this.#events,
      outcomes: this.#newOutcomes,
      keys: this.#keys,
      wrongExtras: this.#wrongExtras,
      erased: this.#transitions.flatMap(({ event }) => (event.type === 'personal_data_erased' ? [event.intentId] : [])),
      replies: this.#replies,
      // No stream can wait for an intent that this batch has created.
      notices: changed
        .filter(({ before, noticed }) => noticed && before > 0)
        .map(({ intent }) => ({ intentId: intent.id, version: intent.version, state: intent.status })),
      dead: this.#dead,
      late: this.#late,
    };
  }

  /** Why the watcher that wrote this has no say in it: it observes another network. Null: it has, or is none. */
  #foreignTo(message: Message): string | null {
    if ((message.kind !== 'observation' && message.kind !== 'deposit') || message.chain === undefined) return null;
    const { chain: by } = message;
    const of =
      message.kind === 'observation'
        ? [this.#ledger.intent(message.intentId)?.chain]
        : [this.#deposits.get(message.depositId)?.chain, 'chain' in message.data ? message.data.chain : undefined];
    const other = of.find((chain) => chain !== undefined && chain !== by);
    if (other === undefined) return null;
    const subject = message.kind === 'observation' ? 'intent' : 'deposit';
    return `the ${subject} is on ${other}, and the watcher of ${by} has no say in it`;
  }

  #observeDeposit(message: DepositMessage): void {
    const transition = decideDeposit(message, this.#at, this.#deposits.get(message.depositId));
    if (transition !== null) this.#appendDeposit(message, transition, null);
  }

  #decideDeposit(message: DepositCommandMessage): void {
    const { commandId, depositId, replyTo } = message;
    const decision = decideDepositCommand(message, this.#at, this.#deposits.get(depositId));
    if (decision.kind === 'accepted' && decision.transition !== null)
      this.#appendDeposit(message, decision.transition, message);
    const refusal = decision.kind === 'refused' ? decision.refusal : null;
    const outcome: Outcome = { kind: 'deposit', commandId, depositId, refusal };
    this.#keepOutcome(outcome);
    this.#reply(replyTo, outcome);
  }

  #appendDeposit(
    { depositId: id, trace }: DepositInput,
    { event, deposit }: DepositTransition,
    cause: DepositCommandMessage | null,
  ): void {
    const envelope: DepositEnvelope = {
      eventId: eventIdOf(id, event.version, event.at),
      type: event.type,
      schemaVersion: DEPOSIT_EVENT_SCHEMA_VERSION,
      depositId: id,
      version: event.version,
      accountId: deposit.accountId,
      livemode: deposit.livemode,
      commandId: cause?.commandId ?? null,
      at: isoTime(event.at),
      trace,
      data: event.data,
      deposit: depositView(deposit),
    };
    this.#records.push(recordOf(this.#partition, id, encodeDepositEvent(envelope), cause));
    this.#events.push(...projectedDepositEvent(envelope));
    if (!this.#depositsBefore.has(id)) this.#depositsBefore.set(id, event.version - 1);
    const told = toldIntent(this.#deposits.get(id), deposit);
    if (told !== null) this.#told.push({ ...told, trace });
    this.#deposits.set(id, deposit);
  }

  #decide(message: InputMessage): void {
    if (message.kind === 'observation' && message.type === 'disproved') this.#noteWrongExtra(message);
    const decision = decide(message, this.#at, this.#ledger, this.#clock);
    // Events of a refused command do not name it: the next owner would take it for accepted if this one dies here.
    const accepted = message.kind === 'command' && decision.outcome.kind === 'accepted' ? message : null;
    this.#append(message, decision, accepted);
    if (message.kind !== 'command') return;
    const outcome = outcomeOf(message, decision.outcome);
    this.#keepOutcome(outcome);
    this.#reply(message.replyTo, outcome);
  }

  #noteWrongExtra({ intentId, data }: Extract<Observation, { type: 'disproved' }>): void {
    const intent = this.#ledger.intent(intentId);
    if (intent !== undefined && isWrongExtra(intent, data))
      this.#wrongExtras.push({ intent, transfer: transferKey(data) });
  }

  /** Collects all of a decision's events or none: nothing is kept before the last record is made. */
  #append(message: InputMessage, { transitions }: Decision, accepted: CommandMessage | null): void {
    const changed = new Map<IntentId, Changed>();
    const records: NewRecord[] = [];
    const projected: ProjectedEvent[] = [];
    const keys: IntentKey[] = [];
    for (const { event, intent } of transitions) {
      const earlier = changed.get(intent.id) ?? this.#changed.get(intent.id);
      const shown = view(intent);
      changed.set(intent.id, {
        before: earlier?.before ?? event.version - 1,
        intent,
        shown,
        noticed: earlier?.noticed === true || isPublicType(event.type),
      });
      // The intent's time was over when the command came: the command did not cause the expiry.
      const cause = event.type === 'intent.expired' && !event.data.simulated ? null : accepted;
      const envelope: EventEnvelope = {
        eventId: eventIdOf(intent.id, event.version, event.at),
        type: event.type,
        schemaVersion: eventSchemaVersion(event),
        intentId: intent.id,
        version: event.version,
        accountId: intent.accountId,
        livemode: intent.livemode,
        commandId: cause?.commandId ?? null,
        at: isoTime(event.at),
        trace: message.trace,
        data: event.data,
        intent: shown,
      };
      const sealed = this.#sealer?.seal(envelope);
      if (sealed?.key) keys.push(sealed.key);
      const value = encodeEvent(sealed?.event ?? envelope);
      if (Buffer.byteLength(value) > MAX_EVENT_BYTES)
        throw new RangeError(`${event.type} of ${intent.id} is larger than ${MAX_EVENT_BYTES} bytes`);
      records.push(recordOf(this.#partition, intent.id, value, cause));
      projected.push(...projectedEvent(envelope));
    }
    for (const [id, change] of changed) {
      this.#changed.set(id, change);
      this.#ledger.put(change.intent);
    }
    for (const { value } of records) this.#characters += value.length;
    this.#records.push(...records);
    this.#transitions.push(...transitions);
    this.#events.push(...projected);
    this.#keys.push(...keys);
  }

  #deadLetter(
    { topic, offset, value }: LogRecord,
    { commandId, intentId, replyTo, trace }: MessageHead,
    reason: string,
    cause: unknown,
  ): void {
    if (topic !== 'intent.commands' && topic !== 'chain.observations')
      throw new RangeError(`${topic} is not an input topic`);
    this.#dead.push({
      letter: {
        at: isoTime(this.#clock),
        reason,
        topic,
        partition: this.#partition,
        offset: offset.toString(),
        intentId,
        commandId,
        trace,
        payload: topic === 'chain.observations' && value !== null && fits(value) ? value : null,
      },
      cause,
    });
    if (commandId === null || intentId === null) return;
    const outcome = this.#outcomes.get(commandId) ?? { kind: 'dead', commandId, intentId };
    this.#keepOutcome(outcome);
    this.#reply(replyTo, outcome);
  }

  #keepOutcome(outcome: Outcome): void {
    this.#outcomes.set(outcome.commandId, outcome);
    this.#newOutcomes.push({ outcome, at: this.#at });
  }

  #reply(replyTo: string | null, outcome: Outcome): void {
    if (replyTo === null) return;
    const reply: Reply = { outcome, intent: outcome.kind === 'accepted' ? this.#viewOf(outcome.intentId) : null };
    const others = this.#replies.get(replyTo);
    if (others === undefined) this.#replies.set(replyTo, [reply]);
    else others.push(reply);
  }

  /** Null where the outcome is repeated and its intent was not read: the gateway then reads it itself. */
  #viewOf(id: IntentId): PublicIntent | null {
    const changed = this.#changed.get(id);
    if (changed !== undefined) return changed.shown;
    const intent = this.#ledger.intent(id);
    return intent === undefined ? null : view(intent);
  }
}

/** @param cause the command whose event it is; null: no one waits for it */
const recordOf = (
  partition: number,
  key: string,
  value: string,
  cause: CommandMessage | DepositCommandMessage | null,
): NewRecord => ({
  partition,
  key,
  value,
  ...(cause !== null && cause.replyTo !== null && { headers: { [REPLY_TO_HEADER]: cause.replyTo } }),
});
