import type { IHeaders, KafkaMessage, Message } from 'kafkajs';
import type { LogRecord, NewRecord, Topic } from './port.ts';

/** Offsets, timestamps and lengths beside key, value and headers; slightly more than the format needs. */
const RECORD_OVERHEAD_BYTES = 32;

/** The size of a record in a request, in bytes. */
export function sizeOf(record: Pick<NewRecord, 'key' | 'value' | 'headers'>): number {
  let bytes = RECORD_OVERHEAD_BYTES + Buffer.byteLength(record.key) + Buffer.byteLength(record.value);
  for (const [name, value] of Object.entries(record.headers ?? {}))
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 4;
  return bytes;
}

/** How many of the first items fit within the limits; at least one, so that every item is sent. */
export function fitting<Item>(
  items: readonly Item[],
  sizeOfItem: (item: Item) => number,
  limits: { readonly count: number; readonly bytes: number },
): number {
  let bytes = 0;
  let count = 0;
  for (const item of items) {
    bytes += sizeOfItem(item);
    if (count > 0 && (bytes > limits.bytes || count >= limits.count)) break;
    count++;
  }
  return count;
}

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
