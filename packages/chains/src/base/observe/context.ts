import type { Instant, NetworkFee, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import type { LateShowings } from '../../second-reader.ts';
import type { Network, WatchSet } from '../../port.ts';
import type { DisprovedOf } from './disproved.ts';
import type { LateTransactions, Whole } from './late.ts';
import type { Memory } from './memory.ts';
import type { Seen } from './position.ts';
import type { Sighting } from './sighting.ts';

/** What landings have cost, read beside the steps. */
export interface Fees {
  /** Undefined where it is not known. */
  of(one: Seen): NetworkFee | undefined;
  /** Begins to read those of these that were not asked for. */
  begin(landings: readonly Seen[]): void;
}

/** What it takes to judge transactions. */
export interface Judging {
  /** Where what the upstream lacks may be had. */
  readonly pool: Pick<RpcPool, 'attempts' | 'onAnother'>;
  /** The upstream of this step. */
  readonly node: RpcNode;
  readonly network: Network;
  readonly watch: WatchSet;
  readonly memory: Memory;
  readonly now: number;
  /** Since when a transaction waits to be judged; undefined where it is not set aside. */
  readonly waitsSince: (hash: TransactionHash) => Instant | undefined;
  /** Of those that a step does not wait for. Absent: all have all the time that a request has */
  readonly late?: LateTransactions | undefined;
  /** Takes what pays no intent; absent where that is not asked for. */
  readonly noteSighting?: (sighting: Sighting) => void;
  /**
   * Takes what cannot be the payment of this intent, for which it may have been reported, and whether it has settled
   * it; absent as above.
   */
  readonly noteDisproved?: (disproved: DisprovedOf, isSettled: boolean) => void;
}

/** What a step of the observer has. */
export interface Scan extends Judging {
  readonly pool: RpcPool;
  /** What landings have cost. Absent: it is read when they are told of */
  readonly fees?: Fees;
  /** The same of what is not read again. False where there is no room: it has to be. Absent: as above */
  readonly takeSighting?: (sighting: Sighting) => boolean;
  /** Of those that a second upstream has not shown in time. Absent: all have all the time that a request has */
  readonly seconds?: LateShowings<Whole>;
}
