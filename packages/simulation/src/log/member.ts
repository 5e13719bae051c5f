import { BackOff, pause } from '@pf/runtime';
import {
  type GroupMember,
  LogUnavailableError,
  type MemberOptions,
  type MemberWork,
  PositionOutOfRangeError,
  type Topic,
} from '@pf/event-log';
import { BrokerError } from './broker-error.ts';
import { type Fetched, offsetKey, type SimulatedBroker } from './broker.ts';
import type { Membership } from './group.ts';
import type { Request } from './request.ts';

const START_PATIENCE_MS = 30_000;
/** A join is answered when the slowest member has joined. */
const JOIN_TIMEOUT_MS = 30_000;
const FETCH_TIMEOUT_MS = 3_000;
/** How many requests in a row may fail before the loop gives up, as the client library's. */
const TRIES = 8;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

export interface MemberTimes {
  readonly heartbeatMs: number;
  /** How long the broker holds an idle request. */
  readonly fetchWaitMs: number;
}

/** A member of a group, which does what the client library's does: one fetch, its batches, a heartbeat, the next. */
export class SimulatedMember implements GroupMember {
  readonly #broker: SimulatedBroker;
  readonly #request: Request;
  readonly #times: MemberTimes;
  readonly #options: MemberOptions;
  readonly #work: MemberWork;
  readonly #stopping = new AbortController();
  readonly #paused = new Set<string>();
  readonly #positions = new Map<string, bigint>();
  /** Moved to another offset since the fetch. */
  readonly #moved = new Set<string>();
  #membership: Membership | null = null;
  #memberId: string | null = null;
  #lastSign = performance.now();
  #lastHeartbeat = 0;
  #running: Promise<void> = Promise.resolve();
  /** Ends the waiting fetch, because partitions were paused, resumed or moved. */
  #steered = new AbortController();

  constructor(broker: SimulatedBroker, request: Request, times: MemberTimes, options: MemberOptions, work: MemberWork) {
    this.#broker = broker;
    this.#request = request;
    this.#times = times;
    this.#options = options;
    this.#work = work;
  }

