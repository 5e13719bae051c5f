import {
  fenceDelegate,
  fenceFormerOwner,
  type FormerState,
  type LogConnection,
  type LogSink,
  type LogTransport,
  LogTruncatedError,
  type Part,
  type PartitionId,
  type PartitionWriter,
  SharedWriters,
  type SharingRequests,
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
    openWriter: (partition, projected = async () => 0n) => openWriter(broker, request, partition, projected, log),
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

/** What this process shares, over one broker. */
const sharing = new WeakMap<SimulatedProcess, Map<SimulatedBroker, SharedWriters>>();
function sharingOf(process: SimulatedProcess, broker: SimulatedBroker, request: Request): SharedWriters {
  const ofProcess = sharing.get(process) ?? new Map<SimulatedBroker, SharedWriters>();
  sharing.set(process, ofProcess);
  const known = ofProcess.get(broker);
  if (known) return known;
  const made = new SharedWriters({
    newId: () => `${DELEGATE}${broker.newName()}`,
    async take(id) {
      const taken = new SimulatedTakenId(broker, request, id, 0);
      await taken.take();
      return taken;
    },
  });
  made.delegate(true);
  ofProcess.set(broker, made);
  return made;
}
const DELEGATE = 'intent-writer-of-';

/** What kafkaTransport does. */
async function openWriter(
  broker: SimulatedBroker,
  request: Request,
  partition: number,
  projected: () => Promise<bigint>,
  log: LogSink,
): Promise<PartitionWriter> {
  const process = currentProcess('openWriter');
  const own = new SimulatedTakenId(broker, request, writerId(partition), partition);
  const shared = sharingOf(process, broker, request);
  const describe = (id: string) => patiently(() => request('describe transaction', () => broker.transaction(id)));
  const cluster: Parameters<typeof fenceFormerOwner>[0]['cluster'] = {
    transaction: describe,
    openTransactions: (_topic, of) => request('describe producers', () => broker.openTransactions(of)),
    transactionsOf: (producerId) =>
      request('list transactions', () => {
        const known = broker.transaction(producerId);
        return known === null ? [] : [{ transactionalId: producerId, state: known.state }];
      }),
    endTransaction: (_topic, of, { producerId }, committed) =>
      request('write marker', () => broker.writeMarker(of, producerId, committed)),
  };
  const requests: SharingRequests = {
    delegation: (_partition, stable) =>
      request('offset', () => broker.noted(OWNER_GROUP, 'intent.commands', partition, stable)),
    hasCommands: () => request('offsets', () => broker.offset('intent.commands', partition, 'end') > 0n),
    fence: (id) =>
      fenceDelegate(
        {
          ...{ cluster, topic: 'intent.events', transactionalId: id, log },
          async fence() {
            await patiently(() => request('init producer', () => broker.beginWriter(id)));
          },
        },
        broker.partitions,
      ),
    delegates: () =>
      request('list transactions', () => broker.transactionalIds().filter((id) => id.startsWith(DELEGATE))),
  };
  await shared.awaitRelease(partition, requests);
  let commands: bigint | null = null;
  await fenceFormerOwner({
    cluster,
    topic: 'intent.events',
    partition,
    transactionalId: own.id,
    fence: () => own.take(),
    async fenceDelegates() {
      const fenced = await shared.fenceDelegates(partition, requests);
      commands = fenced.commands;
      return fenced.former;
    },
    formerStates: formerStatesOf(process),
    projected,
    log,
  });
  return shared.writer(partition, own, commands);
}

/** What KafkaTakenId and its client library do. */
class SimulatedTakenId implements PartitionId {
  readonly id: string;
  readonly #broker: SimulatedBroker;
  readonly #request: Request;
  readonly #partition: number;
  #epoch = -1;
  /** The start of the broker to which it is connected. */
  #connectedTo: number;
  #sequence = 0;

  /** @param partition whose end `endsAt` looks at */
  constructor(broker: SimulatedBroker, request: Request, id: string, partition: number) {
    this.#broker = broker;
    this.#request = request;
    this.#partition = partition;
    this.id = id;
    this.#connectedTo = broker.starts;
  }

  async take(): Promise<void> {
    this.#epoch = await patiently(() => this.#request('init producer', () => this.#broker.beginWriter(this.id)));
    this.#connectedTo = this.#broker.starts;
  }

  endsAt(position: bigint): Promise<boolean> {
    // Connects again where the connection was lost.
    this.#connectedTo = this.#broker.starts;
    return this.#ask('end', () => {
      const { stableEnd, end } = this.#broker.log('intent.events', this.#partition);
      return BigInt(stableEnd) === position && BigInt(end) === position;
    });
  }

  async transact(parts: readonly Part[]): Promise<void> {
    const [id, epoch] = [this.id, this.#epoch];
    // Side by side, as KafkaTakenId does.
    const [sent, moved] = await Promise.allSettled([this.#append(parts), this.#addOffsets(parts)]);
    if (sent.status === 'rejected') throw sent.reason;
    const misplaced = parts.find(({ partition, at }) => (sent.value.get(partition) ?? at) !== at);
    if (misplaced) {
      const at = misplaced.at ?? 0n;
      await this.#ask('abort', () => this.#broker.endTransaction(id, epoch, 'abort'));
      const base = sent.value.get(misplaced.partition) ?? 0n;
      throw new (base < at ? LogTruncatedError : Error)(`appended at ${base} instead of ${at}: nothing is committed`);
    }
    if (moved.status === 'rejected') throw moved.reason;
    await this.#ask('commit', () => this.#broker.endTransaction(id, epoch, 'commit'));
  }

  async close(): Promise<void> {
    // The coordinator keeps the id: the next writer fences this one.
  }

  async #append(parts: readonly Part[]): Promise<ReadonlyMap<number, bigint>> {
    const [id, epoch] = [this.id, this.#epoch];
    const appended = parts.filter(({ append }) => append.length > 0);
    if (appended.length === 0) return new Map();
    await this.#ask('add partitions', () => {
      for (const { partition } of appended) this.#broker.addPartition(id, epoch, partition);
    });
    const sequence = this.#sequence++;
    const records = appended.map(({ partition, append }) => ({ partition, records: append }));
    const bases = await this.#ask('append', () => this.#broker.appendAll(id, epoch, sequence, records));
    return new Map(appended.map(({ partition }, index) => [partition, bases[index] ?? -1n]));
  }

  async #addOffsets(parts: readonly Part[]): Promise<void> {
    const [id, epoch] = [this.id, this.#epoch];
    const offsets = parts.flatMap(({ partition, consumed, at }) =>
      consumed === null
        ? []
        : [
            {
              ...{ group: OWNER_GROUP, key: offsetKey(consumed.topic, partition) },
              ...{ offset: consumed.offset, note: consumed.note, isMoved: at !== null },
            },
          ],
    );
    if (offsets.length === 0) return;
    await this.#ask('add offsets', () => {
      for (const offset of offsets) this.#broker.addOffset(id, epoch, offset);
    });
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
