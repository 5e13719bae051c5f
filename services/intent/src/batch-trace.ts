import type { CommandMessage, ObservationMessage } from '@pf/contracts';
import { isSampled, OpenSpan, SpanKind, type TraceContext } from '@pf/runtime';
import type { Input } from './input.ts';

type Message = CommandMessage | ObservationMessage;

/** More is cut off where spans are kept. */
const LINKS_AT_MOST = 128;

/** What is said of a message in the span of its processing, by the conventions for messaging. */
function aboutMessage({ topic, partition, offset }: Input['record'], message: Message) {
  return {
    'messaging.system': 'kafka',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.consumer.group.name': 'intent',
    'messaging.destination.name': topic,
    'messaging.destination.partition.id': String(partition),
    'messaging.kafka.offset': Number(offset),
    'payments.intent.id': message.intentId,
    ...(message.kind === 'command'
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
 * The spans of a slice. It has one of its own, in a trace of its own, linked to its messages; and each message whose trace
 * somebody keeps has one in that trace, with the transaction and the projection below it: so each payment's trace shows
 * all that was done for it, however many others were in the slice.
 */
export class BatchTrace {
  /** As they were read, but with the trace in which they are processed: their events go on from there. */
  readonly inputs: readonly Input[];
  readonly #slice: OpenSpan;
  readonly #messages: OpenSpan[] = [];
  readonly #partition: number;
  #decidedAt = 0;
  #committedAt = 0;
  #ended = false;

  constructor(name: string, partition: number, inputs: readonly Input[]) {
    this.#partition = partition;
    const links = inputs.flatMap(({ message }) => (message === null ? [] : [message.trace])).slice(0, LINKS_AT_MOST);
    this.#slice = new OpenSpan(name, null, {
      links,
      attributes: {
        'messaging.batch.message_count': inputs.length,
        'messaging.destination.partition.id': String(partition),
      },
    });
    this.inputs = inputs.map((input) =>
      input.message !== null && isSampled(input.message.trace) ? this.#followed(input, input.message) : input,
    );
  }

  /** Of the slice itself: for what no message has caused. */
  get trace(): TraceContext {
    return this.#slice.trace;
  }

  /** Does a part of the slice's work, below its span. */
  run<Result>(work: () => Result): Result {
    return this.#slice.run(work);
  }

  /** Everything is decided; what follows is the transaction. */
  decided(): void {
    this.#decidedAt = performance.now();
  }

  /** The transaction is committed; what follows is the projection. */
  committed(appended: number): void {
    this.#committedAt = performance.now();
    this.#below('send intent.events', this.#decidedAt, this.#committedAt, SpanKind.PRODUCER, {
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

  /** It came to nothing here: whoever takes the partition over does it again, or finds it done. Nothing where it has ended. */
  failed(error: unknown): void {
    this.#end(error);
  }

  #followed(input: Input, message: Message): Input {
    const span = new OpenSpan(`process ${input.record.topic}`, message.trace, {
      kind: SpanKind.CONSUMER,
      links: [this.#slice.trace],
      attributes: aboutMessage(input.record, message),
    });
    this.#messages.push(span);
    return { record: input.record, message: { ...message, trace: span.trace } };
  }

  #below(
    name: string,
    began: number,
    ended: number,
    kind: SpanKind,
    attributes: Record<string, string | number>,
  ): void {
    for (const span of [this.#slice, ...this.#messages]) span.child(name, began, ended, { kind, attributes });
  }

  #end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const span of [...this.#messages, this.#slice]) span.end(error);
  }
}
