import { encodeInput, newCommandId, partitionOf, type Reply } from '@pf/contracts';
import type {
  AccountId,
  Build,
  Command,
  CommandData,
  CommandId,
  CommandType,
  IntentId,
  PublicIntent,
  Refusal,
} from '@pf/domain';
import { LogUnavailableError, type Publisher } from '@pf/event-log';
import { BackOff, currentTrace, inSpan, recordDuration, type MetricLabels, SpanKind } from '@pf/runtime';
import { ApiError } from './api-error.ts';
import { OutcomeUnknownError, type Outcomes } from './outcomes.ts';
import { refused } from './refusals.ts';
import type { ReplyChannel } from './reply-channel.ts';

/** As long as the writer takes a command that is not answered yet (architecture.md), and a little for the last look at its outcome. */
const PATIENCE_MS = 8_500;
/** The log is there or it is not: nobody is kept waiting for a broker. */
const PUBLISH_MS = 3_000;
/** A command that is repeated until answered is repeated after this. */
const REPEAT_MS = 2_500;

export interface NewCommand<Type extends CommandType> {
  readonly type: Type;
  readonly intentId: IntentId;
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly data: CommandData[Type];
}

/** What became of a command that was decided. */
export type Result =
  | {
      readonly kind: 'accepted';
      readonly intentId: IntentId;
      readonly replayed: boolean;
      readonly build: Build | null;
      readonly attempts: number | null;
      /** The intent right after the command; null where the outcome was read from the database. */
      readonly intent: PublicIntent | null;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal };
export type Accepted = Extract<Result, { kind: 'accepted' }>;

/** Sends commands to the writer of the intent's partition and waits for what becomes of them. */
export class Commands {
  readonly #publisher: Publisher;
  readonly #replies: ReplyChannel;
  readonly #outcomes: Outcomes;

  constructor(publisher: Publisher, replies: ReplyChannel, outcomes: Outcomes) {
    this.#publisher = publisher;
    this.#replies = replies;
    this.#outcomes = outcomes;
  }

  /**
   * Sends a command once.
   * @throws ApiError `service.unavailable` with the intent's id where the log is away or no outcome came in time: it may
   *   have been carried out; `internal.error` where the command lies in the dead letters
   */
  async send<Type extends CommandType>(command: NewCommand<Type>): Promise<Result> {
    return this.#once(newCommandId(), command, PATIENCE_MS);
  }

  /** As send, where a refusal is an error for the client. */
  async require<Type extends CommandType>(command: NewCommand<Type>): Promise<Accepted> {
    const result = await this.send(command);
    if (result.kind === 'refused') throw refused(result.refusal);
    return result;
  }

  /**
   * Sends a command that has no deadline again and again until it is answered, as long as a request may take: it is the
   * same command every time, so it takes effect once.
   * @returns null where nobody answered: the watcher takes over
   */
  async insist<Type extends 'record_broadcast' | 'release_submission'>(
    command: NewCommand<Type>,
  ): Promise<Result | null> {
    const commandId = newCommandId();
    const backOff = new BackOff(50, 1_000);
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await backOff.wait()) {
      try {
        return await this.#once(commandId, command, REPEAT_MS);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'service.unavailable') throw error;
      }
    }
    return null;
  }

  async #once<Type extends CommandType>(
    commandId: CommandId,
    { type, intentId, accountId, livemode, data }: NewCommand<Type>,
    patienceMs: number,
  ): Promise<Result> {
    // One of the union's members by its generic parameter: TypeScript cannot follow that far.
    const command = { kind: 'command', type, commandId, intentId, accountId, livemode, data } as unknown as Command;
    const partition = partitionOf(intentId);
    const began = performance.now();
    let outcome: MetricLabels<'payments.command.duration'>['outcome'] = 'unknown';
    const reply = this.#outcomes.expect(commandId, this.#replies.listening, patienceMs);
    // Not AbortSignal.timeout, which would fire for every command, answered or not.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), PUBLISH_MS);
    try {
      // The writer goes on from this span: its trace travels in the message.
      const publish = (): Promise<void> =>
        this.#publisher.publish(
          'intent.commands',
          {
            partition,
            key: intentId,
            value: encodeInput({ ...command, replyTo: this.#replies.name, trace: currentTrace() }),
          },
          late.signal,
        );
      const published = inSpan('send intent.commands', null, publish, {
        kind: SpanKind.PRODUCER,
        attributes: sending(command, partition),
      });
      // The reply may overtake the broker's acknowledgement; a publish that fails ends the wait at once.
      const answer = await Promise.race([reply, published.then(() => reply)]);
      outcome = answer.outcome.kind;
      return resultOf(answer);
    } catch (error) {
      this.#outcomes.forget(commandId);
      if (error instanceof LogUnavailableError || error instanceof OutcomeUnknownError)
        throw new ApiError('service.unavailable', { details: { intent_id: intentId }, cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
      recordDuration('payments.command.duration', began, { type, outcome });
    }
  }
}

/** What a span says of a command that is sent, by the conventions for messaging. */
const sending = ({ type, commandId, intentId }: Command, partition: number) => ({
  'messaging.system': 'kafka',
  'messaging.operation.name': 'send',
  'messaging.operation.type': 'send',
  'messaging.destination.name': 'intent.commands',
  'messaging.destination.partition.id': String(partition),
  'messaging.message.id': commandId,
  'payments.command.type': type,
  'payments.intent.id': intentId,
});

function resultOf({ outcome, intent }: Reply): Result {
  switch (outcome.kind) {
    case 'accepted':
      return {
        kind: 'accepted',
        intentId: outcome.intentId,
        replayed: outcome.replayed,
        build: outcome.build,
        attempts: outcome.attempts,
        intent,
      };
    case 'refused':
      return { kind: 'refused', refusal: outcome.refusal };
    case 'dead':
      throw new ApiError('internal.error', {
        cause: new Error(`command ${outcome.commandId} lies in the dead letters`),
      });
    default:
      return outcome satisfies never;
  }
}
