import { assignPartitions } from '@pf/event-log';
import { BrokerError } from './broker-error.ts';

export interface Membership {
  readonly memberId: string;
  readonly generation: number;
  readonly partitions: readonly number[];
}

interface Member {
  readonly id: string;
  claims: readonly number[];
  /** True virtual time of the last sign of life. */
  lastSign: number;
  /** Set while it waits for the group's next generation. */
  joining: { resolve(membership: Membership): void; reject(error: Error): void } | null;
}

export interface GroupHost {
  now(): number;
  schedule(ms: number, work: () => void): void;
}

/** A consumer group at its coordinator. The assignment is our assigner's; which member computes it does not matter. */
export class Group {
  readonly offsets = new Map<string, bigint>();
  /** Beside the offsets. */
  readonly notes = new Map<string, string | null>();
  /** The order of the stored offsets. */
  readonly orders = new Map<string, number>();
  /** How far transactions have consumed, not those that change the note alone. */
  readonly consumed = new Map<string, bigint>();
  readonly #host: GroupHost;
  readonly #partitions: number;
  readonly #sessionTimeoutMs: number;
  readonly #rebalanceTimeoutMs: number;
  readonly #members = new Map<string, Member>();
  #generation = 0;
  /** True virtual time at which the current rebalance began; null while the group is stable. */
  #rebalancing: number | null = null;
  #named = 0;
  #watching = false;

  constructor(
    host: GroupHost,
    {
      partitions,
      sessionTimeoutMs,
      rebalanceTimeoutMs,
    }: { partitions: number; sessionTimeoutMs: number; rebalanceTimeoutMs: number },
  ) {
    this.#host = host;
    this.#partitions = partitions;
    this.#sessionTimeoutMs = sessionTimeoutMs;
    this.#rebalanceTimeoutMs = rebalanceTimeoutMs;
  }

  /** Resolves with the next generation. @param memberId null for a new member */
  join(memberId: string | null, claims: readonly number[]): Promise<Membership> {
    if (memberId !== null && !this.#members.has(memberId)) throw new BrokerError('UNKNOWN_MEMBER_ID');
    const id = memberId ?? `member-${++this.#named}`;
    const { promise, resolve, reject } = Promise.withResolvers<Membership>();
    const before = this.#members.get(id);
    before?.joining?.reject(new BrokerError('REBALANCE_IN_PROGRESS'));
    this.#members.set(id, { id, claims, lastSign: this.#host.now(), joining: { resolve, reject } });
    this.#rebalance();
    return promise;
  }

  heartbeat(memberId: string, generation: number): void {
    const member = this.#members.get(memberId);
    if (!member) throw new BrokerError('UNKNOWN_MEMBER_ID');
    member.lastSign = this.#host.now();
    if (this.#rebalancing !== null) throw new BrokerError('REBALANCE_IN_PROGRESS');
    if (generation !== this.#generation) throw new BrokerError('ILLEGAL_GENERATION');
  }

  leave(memberId: string): void {
    if (this.#members.delete(memberId)) this.#rebalance();
  }

  /** After a restart of its coordinator: joins that were waiting are lost, and every session begins again. */
  reload(): void {
    for (const member of this.#members.values()) {
      member.lastSign = this.#host.now();
      member.joining = null;
    }
    if (this.#members.size > 0) this.#rebalance();
  }

  #rebalance(): void {
    this.#rebalancing ??= this.#host.now();
    this.#settle();
    this.#watch();
  }

  /** Begins the next generation once all members have joined. */
  #settle(): void {
    if (this.#rebalancing === null) return;
    const members = [...this.#members.values()];
    if (members.some(({ joining }) => joining === null)) return;
    this.#rebalancing = null;
    this.#generation++;
    const assigned = assignPartitions(members, this.#partitions);
    for (const member of members) {
      member.joining?.resolve({
        memberId: member.id,
        generation: this.#generation,
        partitions: assigned.get(member.id) ?? [],
      });
      member.joining = null;
      member.lastSign = this.#host.now();
    }
  }

  /** Removes members that are silent for a session's time, or do not join while the group rebalances. */
  #watch(): void {
    if (this.#watching || this.#members.size === 0) return;
    this.#watching = true;
    this.#host.schedule(this.#sessionTimeoutMs / 4, () => {
      this.#watching = false;
      const now = this.#host.now();
      const late = this.#rebalancing !== null && now - this.#rebalancing >= this.#rebalanceTimeoutMs;
      for (const member of this.#members.values())
        if (member.joining === null && (late || now - member.lastSign >= this.#sessionTimeoutMs)) {
          this.#members.delete(member.id);
          this.#rebalancing ??= now;
        }
      this.#settle();
      this.#watch();
    });
  }
}
