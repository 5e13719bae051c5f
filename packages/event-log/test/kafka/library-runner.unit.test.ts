import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { afterEach, describe, expect, it } from '@jest/globals';
import { MEMBER_RETRY } from '../../src/kafka/client.ts';

/** The loop of the library's consumer, with our patch. */
interface Runner {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** What the loop fetches with, with our patch. */
interface Group {
  offsetManager: object;
  readonly subscriptionState: { assign(assigned: readonly TopicPartitions[]): void };
  pause(partitions: readonly TopicPartitions[]): void;
  resume(partitions: readonly TopicPartitions[]): void;
  fetch(nodeId: string): Promise<readonly unknown[]>;
}
interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

const requireLibrary = createRequire(import.meta.url);
const LibraryRunner = requireLibrary('kafkajs/src/consumer/runner') as new (options: object) => Runner;
type LibraryErrors = Record<string, new (...of: unknown[]) => Error>;
const LibraryGroup = requireLibrary('kafkajs/src/consumer/consumerGroup') as new (options: object) => Group;
const errors = requireLibrary('kafkajs/src/errors') as LibraryErrors;
const QUIET = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => QUIET };

const failure = (name: string, ...of: unknown[]): Error => new (errors[name] as new (...of: unknown[]) => Error)(...of);
const refusal = (type: string, retriable: boolean): Error =>
  failure('KafkaJSProtocolError', { message: type, type, code: 0, retriable });

const UNKNOWN_MEMBER = refusal('UNKNOWN_MEMBER_ID', false);
const COORDINATOR_LOADS = refusal('GROUP_LOAD_IN_PROGRESS', true);
const NOT_AUTHORIZED = refusal('GROUP_AUTHORIZATION_FAILED', false);
const TIMED_OUT = failure('KafkaJSRequestTimeoutError', 'Request Heartbeat timed out');
/** How the library reports a join whose coordinator no broker named, for whatever reason. */
const NO_COORDINATOR = failure('KafkaJSNonRetriableError', failure('KafkaJSGroupCoordinatorNotFound', 'Failed'), {
  cause: failure('KafkaJSGroupCoordinatorNotFound', 'Failed to find group coordinator'),
});
const NO_LOCK = failure('KafkaJSNonRetriableError', failure('KafkaJSLockTimeout', 'Timeout'), {
  cause: failure('KafkaJSLockTimeout', 'Timeout while acquiring lock (1 waiting locks): "connect to broker"'),
});

/** A member that has fetched as often without a heartbeat or join does so for ever. */
const FETCHES_MAX = 1_000;

describe('The loop of a group member', () => {
  const started: Runner[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((runner) => runner.stop()));
  });

  /** Runs a member whose heartbeats and joins fail in turn as given, null for success, and succeed from then on. */
  async function run(heartbeats: readonly (Error | null)[], joins: readonly (Error | null)[]) {
    const calls: string[] = [];
    const crashes: Error[] = [];
    const settled = new EventEmitter();
    let fetches = 0;
    const left = { heartbeat: [...heartbeats], join: [null, ...joins] };
    const take = (what: 'heartbeat' | 'join'): void => {
      const next = left[what].shift();
      if (next) throw next;
    };
    const group = {
      memberId: 'member',
      coordinator: 'before',
      cluster: {
        refreshMetadata: async () => undefined,
        findGroupCoordinator: async () => 'after',
      },
      getNodeIds: () => ['1'],
      connect: async () => undefined,
      joinAndSync: async () => {
        calls.push('join');
        take('join');
        group.memberId = 'member';
      },
      // No heartbeat of a process that is no member: the library sends none.
      heartbeat: async () => {
        if (group.memberId) take('heartbeat');
      },
      fetch: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        const isOver = left.heartbeat.length === 0 && left.join.length === 0;
        if (isOver || ++fetches === FETCHES_MAX) settled.emit('over');
        return [];
      },
      leave: async () => undefined,
    };
    const runner = new LibraryRunner({
      logger: QUIET,
      consumerGroup: group,
      instrumentationEmitter: { emit: () => undefined },
      concurrency: 1,
      autoCommit: false,
      heartbeatInterval: 0,
      retry: { ...MEMBER_RETRY, initialRetryTime: 1, maxRetryTime: 1 },
      onCrash: (error: Error) => {
        crashes.push(error);
        settled.emit('over');
      },
    });
    started.push(runner);
    const over = new Promise((resolve) => settled.once('over', resolve));
    await runner.start();
    await over;
    return { calls, crashes, group };
  }

  it.each([
    ['its coordinator still loads the group', COORDINATOR_LOADS],
    ['its request timed out', TIMED_OUT],
    ['no broker names the coordinator', NO_COORDINATOR],
    ['another connection was being opened for too long', NO_LOCK],
  ])('joins the group again until it has joined, after %s', async (_what, failed) => {
    const { calls, crashes } = await run([UNKNOWN_MEMBER], [failed, failed, null]);
    expect([calls, crashes]).toEqual([['join', 'join', 'join', 'join'], []]);
  });

  it('joins the group again when only its assignment got lost: the coordinator takes it for a member', async () => {
    const { calls, crashes } = await run([refusal('REBALANCE_IN_PROGRESS', false)], [TIMED_OUT, null]);
    expect([calls, crashes]).toEqual([['join', 'join', 'join'], []]);
  });

  it('looks for its coordinator after an outage, and stays the member that it is', async () => {
    const outage = Array<Error>(MEMBER_RETRY.retries ?? 0).fill(TIMED_OUT);
    const { calls, crashes, group } = await run([...outage, TIMED_OUT, null], []);
    expect([calls, crashes, group.coordinator]).toEqual([['join'], [], 'after']);
  });

  it('ends when it may not join the group', async () => {
    const { crashes } = await run([UNKNOWN_MEMBER], [NOT_AUTHORIZED, null]);
    expect(crashes).toHaveLength(1);
    expect(crashes[0]?.message).toBe('GROUP_AUTHORIZATION_FAILED');
  });
});

describe('A fetch of a group member', () => {
  /** A member with partitions 0 and 1, and the waits of its fetches. */
  function fetching(maxWaitTimeInMs: number) {
    const waits: number[] = [];
    const group = new LibraryGroup({
      cluster: {
        refreshMetadataIfNecessary: async () => undefined,
        findTopicPartitionMetadata: () => [0, 1].map((partitionId) => ({ partitionId, leader: 1, replicas: [1] })),
        findBroker: async () => ({
          fetch: async ({ maxWaitTime }: { readonly maxWaitTime: number }) => {
            waits.push(maxWaitTime);
            return { responses: [] };
          },
        }),
      },
      logger: QUIET,
      maxWaitTimeInMs,
    });
    group.subscriptionState.assign([{ topic: 'commands', partitions: [0, 1] }]);
    group.offsetManager = {
      committedOffsets: () => ({ commands: { 0: '0', 1: '0' } }),
      nextOffset: () => '0',
      resolveOffsets: async () => undefined,
    };
    return { group, waits };
  }

  it('is held as long as asked for, and for a moment while a partition that may be resumed is paused', async () => {
    const { group, waits } = fetching(300);
    await group.fetch('1');
    group.pause([{ topic: 'commands', partitions: [1] }]);
    await group.fetch('1');
    group.resume([{ topic: 'commands', partitions: [1] }]);
    await group.fetch('1');
    expect(waits).toEqual([300, 50, 300]);
  });
});
