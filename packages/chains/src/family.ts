import type { ChainId, Instant, PaymentTerms } from '@pf/domain';
import type { RpcPool, RpcPoolOptions, Subscription } from '@pf/rpc';
import type { ChainAdapter, ChainObserver, Cursor, KeptBytes, Network, WatchSet } from './port.ts';

/** How the networks of one family are served. Each family's folder has one in its `family.ts`. */
export interface Family {
  /** Whose error codes its nodes use. */
  readonly dialect: RpcPoolOptions['dialect'];
  /** What finds out an upstream that serves another chain. */
  identify(chain: ChainId): RpcPoolOptions['identify'];
  /** A cheap call that reports an upstream's head. */
  probe(): RpcPoolOptions['probe'];
  /** @param now milliseconds since 1970 */
  adapter(network: Network, pool: RpcPool, now: () => Instant): ChainAdapter;
  /**
   * The cursor that reads the blocks (or slots) from this one on again, as far as they were read. Its observer takes it
   * up when it next acquires the lease.
   */
  rewind(cursor: Cursor, from: bigint): Cursor;
  /**
   * The cursor from which one observer, or several, can go on for all of these: it has read only what each of them has,
   * and knows what any of them has seen. It belongs to no observer's memory.
   * @param cursors at least one
   * @throws Error where they follow different chains
   */
  merge(cursors: readonly Cursor[]): Cursor;
  /** The other name of an intent in payments, for watch sets; null where there is only the reference. */
  alias(terms: Pick<PaymentTerms, 'reference'>): string | null;
  /** What to listen to over a provider's WebSocket, so that a step comes soon after a payment of these intents. */
  subscriptions(network: Network, watch: WatchSet): readonly Subscription[];
  /** @param now milliseconds since 1970 */
  observer(network: Network, pool: RpcPool, now: () => Instant, keptBytes: KeptBytes): ChainObserver;
}
