import {
  type Consumed,
  fenceFormerOwner,
  type FormerState,
  type LogConnection,
  type LogSink,
  type LogTransport,
  LogTruncatedError,
  type NewRecord,
  type PartitionWriter,
  SILENT,
} from '@pf/event-log';
import { currentProcess, type Kernel, type SimulatedProcess } from '@pf/simulation/kernel';
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

interface SimulatedTransportOptions {
  readonly times?: MemberTimes;
  readonly log?: LogSink;
}

/** The transport of the log over a simulated broker. Serves every process: a request is the current one's. */
export function simulatedTransport(
  kernel: Kernel,
  broker: SimulatedBroker,
  { times = { heartbeatMs: 300, fetchWaitMs: 300 }, log = SILENT }: SimulatedTransportOptions = {},
): LogTransport {
  const request: Request = (what, serve, timeoutMs = REQUEST_TIMEOUT_MS, signal = undefined) =>
    kernel.call(broker.name, serve, () => new Error('The broker did not respond'), {
      what,
      timeoutMs,
      ...(signal && { signal }),
    });
  return {
    partitions: broker.partitions,
    openWriter: (partition, projected = async () => 0n) =>
      SimulatedWriter.open(broker, request, partition, projected, log),
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

/** What coordinators knew before a process fenced, by partition. Shared by its attempts to open a writer. */
const formerStates = new WeakMap<SimulatedProcess, Map<number, FormerState>>();

function formerStatesOf(process: SimulatedProcess): Map<number, FormerState> {
  const known = formerStates.get(process) ?? new Map<number, FormerState>();
  formerStates.set(process, known);
  return known;
}

/** What KafkaPartitionWriter and its client library do. */
class SimulatedWriter implements PartitionWriter {
  readonly #broker: SimulatedBroker;
  readonly #request: Request;
  readonly #partition: number;
  readonly #id: string;
  readonly #epoch: number;
  /** The start of the broker to which it is connected. */
  #connectedTo: number;
  #sequence = 0;

  private constructor(broker: SimulatedBroker, request: Request, partition: number, id: string, epoch: number) {
    this.#broker = broker;
    this.#request = request;
    this.#partition = partition;
    this.#id = id;
    this.#epoch = epoch;
    this.#connectedTo = broker.starts;
  }

  /** @param projected the position up to which the partition is projected */
  static async open(
    broker: SimulatedBroker,
    request: Request,
    partition: number,
    projected: () => Promise<bigint>,
    log: LogSink,
  ): Promise<SimulatedWriter> {
    const id = writerId(partition);
    let epoch = -1;
    await fenceFormerOwner({
      cluster: {
        transaction: () => patiently(() => request('describe transaction', () => broker.transaction(id))),
        openTransactions: () => request('describe producers', () => broker.openTransactions(partition)),
        transactionsOf: (producerId) =>
          request('list transactions', () => {
            const known = broker.transaction(producerId);
            return known === null ? [] : [{ transactionalId: producerId, state: known.state }];
          }),
        endTransaction: (_topic, _partition, { producerId }, committed) =>
          request('write marker', () => broker.writeMarker(partition, producerId, committed)),
      },
      topic: 'intent.events',
      partition,
      transactionalId: id,
      fence: async () => {
        epoch = await patiently(() => request('init producer', () => broker.beginWriter(id)));
      },
      formerStates: formerStatesOf(currentProcess('openWriter')),
      projected,
      log,
    });
    return new SimulatedWriter(broker, request, partition, id, epoch);
  }

  endsAt(position: bigint): Promise<boolean> {
    // Connects again where the connection was lost.
    this.#connectedTo = this.#broker.starts;
    return this.#ask('end', () => {
      const { stableEnd, end } = this.#broker.log('intent.events', this.#partition);
      return BigInt(stableEnd) === position && BigInt(end) === position;
    });
  }

  async commit(...[append, consumed, at]: Parameters<PartitionWriter['commit']>): Promise<void> {
    if (append.length === 0 && !consumed) return;
    const [id, epoch] = [this.#id, this.#epoch];
    // Side by side, as KafkaPartitionWriter does.
    const [sent, moved] = await Promise.allSettled([this.#append(append), this.#addOffset(consumed)]);
    if (sent.status === 'rejected') throw sent.reason;
    const base = sent.value;
    if (base !== null && base !== at) {
      await this.#ask('abort', () => this.#broker.endTransaction(id, epoch, 'abort'));
      throw new (base < at ? LogTruncatedError : Error)(`appended at ${base} instead of ${at}: nothing is committed`);
    }
    if (moved.status === 'rejected') throw moved.reason;
    await this.#ask('commit', () => this.#broker.endTransaction(id, epoch, 'commit'));
  }

  async #append(records: readonly NewRecord[]): Promise<bigint | null> {
    if (records.length === 0) return null;
    const [id, epoch, partition] = [this.#id, this.#epoch, this.#partition];
    await this.#ask('add partition', () => this.#broker.addPartition(id, epoch, partition));
    const sequence = this.#sequence++;
    return this.#ask('append', () => this.#broker.append(id, epoch, sequence, partition, records));
  }

  async #addOffset(consumed: Consumed | null): Promise<void> {
    if (!consumed) return;
    const [id, epoch] = [this.#id, this.#epoch];
    const offset = { group: OWNER_GROUP, key: offsetKey(consumed.topic, this.#partition), offset: consumed.offset };
    await this.#ask('add offset', () => this.#broker.addOffset(id, epoch, offset));
  }

  async close(): Promise<void> {
    // The coordinator keeps the id: the next writer fences this one.
  }

  /** With the connection the transaction is lost, as Lifeline has it. */
  #ask<Result>(what: string, serve: () => Result): Promise<Result> {
    return patiently(
      () => this.#request(what, serve),
      () => this.#connectedTo === this.#broker.starts,
    );
  }
}

/** The transactional id of a partition's writer. */
export const writerId = (partition: number): string => `intent-writer-${partition}`;

/** Repeats a request that failed without a refusal, or that the broker wants repeated. */
async function patiently<Result>(ask: () => Promise<Result>, isConnected = (): boolean => true): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if ((error instanceof BrokerError && !error.retriable) || tries === TRIES || !isConnected()) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.min(BUSY_PAUSE_MS * 1.5 ** tries, LONGEST_PAUSE_MS)));
    }
  }
}
