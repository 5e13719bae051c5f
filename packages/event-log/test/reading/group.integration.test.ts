import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient, QUICK_RETRY } from '../../src/kafka/client.ts';
import {
  createEventLog,
  type EventLog,
  type EventLogOptions,
  type GroupConsumer,
  type GroupWork,
  type RecordBatch,
  SILENT,
} from '../../src/index.ts';
import { Names } from '../../src/names.ts';
import { kafkaTransport } from '../../src/kafka/transport.ts';
import { freshLog, freshOptions, PARTITIONS, until } from '../stack.ts';

// A busy machine may be slow.
/** Rows stored with their offset, as the webhook service does in Postgres. */
class Rows implements GroupWork {
  readonly offsets = new Map<number, bigint>();
  readonly values: string[] = [];
  misses = 0;
  failures = 0;
  /** Members that have handled a batch. */
  readonly busy = new Set<string>();

  as(member: string): GroupWork {
    return {
      positions: (partitions) => this.positions(partitions),
      handle: async (...batch) => {
        this.busy.add(member);
        return this.handle(...batch);
      },
    };
  }

  async positions(partitions: readonly number[]): Promise<ReadonlyMap<number, bigint>> {
    return new Map(partitions.map((partition) => [partition, this.offsets.get(partition) ?? 0n]));
  }

  async handle(partition: number, from: bigint, { records, next }: RecordBatch): Promise<boolean> {
    if (this.failures-- > 0) throw new Error('the database is unavailable');
    if ((this.offsets.get(partition) ?? 0n) !== from) {
      this.misses++;
      return false;
    }
    this.values.push(...records.map(({ value }) => value ?? ''));
    this.offsets.set(partition, next);
    return true;
  }
}

describe('GroupConsumer', () => {
  let options: EventLogOptions;
  let log: EventLog;
  let rows: Rows;
  /** The offset at which every partition goes on. */
  let end: bigint;
  const members: GroupConsumer[] = [];

  beforeEach(async () => {
    options = freshOptions();
    log = await freshLog(options);
    rows = new Rows();
    end = 0n;
  });
  afterEach(async () => {
    await Promise.all(members.splice(0).map((member) => member.stop()));
  });

  async function join(name: string): Promise<GroupConsumer> {
    const member = log.group('webhook', 'intent.events', rows.as(name), (error) => {
      throw error;
    });
    members.push(member);
    await member.start();
    return member;
  }

  /** One transaction of two events in each partition. */
  async function append(label: string): Promise<string[]> {
    const at = end;
    end += 3n;
    const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
    const values = await Promise.all(
      partitions.map(async (partition) => {
        const writer = await kafkaTransport(options, new Names(options.prefix ?? '')).openWriter(partition);
        const pair = [`${label}-${partition}-a`, `${label}-${partition}-b`];
        await writer.commit(
          pair.map((value) => ({ partition, key: 'k', value })),
          null,
          at,
        );
        await writer.close();
        return pair;
      }),
    );
    return values.flat();
  }

  const untilSeen = (values: readonly string[]): Promise<void> =>
    until(() => values.every((value) => rows.values.includes(value)), 'the rows');

  it('delivers every event once from the stored positions, also after a restart', async () => {
    const first = await append('first');
    await join('a');
    await untilSeen(first);
    await members.splice(0)[0]?.stop();
    const second = await append('second');
    await join('b');
    await untilSeen(second);
    expect(rows.values.toSorted()).toEqual([...first, ...second].toSorted());
    expect(rows.misses).toBe(0);
  });

  it('distributes the partitions over the members', async () => {
    await Promise.all([join('a'), join('b')]);
    const seen: string[] = [];
    for (let round = 0; rows.busy.size < 2; round++) {
      seen.push(...(await append(`round ${round}`)));
      await untilSeen(seen);
    }
    expect(rows.values.toSorted()).toEqual(seen.toSorted());
  });

  it('reads the stored position again when another member has moved it', async () => {
    await join('a');
    const first = await append('first');
    await untilSeen(first);
    // Another member has stored the next batch: two events and a marker.
    rows.offsets.set(0, (rows.offsets.get(0) ?? 0n) + 3n);
    const second = await append('second');
    await untilSeen(second.slice(2));
    const third = await append('third');
    await untilSeen(third);
    expect(rows.misses).toBe(1);
    expect(rows.values).not.toContain('second-0-a');
  });

  it('retries a batch that failed', async () => {
    rows.failures = 3;
    await join('a');
    const values = await append('values');
    await untilSeen(values);
    expect(rows.values.toSorted()).toEqual(values.toSorted());
  });

  it('handles nothing where a stored position is not in the log, and continues elsewhere', async () => {
    const errors: object[] = [];
    log = createEventLog({ ...options, logger: { ...SILENT, error: (fields) => errors.push(fields) } });
    await append('first');
    // Beyond the end, and before the start.
    rows.offsets.set(0, 1_000n);
    const admin = createClient(options, 'admin', QUICK_RETRY).admin();
    await admin.connect();
    const topic = new Names(options.prefix ?? '').topic('intent.events');
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 1, offset: '2' }] });
    await admin.disconnect();
    await join('a');
    await until(() => errors.length === 2, 'the alarms', 30_000);
    expect(errors).toMatchObject([{ alarm: 'broken_log' }, { alarm: 'broken_log' }]);
    const second = await append('second');
    await untilSeen(second.filter((value) => !/-[01]-/.test(value)));
    expect(rows.values.filter((value) => /-[01]-/.test(value))).toEqual([]);
    expect(rows.offsets.get(0)).toBe(1_000n);
    expect(errors).toHaveLength(2);
  });
});
