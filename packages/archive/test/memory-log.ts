import { LogTruncatedError, type LogReader, type LogRecord, type RecordBatch } from '@pf/event-log';
import { recordAt } from './recorded.ts';

type Follows = Pick<LogReader, 'follow' | 'read' | 'startOffset' | 'endOffset'>;

/** A log in memory that grows while it is followed. Only what an archiver asks for. */
export class MemoryLog implements Follows {
  readonly records: LogRecord[][];
  /** How many records a follower was given. */
  delivered = 0;
  #wake: (() => void)[] = [];

  constructor(partitions: number) {
    this.records = Array.from({ length: partitions }, () => []);
  }

  /** Appends events that differ from all others. */
  grow(partition: number, count: number): void {
    const length = this.records[partition]?.length ?? 0;
    this.append(partition, ...Array.from({ length: count }, (_, n) => recordAt(partition, length + n)));
  }
  append(partition: number, ...records: readonly LogRecord[]): void {
    this.records[partition]?.push(...records);
    for (const wake of this.#wake.splice(0)) wake();
  }

  async *follow(
    _topic: 'intent.events',
    from: ReadonlyMap<number, bigint>,
    signal: AbortSignal,
  ): AsyncIterable<RecordBatch & { readonly partition: number }> {
    const positions = new Map(from);
    while (!signal.aborted) {
      for (const [partition, position] of positions) {
        const records = (this.records[partition] ?? []).filter(({ offset }) => offset >= position);
        const last = records.at(-1);
        if (last === undefined) continue;
        positions.set(partition, last.offset + 2n);
        this.delivered += records.length;
        yield { partition, records, next: last.offset + 2n };
      }
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
        if (signal.aborted) resolve();
      });
    }
  }

  async *read(_topic: 'intent.events', partition: number, from: bigint, end: bigint): AsyncIterable<RecordBatch> {
    if (end > (await this.endOffset('intent.events', partition))) throw new LogTruncatedError('it ends before');
    yield {
      records: (this.records[partition] ?? []).filter(({ offset }) => offset >= from && offset < end),
      next: end,
    };
  }
  async startOffset(): Promise<bigint> {
    return 0n;
  }
  async endOffset(_topic: 'intent.events', partition: number): Promise<bigint> {
    return (this.records[partition]?.at(-1)?.offset ?? -2n) + 2n;
  }
}
