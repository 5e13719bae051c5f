import { isSampled, OpenSpan, SpanKind, type TraceContext } from '@pf/runtime';
import { type Input, isOfDeposit, type Message } from './input.ts';

/** Collectors cut off more links than this. */
const LINKS_AT_MOST = 128;

/** Attributes of the span of a message, by OpenTelemetry's semantic conventions for messaging. */
function messageAttributes({ topic, partition, offset }: Input['record'], message: Message) {
  return {
    'messaging.system': 'kafka',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.consumer.group.name': 'intent',
    'messaging.destination.name': topic,
    'messaging.destination.partition.id': String(partition),
    'messaging.kafka.offset': Number(offset),
    ...(isOfDeposit(message)
      ? { 'payments.deposit.id': message.depositId }
      : { 'payments.intent.id': message.intentId }),
    ...('commandId' in message
      ? { 'messaging.message.id': message.commandId, 'payments.command.type': message.type }
      : { 'payments.observation.type': message.type }),
  };
}

const SEND = {
  'messaging.system': 'kafka',
  'messaging.operation.name': 'send',
  'messaging.operation.type': 'send',
  'messaging.destination.name': 'intent.events',
} as const;
const PROJECT = {
  'db.system.name': 'postgresql',
  'db.operation.name': 'WITH',
  'db.query.summary': 'project ledger',
} as const;

/**
 * The spans of a batch. It has one in a trace of its own, linked to its messages. Each message with a sampled trace has
 * one in that trace too, with the transaction and the projection below it: the trace of a payment shows all that was
 * done for it, however many other messages were in the batch.
 */
export class BatchTrace {
  /** The inputs, each with the trace of its processing, which its events continue. */
  readonly inputs: readonly Input[];
  readonly #batch: OpenSpan;
  readonly #messages: OpenSpan[] = [];
  readonly #partition: number;
  #decidedAt = 0;
  #committedAt = 0;
  #ended = false;

  constructor(name: string, partition: number, inputs: readonly Input[]) {
    this.#partition = partition;
    const links = inputs.flatMap(({ message }) => (message === null ? [] : [message.trace])).slice(0, LINKS_AT_MOST);
    this.#batch = new OpenSpan(name, null, {
      links,
      attributes: {
        'messaging.batch.message_count': inputs.length,
        'messaging.destination.partition.id': String(partition),
      },
    });
    this.inputs = inputs.map((input) =>
      input.message !== null && isSampled(input.message.trace) ? this.#withSpan(input, input.message) : input,
    );
  }

  /** The batch's own trace, for events that no message has caused. */
  get trace(): TraceContext {
    return this.#batch.trace;
  }

  /** Runs a part of the batch's work below its span. */
  run<Result>(work: () => Result): Result {
    return this.#batch.run(work);
  }

  /** Everything is decided; the transaction follows. */
  decided(): void {
    this.#decidedAt = performance.now();
  }

  /** The transaction is committed; the projection follows. */
  committed(appended: number): void {
    this.#committedAt = performance.now();
    this.#addChildren('send intent.events', this.#decidedAt, this.#committedAt, SpanKind.PRODUCER, {
      ...SEND,
      'messaging.destination.partition.id': String(this.#partition),
      'messaging.batch.message_count': appended,
    });
  }

  projected(): void {
    for (const message of this.#messages)
      message.child('project ledger', this.#committedAt, performance.now(), {
        kind: SpanKind.CLIENT,
        attributes: PROJECT,
      });
    this.#end();
  }

  /** Nothing was decided: no transaction follows. */
  decidedNothing(): void {
    this.#end();
  }

  /** The batch failed here: the partition's next owner repeats it or finds it done. No effect after its end. */
  failed(error: unknown): void {
    this.#end(error);
  }

  #withSpan(input: Input, message: Message): Input {
    const span = new OpenSpan(`process ${input.record.topic}`, message.trace, {
      kind: SpanKind.CONSUMER,
      links: [this.#batch.trace],
      attributes: messageAttributes(input.record, message),
    });
    this.#messages.push(span);
    return { record: input.record, message: { ...message, trace: span.trace } };
  }

  #addChildren(
    name: string,
    began: number,
    ended: number,
    kind: SpanKind,
    attributes: Record<string, string | number>,
  ): void {
    for (const span of [this.#batch, ...this.#messages]) span.child(name, began, ended, { kind, attributes });
  }

  #end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const span of [...this.#messages, this.#batch]) span.end(error);
  }
}
