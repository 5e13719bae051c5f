import { expect } from '@jest/globals';
import type {
  Fetched,
  GroupBatch,
  GroupMember,
  InputTopic,
  LogConnection,
  LogTransport,
  MemberWork,
  NewRecord,
  Topic,
  OffsetOf,
} from '../../src/index.ts';
import { LogTruncatedError, PositionOutOfRangeError } from '../../src/index.ts';
import { until } from '../waiting.ts';

/** A log of its own, on the transport under test. */
export interface TransportWorld {
  readonly transport: LogTransport;
  /** Appends to the partition's events in a transaction whose writer dies before its end. */
  abandon(partition: number, values: readonly string[]): Promise<void>;
  /** Deletes the records of a partition below an offset. */
  deleteBelow(topic: Topic, partition: number, offset: bigint): Promise<void>;
}

const PARTITION = 1;
const OTHER = 2;

export const event = (value: string, partition = PARTITION): NewRecord => ({ partition, key: 'k', value });

/** One request on a connection of its own; again after a refusal that calls for it, as right after a topic is made. */
async function request<Answer>(
  { transport }: TransportWorld,
  question: (connection: LogConnection) => Promise<Answer>,
): Promise<Answer> {
  const connection = await transport.connect('test');
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await question(connection);
      } catch (error) {
        const retriable = error instanceof Error && 'retriable' in error && error.retriable === true;
        if (!retriable || error instanceof PositionOutOfRangeError || tries === 100) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
        await connection.refresh();
      }
    }
  } finally {
    await connection.close();
  }
}

/** One fetch from the partition's leader. */
const fetchOnce = (world: TransportWorld, topic: Topic, from: bigint, maxWaitMs = 0): Promise<Fetched | undefined> =>
  request(world, async (connection) => {
    const [leader = ''] = (await connection.leaders(topic, [PARTITION])).keys();
    return (await connection.fetch(leader, topic, new Map([[PARTITION, from]]), maxWaitMs, 1))[0];
  });

const offset = (world: TransportWorld, topic: Topic, which: OffsetOf): Promise<bigint | undefined> =>
  request(world, async (connection) => (await connection.offsets(topic, [PARTITION], which)).get(PARTITION));

const committed = (world: TransportWorld, topic: InputTopic): Promise<bigint | null> =>
  request(world, (connection) => connection.committed('intent', topic, PARTITION));

/** Every committed value of the partition's events, read to the end. */
async function values(world: TransportWorld): Promise<(string | null)[]> {
  const found: (string | null)[] = [];
  const end = (await offset(world, 'intent.events', 'end')) ?? 0n;
  for (let position = (await offset(world, 'intent.events', 'start')) ?? 0n; position < end;) {
    const fetched = await fetchOnce(world, 'intent.events', position, 100);
    found.push(...(fetched?.records ?? []).map(({ value }) => value));
    position = fetched?.next ?? position;
  }
  return found;
}

const visibleUpTo = (world: TransportWorld, end: bigint): Promise<void> =>
  until(async () => (await offset(world, 'intent.events', 'end')) === end, `the end of the events at ${end}`);

/** A member that takes every assigned partition from its first offset and keeps what it gets. */
class Collector implements MemberWork {
  readonly member: GroupMember;
  readonly values: string[] = [];
  readonly batches: Pick<GroupBatch, 'topic' | 'from' | 'next'>[] = [];
  readonly crashes: Error[] = [];
  readonly #topics: readonly Topic[];
  assigned: readonly number[] = [];
  heartbeats = 0;

  constructor(transport: LogTransport, topics: readonly Topic[], from = 0n) {
    this.#topics = topics;
    this.member = transport.member(
      {
        name: 'test',
        group: 'collectors',
        topics,
        claims: () => this.assigned,
        onCrash: (error) => this.crashes.push(error),
      },
      this,
    );
    this.#from = from;
  }

  readonly #from: bigint;

