import type { LogConnection, LogTransport, NewRecord, PartitionWriter } from '@pf/event-log';
import type { Kernel } from '@pf/simulation/kernel';
import { BrokerError } from './broker-error.ts';
import { offsetKey, type SimulatedBroker } from './broker.ts';
import { type MemberTimes, SimulatedMember } from './member.ts';
import type { Request } from './request.ts';

const REQUEST_TIMEOUT_MS = 3_000;
/** The client library repeats a transaction's request after a failure or while the coordinator is busy. */
const TRIES = 15;
const BUSY_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 1_000;
/** The group of the partitions' owners, whose offsets the writers commit. */
const OWNER_GROUP = 'intent';

/** The transport of the log over a simulated broker. Serves every process: a request is the current one's. */
export function simulatedTransport(
  kernel: Kernel,
  broker: SimulatedBroker,
  times: MemberTimes = { heartbeatMs: 300, fetchWaitMs: 300 },
): LogTransport {
  const request: Request = (what, serve, timeoutMs = REQUEST_TIMEOUT_MS, signal = undefined) =>
    kernel.call(broker.name, serve, () => new Error('The broker did not respond'), {
      what,
      timeoutMs,
      ...(signal && { signal }),
    });
  return {
    partitions: broker.partitions,
    openWriter: (partition, projected?: () => Promise<bigint>) =>
      SimulatedWriter.open(broker, request, partition, projected),
    async connect() {
      await request('connect', () => undefined);
      return connection(broker, request);
    },
    member: (options, work) => new SimulatedMember(broker, request, times, options, work),
    async openProducer() {
      await request('connect', () => undefined);
      return {
        send: (records) => {
          const sent = [...records];
          return request('produce', () => broker.produce(sent));
        },
        close: async () => undefined,
      };
    },
  };
}

function connection(broker: SimulatedBroker, request: Request): LogConnection {
  return {
    leaders: async (_topic, partitions) => new Map([[broker.name, partitions]]),
    async fetch(_node, topic, positions, maxWaitMs) {
      const asked = [...positions].map(([partition, position]) => ({ topic, partition, position }));
      return request('fetch', () => broker.fetch(asked, maxWaitMs), REQUEST_TIMEOUT_MS + maxWaitMs);
    },
    offsets: (topic, partitions, which) =>
      request(
        'offsets',
        () => new Map(partitions.map((partition) => [partition, broker.offset(topic, partition, which)])),
      ),
    committed: (group, topic, partition) => request('committed', () => broker.committed(group, topic, partition)),
    refresh: () => request('metadata', () => undefined),
    close: async () => undefined,
  };
}

class SimulatedWriter implements PartitionWriter {
  readonly #broker: SimulatedBroker;
  readonly #request: Request;
  readonly #partition: number;
  readonly #id: string;
  readonly #epoch: number;
  #sequence = 0;

  private constructor(broker: SimulatedBroker, request: Request, partition: number, id: string, epoch: number) {
    this.#broker = broker;
    this.#request = request;
    this.#partition = partition;
    this.#id = id;
    this.#epoch = epoch;
  }

  /** @param projected the position up to which the partition is projected; without it, what hangs stays */
  static async open(
    broker: SimulatedBroker,
    request: Request,
    partition: number,
    projected?: () => Promise<bigint>,
  ): Promise<SimulatedWriter> {
    const id = writerId(partition);
    const last = await patiently(() => request('describe transaction', () => broker.lastEnd(id)));
    const epoch = await patiently(() => request('init producer', () => broker.beginWriter(id)));
    const since = await request('describe producers', () => broker.log('intent.events', partition).openSince(id));
    if (since !== null && projected) {
      // What is projected was committed; otherwise the coordinator's last word counts.
      const how = (await projected()) > since ? 'commit' : last;
      if (how === null)
        throw new Error(`Partition ${partition} has a hanging transaction, and its outcome is not known`);
      await request('end transaction', () => broker.endHanging(id, partition, how));
    }
    return new SimulatedWriter(broker, request, partition, id, epoch);
  }

  async commit(
    append: readonly NewRecord[],
    consumed: Parameters<PartitionWriter['commit']>[1],
  ): Promise<bigint | null> {
    const [id, epoch, partition] = [this.#id, this.#epoch, this.#partition];
    let base: bigint | null = null;
    if (append.length > 0) {
      await this.#ask('add partition', () => this.#broker.addPartition(id, epoch, partition));
      const sequence = this.#sequence++;
      base = await this.#ask('append', () => this.#broker.append(id, epoch, sequence, partition, append));
    }
    if (consumed) {
      const offset = { group: OWNER_GROUP, key: offsetKey(consumed.topic, partition), offset: consumed.offset };
      await this.#ask('add offset', () => this.#broker.addOffset(id, epoch, offset));
    }
    if (append.length > 0 || consumed)
      await this.#ask('commit', () => this.#broker.endTransaction(id, epoch, 'commit'));
    return base;
  }

  async close(): Promise<void> {
    // The coordinator keeps the id: the next writer fences this one.
  }

  #ask<Result>(what: string, serve: () => Result): Promise<Result> {
    return patiently(() => this.#request(what, serve));
  }
}

/** The transactional id of a partition's writer. */
export const writerId = (partition: number): string => `intent-writer-${partition}`;

/** Repeats a request that failed without a refusal, or that the broker wants repeated. */
async function patiently<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if ((error instanceof BrokerError && !error.retriable) || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.min(BUSY_PAUSE_MS * 1.5 ** tries, LONGEST_PAUSE_MS)));
    }
  }
}
