import type { ParquetFiles, StoredEvent } from '../src/parquet.ts';

/** All events of a file. */
export async function eventsIn(parquet: ParquetFiles, file: Uint8Array): Promise<readonly StoredEvent[]> {
  const all: StoredEvent[] = [];
  for await (const events of parquet.read(file)) all.push(...events);
  return all;
}