  joined(partitions: readonly number[]): void {
    this.assigned = partitions;
    for (const topic of this.#topics)
      for (const partition of partitions) this.member.resume(topic, partition, this.#from);
  }

  heartbeat(): void {
    this.heartbeats++;
  }

  async batch({ topic, records, from, next, resolve, isStale }: GroupBatch): Promise<void> {
    const last = records.at(-1);
    if (!last || isStale()) return;
    this.values.push(...records.map(({ value }) => value ?? ''));
    this.batches.push({ topic, from, next });
    resolve(last.offset);
  }
}

export interface TransportCase {
  readonly name: string;
  readonly run: (world: TransportWorld) => Promise<void>;
}

/** What the log relies on: every transport passes it. Each case gets a log of its own. */
export const transportCases: readonly TransportCase[] = [
  {
    name: 'fences a writer when the next one opens, and never shows what it writes later',
    async run(world) {
      const former = await world.transport.openWriter(PARTITION);
      await former.commit([event('former')], null, 0n);
      const present = await world.transport.openWriter(PARTITION);
      await expect(former.commit([event('stale')], { topic: 'intent.commands', offset: 7n }, 2n)).rejects.toThrow();
      await expect(former.commit([], { topic: 'intent.commands', offset: 8n }, 2n)).rejects.toThrow();
      await present.commit([event('present')], { topic: 'intent.commands', offset: 1n }, 2n);
      await visibleUpTo(world, 4n);
      expect(await values(world)).toEqual(['former', 'present']);
      await until(async () => (await committed(world, 'intent.commands')) === 1n, 'the offset');
      await Promise.all([former.close(), present.close()]);
    },
  },
  {
    name: 'leaves the writers of other partitions alone',
    async run(world) {
      const [one, other] = [await world.transport.openWriter(PARTITION), await world.transport.openWriter(OTHER)];
      await one.commit([event('one')], null, 0n);
      await other.commit([event('other', OTHER)], null, 0n);
      await one.commit([event('one again')], null, 2n);
      await Promise.all([one.close(), other.close()]);
    },
  },
  {
    name: 'appends records without a gap and gives the marker the offset after them',
    async run(world) {
      const writer = await world.transport.openWriter(PARTITION);
      await writer.commit([event('a'), event('b')], null, 0n);
      await writer.commit([event('c')], null, 3n);
      await visibleUpTo(world, 5n);
      const fetched = await fetchOnce(world, 'intent.events', 1n, 100);
      expect(fetched?.records[0]).toMatchObject({ value: 'b', offset: 1n, partition: PARTITION });
      expect(fetched?.from).toBe(1n);
      expect(await values(world)).toEqual(['a', 'b', 'c']);
      await writer.close();
    },
  },
  {
    name: 'commits nothing where the first record would get another offset',
    async run(world) {
      const writer = await world.transport.openWriter(PARTITION);
      await writer.commit([event('a')], null, 0n);
      const consumed = { topic: 'intent.commands', offset: 1n } as const;
      await expect(writer.commit([event('too low')], consumed, 3n)).rejects.toThrow(LogTruncatedError);
      const next = await world.transport.openWriter(PARTITION);
      await expect(next.commit([event('too high')], consumed, 2n)).rejects.not.toThrow(LogTruncatedError);
      await visibleUpTo(world, 6n);
      expect(await values(world)).toEqual(['a']);
      expect(await committed(world, 'intent.commands')).toBeNull();
      await Promise.all([writer.close(), next.close()]);
    },
  },
  {
    name: 'tells where the partition ends, with what is open and what another writer appends',
    async run(world) {
      const writer = await world.transport.openWriter(PARTITION);
      const endsAt = async (position: bigint): Promise<void> => {
        await until(() => writer.endsAt(position), `the end at ${position}`);
        expect([await writer.endsAt(position - 1n), await writer.endsAt(position + 1n)]).toEqual([false, false]);
      };
      await until(() => writer.endsAt(0n), 'the empty log');
      await writer.commit([event('a')], null, 0n);
      await endsAt(2n);
      await world.abandon(PARTITION, ['never']);
      await until(async () => !(await writer.endsAt(2n)), 'the open transaction');
      expect(await writer.endsAt(3n)).toBe(false);
      const next = await world.transport.openWriter(PARTITION);
      await until(() => next.endsAt(4n), 'the end behind the aborted transaction');
      await Promise.all([writer.close(), next.close()]);
    },
  },
  {
    name: 'tells where several partitions end that are looked at in one turn',
    async run(world) {
      const [one, other] = [await world.transport.openWriter(PARTITION), await world.transport.openWriter(OTHER)];
      await Promise.all([
        one.commit([event('a')], null, 0n),
        other.commit([event('b', OTHER), event('c', OTHER)], null, 0n),
      ]);
      await until(async () => {
        const ends = await Promise.all([one.endsAt(2n), other.endsAt(3n)]);
        return ends.every(Boolean);
      }, 'the ends of both');
      expect(await Promise.all([one.endsAt(2n), other.endsAt(2n)])).toEqual([true, false]);
      // Behind the end of its log.
      expect(await Promise.all([one.endsAt(2n), other.endsAt(9n)])).toEqual([true, false]);
      await Promise.all([one.close(), other.close()]);
    },
  },
  {
    name: 'commits the offsets of input with the records, also without records',
    async run(world) {
      expect(await committed(world, 'intent.commands')).toBeNull();
      const writer = await world.transport.openWriter(PARTITION);
      await writer.commit([event('a')], { topic: 'intent.commands', offset: 3n }, 0n);
      await writer.commit([], { topic: 'chain.observations', offset: 5n }, 2n);
      await until(async () => (await committed(world, 'intent.commands')) === 3n, 'the offset of commands');
      await until(async () => (await committed(world, 'chain.observations')) === 5n, 'the offset of observations');
      await visibleUpTo(world, 2n);
      await writer.close();
    },
  },
  {
    name: 'ends the log before an open transaction, which the next writer aborts',
    async run(world) {
      await world.abandon(PARTITION, ['never 1', 'never 2']);
      expect(await offset(world, 'intent.events', 'end')).toBe(0n);
      expect(await offset(world, 'intent.events', 'appended')).toBe(2n);
      const next = await world.transport.openWriter(PARTITION);
      expect(await offset(world, 'intent.events', 'end')).toBe(3n);
      expect(await offset(world, 'intent.events', 'appended')).toBe(3n);
      const aborted = await fetchOnce(world, 'intent.events', 0n, 100);
      expect(aborted).toMatchObject({ records: [], next: 3n });
      await next.commit([event('a')], null, 3n);
      await visibleUpTo(world, 5n);
      expect(await values(world)).toEqual(['a']);
      await next.close();
    },
  },
  {
    name: 'refuses a position beyond the end of a log or before its start',
    async run(world) {
      const producer = await world.transport.openProducer();
      for (const value of ['a', 'b', 'c']) await producer.send([{ topic: 'intent.dead', record: event(value) }]);
      expect((await fetchOnce(world, 'intent.dead', 3n))?.next ?? null).toBeNull();
      await expect(fetchOnce(world, 'intent.dead', 4n)).rejects.toThrow(PositionOutOfRangeError);
      await world.deleteBelow('intent.dead', PARTITION, 2n);
      expect(await offset(world, 'intent.dead', 'start')).toBe(2n);
      await expect(fetchOnce(world, 'intent.dead', 1n)).rejects.toMatchObject({
        topic: 'intent.dead',
        partition: PARTITION,
        position: 1n,
      });
      expect((await fetchOnce(world, 'intent.dead', 2n, 100))?.records.map(({ value }) => value)).toEqual(['c']);
      await producer.close();
    },
  },
  {
    name: 'keeps the order of what a producer sends, and has twice what is sent twice',
    async run(world) {
      const producer = await world.transport.openProducer();
      const sent = ['a', 'b', 'c'].map((value) => ({ topic: 'intent.commands', record: event(value) }) as const);
      await producer.send(sent);
      await producer.send(sent);
      const fetched = await fetchOnce(world, 'intent.commands', 0n, 100);
      expect(fetched?.records.map(({ value }) => value)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
      expect(fetched?.next).toBe(6n);
      expect(Math.abs((fetched?.records[0]?.timestamp ?? 0) - Date.now())).toBeLessThan(10_000);
      await producer.close();
    },
  },
  {
    name: 'responds to a waiting fetch when a record arrives',
    async run(world) {
      const producer = await world.transport.openProducer();
      const waiting = fetchOnce(world, 'intent.commands', 0n, 5_000);
      await producer.send([{ topic: 'intent.commands', record: event('a') }]);
      expect((await waiting)?.records.map(({ value }) => value)).toEqual(['a']);
      await producer.close();
    },
  },
  {
    name: 'gives a single member of a group all partitions, from the positions it names',
    async run(world) {
      const producer = await world.transport.openProducer();
      const send = (value: string): Promise<void> =>
        producer.send([
          { topic: 'intent.commands', record: event(value) },
          { topic: 'intent.commands', record: event(value, OTHER) },
        ]);
      await send('first');
      await send('second');
      const collector = new Collector(world.transport, ['intent.commands'], 1n);
      await collector.member.start();
      await until(() => collector.values.length === 2, 'the second records');
      await send('third');
      await until(() => collector.values.length === 4, 'the third records');
      expect(collector.values.toSorted()).toEqual(['second', 'second', 'third', 'third']);
      expect(collector.assigned).toEqual(Array.from({ length: world.transport.partitions }, (_, index) => index));
      expect(collector.batches.map(({ from }) => from).toSorted()).toEqual([1n, 1n, 2n, 2n]);
      await until(() => collector.heartbeats > 0 && collector.member.idleMs() < 2_000, 'a heartbeat');
      await collector.member.stop();
      expect(collector.crashes).toEqual([]);
      await producer.close();
    },
  },
  {
    name: 'shares the partitions of a group evenly and moves those of a member that leaves',
    async run(world) {
      const topics = ['intent.commands', 'chain.observations'] as const;
      const [first, second] = [new Collector(world.transport, topics), new Collector(world.transport, topics)];
      await first.member.start();
      const before = first.assigned;
      await second.member.start();
      const half = world.transport.partitions / 2;
      await until(() => first.assigned.length === half && second.assigned.length === half, 'equal shares');
      expect([...first.assigned, ...second.assigned].toSorted((a, b) => a - b)).toEqual(before);
      await first.member.stop();
      await until(() => second.assigned.length === before.length, 'all partitions');
      await second.member.stop();
    },
  },
  {
    name: 'does not show a group’s member aborted records or markers',
    async run(world) {
      await world.abandon(PARTITION, ['never']);
      const writer = await world.transport.openWriter(PARTITION);
      await writer.commit([event('a')], null, 2n);
      const collector = new Collector(world.transport, ['intent.events']);
      await collector.member.start();
      await until(() => collector.values.length === 1, 'the committed record');
      await writer.commit([event('b')], null, 4n);
      await until(() => collector.values.length === 2, 'the next one');
      expect(collector.values).toEqual(['a', 'b']);
      expect(collector.batches.at(-1)).toMatchObject({ from: 4n });
      await collector.member.stop();
      await writer.close();
    },
  },
];
