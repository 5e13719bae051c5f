import type { NewRecord } from './port.ts';

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
