import { type CommandSeal, encodeInput, newCommandId, type Outcome, partitionOf, type Reply } from '@pf/contracts';
import type {
  AccountId,
  Build,
  Command,
  CommandData,
  CommandId,
  CommandType,
  DepositCommand,
  DepositCommandData,
  DepositId,
  IntentId,
  PublicIntent,
  Refusal,
} from '@pf/domain';
import { LogUnavailableError, type Publisher } from '@pf/event-log';
import { BackOff, currentTrace, inSpan, recordDuration, type MetricLabels, SpanKind } from '@pf/runtime';
import { ApiError } from './api-error.ts';
import { CommandTurns } from './limits/command-turns.ts';
import { OutcomeUnknownError, type Outcomes } from './outcomes.ts';
import { refused, refusedDeposit } from './refusals.ts';
import type { ReplyChannel } from './reply-channel.ts';

/**
 * How long a request waits, for its turn and for the outcome: the writer's deadline for commands (COMMAND_DEADLINE_MS),
 * and time for one more look at the outcome.
 */
const OUTCOME_TIMEOUT_MS = 8_500;
/** Fails fast if no broker accepts the command. */
const PUBLISH_TIMEOUT_MS = 3_000;
/** How long to wait for the outcome of a command without a deadline before it is sent again. */
const REPEAT_AFTER_MS = 2_500;

export interface NewCommand<Type extends CommandType> {
  readonly type: Type;
  readonly intentId: IntentId;
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly data: CommandData[Type];
  /** Whether it has what may be in the hands of payers: it then takes none of the account's turns. */
  readonly byPayer?: boolean;
}

/** The outcome of a command that the writer has decided. */
export type Result =
  | {
      readonly kind: 'accepted';
      readonly intentId: IntentId;
      readonly replayed: boolean;
      readonly build: Build | null;
      readonly attempts: number | null;
      /** The intent right after the command; null if the outcome was read from the database. */
      readonly intent: PublicIntent | null;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal };
export type Accepted = Extract<Result, { kind: 'accepted' }>;

/** Sends commands to the writer of the intent's or deposit's partition and waits for their outcomes. */
export class Commands {
  readonly #publisher: Publisher;
  readonly #replies: Pick<ReplyChannel, 'name' | 'listening'>;
  readonly #outcomes: Outcomes;
  readonly #turns: CommandTurns;
  readonly #seal: CommandSeal | null;

  /** @param seal encrypts what commands say of a person; null: they hold it as it is */
  constructor(
    publisher: Publisher,
    replies: Pick<ReplyChannel, 'name' | 'listening'>,
    outcomes: Outcomes,
    turns = new CommandTurns(),
    seal: CommandSeal | null = null,
  ) {
    this.#publisher = publisher;
    this.#replies = replies;
    this.#outcomes = outcomes;
    this.#turns = turns;
    this.#seal = seal;
  }