  async start(): Promise<void> {
    const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    const giveUp = performance.now() + START_PATIENCE_MS;
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#join();
        break;
      } catch (error) {
        if (performance.now() > giveUp)
          throw new LogUnavailableError(`The group ${this.#options.group} could not be joined`, { cause: error });
        await backOff.wait(this.#stopping.signal);
      }
    }
    this.#running = this.#run();
  }

  idleMs(): number {
    return performance.now() - this.#lastSign;
  }

  pause(topic: Topic, partition: number): void {
    this.#paused.add(offsetKey(topic, partition));
  }

  resume(topic: Topic, partition: number, offset: bigint): void {
    const key = offsetKey(topic, partition);
    this.#paused.delete(key);
    this.#positions.set(key, offset);
    this.#moved.add(key);
    this.#steered.abort();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#steered.abort();
    await this.#running;
    const id = this.#memberId;
    this.#memberId = null;
    if (id === null) return;
    await this.#request('leave', () => this.#broker.leave(this.#options.group, id)).catch(() => undefined);
  }

  async #run(): Promise<void> {
    let failures = 0;
    const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    while (!this.#stopping.signal.aborted) {
      try {
        if (this.#membership === null) await this.#join();
        await this.#round();
        failures = 0;
        backOff.reset();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        if (isRebalance(error)) {
          if (error.type === 'UNKNOWN_MEMBER_ID') this.#memberId = null;
          this.#membership = null;
          continue;
        }
        if (++failures >= TRIES) {
          this.#options.onCrash(error instanceof Error ? error : new Error(String(error)));
          return;
        }
        await backOff.wait(this.#stopping.signal);
      }
    }
  }

  async #join(): Promise<void> {
    const { group, claims } = this.#options;
    const id = this.#memberId;
    const asked = claims();
    const membership = await this.#request('join', () => this.#broker.join(group, id, asked), JOIN_TIMEOUT_MS);
    this.#memberId = membership.memberId;
    this.#membership = membership;
    this.#lastSign = this.#lastHeartbeat = performance.now();
    this.#positions.clear();
    this.#paused.clear();
    this.#work.joined(membership.partitions);
    // A partition that the work has not placed begins where the group has committed, or at its beginning.
    for (const topic of this.#options.topics)
      for (const partition of membership.partitions) {
        const key = offsetKey(topic, partition);
        if (this.#positions.has(key) || this.#paused.has(key)) continue;
        const committed = await this.#request('committed', () => this.#broker.committed(group, topic, partition));
        if (!this.#positions.has(key)) this.#positions.set(key, committed ?? 0n);
      }
  }

  async #round(): Promise<void> {
    this.#steered = new AbortController();
    this.#moved.clear();
    const active = this.#options.topics.flatMap((topic) =>
      (this.#membership?.partitions ?? []).flatMap((partition) => {
        const key = offsetKey(topic, partition);
        const position = this.#positions.get(key);
        return position === undefined || this.#paused.has(key) ? [] : [{ topic, partition, position }];
      }),
    );
    const fetched = await this.#fetch(active);
    await this.#heartbeat();
    await Promise.all(fetched.map((one) => this.#handle(one)));
    await this.#heartbeat();
  }

  async #fetch(
    active: readonly { readonly topic: Topic; readonly partition: number; readonly position: bigint }[],
  ): Promise<readonly Fetched[]> {
    const { fetchWaitMs } = this.#times;
    const { signal } = this.#steered;
    try {
      if (active.length === 0) {
        await pause(fetchWaitMs, signal);
        return [];
      }
      const timeoutMs = fetchWaitMs + FETCH_TIMEOUT_MS;
      return await this.#request('fetch', () => this.#broker.fetch(active, fetchWaitMs), timeoutMs, signal);
    } catch (error) {
      if (signal.aborted) return [];
      if (!(error instanceof PositionOutOfRangeError)) throw error;
      // The client library goes on from the beginning of the log.
      await this.#reset(error);
      return [];
    }
  }

  async #reset({ topic, partition }: PositionOutOfRangeError): Promise<void> {
    const start = await this.#request('offsets', () => this.#broker.offset(topic, partition, 'start'));
    this.#positions.set(offsetKey(topic, partition), start);
  }

  async #handle({ topic, partition, records, next, from }: Fetched): Promise<void> {
    const key = offsetKey(topic, partition);
    if (next === null || this.#moved.has(key) || this.#paused.has(key)) return;
    const last = records.at(-1)?.offset;
    const resolve = (offset: bigint): void => {
      if (!this.#moved.has(key)) this.#positions.set(key, offset === last ? next : offset + 1n);
    };
    // Only markers or aborted records: the library passes over them by itself.
    if (last === undefined) return void this.#positions.set(key, next);
    await this.#work.batch({
      topic,
      partition,
      records,
      from,
      next,
      resolve,
      isStale: () => this.#moved.has(key) || this.#membership === null,
      heartbeat: () => this.#heartbeat(),
    });
  }

  async #heartbeat(): Promise<void> {
    const { heartbeatMs } = this.#times;
    const membership = this.#membership;
    if (membership === null) throw new BrokerError('REBALANCE_IN_PROGRESS');
    if (performance.now() - this.#lastHeartbeat < heartbeatMs) return;
    this.#lastHeartbeat = performance.now();
    await this.#request('heartbeat', () =>
      this.#broker.heartbeat(this.#options.group, membership.memberId, membership.generation),
    );
    this.#lastSign = performance.now();
    this.#work.heartbeat();
  }
}

const REBALANCES: readonly string[] = ['UNKNOWN_MEMBER_ID', 'REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION'];
const isRebalance = (error: unknown): error is BrokerError =>
  error instanceof BrokerError && REBALANCES.includes(error.type);
