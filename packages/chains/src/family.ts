import type { ChainId, Instant, PaymentTerms } from '@pf/domain';
import type { RpcNode, RpcPool, RpcPoolOptions, Subscription } from '@pf/rpc';
import type { Token } from './networks.ts';
import type { ChainAdapter, ChainObserver, Cursor, KeptBytes, Network, WatchSet } from './port.ts';
import type { Rules } from './rules.ts';
import type { TokenFacts } from './token-facts.ts';
import type { WalletHistory } from './wallet-history.ts';

/** How the networks of one family are served. Each family's folder has one in its `family.ts`. */
export interface Family {
  /** Whose error codes its nodes use. */
  readonly dialect: RpcPoolOptions['dialect'];
  /** Why an upstream does not serve this chain; null where it does. */
  whyOtherChain(chain: ChainId): RpcPoolOptions['identify'];
  /** The decimals of these tokens, with as few calls as possible; null of one that is not there. */
  decimalsOf(node: RpcNode, tokens: readonly Token[]): Promise<readonly (number | null)[]>;
  /** All that it says of these tokens; null of one that is not there. */
  tokenFacts(node: RpcNode, tokens: readonly Token[]): Promise<readonly (TokenFacts | null)[]>;
  /** The rules that the network runs, as far as this node tells them. */
  rules(node: RpcNode): Promise<Rules>;
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
  /** What moved in wallets, for audits. */
  history(network: Network, pool: RpcPool): WalletHistory;
}