  /**
   * Sends a command once, when it is the account's turn in the partition.
   * @throws ApiError `service.unavailable` with the intent's id if the log is unavailable or no outcome came in time
   *   (the command may have taken effect); `rate_limit.exceeded` if its turn did not come, and nothing was sent;
   *   `internal.error` if the command was dead-lettered
   */
  async send<Type extends CommandType>(command: NewCommand<Type>): Promise<Result> {
    const { intentId: subject, byPayer = false } = command;
    return resultOf(await this.#sendInTurn(commandOf(newCommandId(), command), subject, byPayer));
  }

  /** Like `send`, but a refusal is thrown as the error for the client. */
  async require<Type extends CommandType>(command: NewCommand<Type>): Promise<Accepted> {
    const result = await this.send(command);
    if (result.kind === 'refused') throw refused(result.refusal);
    return result;
  }

  /**
   * Sends a command about a deposit, as `send` does. When it returns, the deposit is as the command wants it.
   * @param commandId that of a command which may have been sent before, and is decided once
   * @throws ApiError as `send`, with the deposit's id, and that of a refusal
   */
  async requireOfDeposit(
    command: DepositCommandData & Pick<DepositCommand, 'depositId' | 'accountId' | 'livemode'>,
    commandId = newCommandId(),
  ): Promise<void> {
    const message: DepositCommand = { kind: 'deposit_command', commandId, ...command };
    const { outcome } = await this.#sendInTurn(message, command.depositId, false);
    if (outcome.kind === 'deposit' && outcome.refusal !== null) throw refusedDeposit(outcome.refusal);
  }

  /**
   * Sends a command that has no deadline again and again until its outcome is known, for as long as a request may take.
   * Every repetition has the same id, so it takes effect once. It takes no turn: it follows a submission, which did,
   * and must not wait.
   * @returns null if no outcome came: the watcher takes over
   */
  async insist<Type extends 'record_broadcast' | 'release_submission'>(
    command: NewCommand<Type>,
  ): Promise<Result | null> {
    const commandId = newCommandId();
    const backOff = new BackOff(50, 1_000);
    for (const end = performance.now() + OUTCOME_TIMEOUT_MS; performance.now() < end; await backOff.wait()) {
      try {
        return resultOf(await this.#sendOnce(commandOf(commandId, command), command.intentId, REPEAT_AFTER_MS));
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'service.unavailable') throw error;
      }
    }
    return null;
  }

  #sendInTurn(command: Command | DepositCommand, subject: IntentId | DepositId, byPayer: boolean): Promise<Reply> {
    const { accountId, livemode } = command;
    const until = performance.now() + OUTCOME_TIMEOUT_MS;
    return this.#turns.run({ accountId, livemode, subject, byPayer, partition: partitionOf(subject) }, () =>
      this.#sendOnce(command, subject, until - performance.now()),
    );
  }

  async #sendOnce(command: Command | DepositCommand, subject: IntentId | DepositId, timeoutMs: number): Promise<Reply> {
    const { commandId, type } = command;
    const partition = partitionOf(subject);
    const began = performance.now();
    let outcome: MetricLabels<'payments.command.duration'>['outcome'] = 'unknown';
    const reply = this.#outcomes.expect(commandId, this.#replies.listening, timeoutMs);
    // Unlike AbortSignal.timeout, this timer is cleared when the command is published.
    const publishTimeout = new AbortController();
    const timer = setTimeout(() => publishTimeout.abort(), PUBLISH_TIMEOUT_MS);
    try {
      // The message carries the trace, so that the writer continues it.
      const publish = (): Promise<void> =>
        this.#publisher.publish(
          'intent.commands',
          {
            partition,
            key: subject,
            value: encodeInput({ ...command, replyTo: this.#replies.name, trace: currentTrace() }, this.#seal),
          },
          publishTimeout.signal,
        );
      const published = inSpan('send intent.commands', null, publish, {
        kind: SpanKind.PRODUCER,
        attributes: spanAttributes(command, partition),
      });
      // The reply may overtake the broker's acknowledgement; a failed publish ends the wait at once.
      const received = await Promise.race([reply, published.then(() => reply)]);
      outcome = labelOf(received.outcome);
      return received;
    } catch (error) {
      this.#outcomes.forget(commandId);
      if (error instanceof LogUnavailableError || error instanceof OutcomeUnknownError)
        throw new ApiError('service.unavailable', {
          details: command.kind === 'command' ? { intent_id: subject } : { deposit_id: subject },
          cause: error,
        });
      throw error;
    } finally {
      clearTimeout(timer);
      recordDuration('payments.command.duration', began, { type, outcome });
    }
  }
}

const commandOf = <Type extends CommandType>(
  commandId: CommandId,
  { type, intentId, accountId, livemode, data }: NewCommand<Type>,
): Command =>
  // TypeScript cannot infer which member of the union the generic parameter selects.
  ({ kind: 'command', type, commandId, intentId, accountId, livemode, data }) as unknown as Command;

/** As the metric has it. */
const labelOf = (outcome: Outcome): 'accepted' | 'refused' | 'dead' =>
  outcome.kind !== 'deposit' ? outcome.kind : outcome.refusal === null ? 'accepted' : 'refused';

/** OpenTelemetry's semantic conventions for messaging spans. */
const spanAttributes = (command: Command | DepositCommand, partition: number) => ({
  'messaging.system': 'kafka',
  'messaging.operation.name': 'send',
  'messaging.operation.type': 'send',
  'messaging.destination.name': 'intent.commands',
  'messaging.destination.partition.id': String(partition),
  'messaging.message.id': command.commandId,
  'payments.command.type': command.type,
  ...(command.kind === 'command'
    ? { 'payments.intent.id': command.intentId }
    : { 'payments.deposit.id': command.depositId }),
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
        cause: new Error(`command ${outcome.commandId} was dead-lettered`),
      });
    case 'deposit':
      throw new TypeError(`command ${outcome.commandId} of an intent has the outcome of ${outcome.depositId}`);
    default:
      return outcome satisfies never;
  }
}
