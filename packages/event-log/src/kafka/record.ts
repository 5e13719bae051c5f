import type { IHeaders, KafkaMessage, Message } from 'kafkajs';
import type { LogRecord, NewRecord, Topic } from '../port.ts';

export function toMessage(record: NewRecord): Message {
  return {
    partition: record.partition,
    key: record.key,
    value: record.value,
    ...(record.headers ? { headers: { ...record.headers } } : {}),
  };
}

export function toLogRecord(topic: Topic, partition: number, message: KafkaMessage): LogRecord {
  return {
    topic,
    partition,
    offset: BigInt(message.offset),
    timestamp: Number(message.timestamp),
    key: message.key?.toString() ?? null,
    value: message.value?.toString() ?? null,
    headers: toHeaders(message.headers),
  };
}

/** Of a repeated header the last value counts. */
function toHeaders(headers: IHeaders | undefined): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (last !== undefined) plain[name] = last.toString();
  }
  return plain;
}
