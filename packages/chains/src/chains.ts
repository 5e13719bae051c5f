import type { ChainId, Instant, PaymentTerms, TransactionHash } from '@pf/domain';
import { Hints, RpcPool, type RpcPoolOptions, type UpstreamSettings } from '@pf/rpc';
import type { Logger } from '@pf/runtime';
import { base } from './base/family.ts';
import type { Family } from './family.ts';
import { withHints } from './hinted.ts';
import { identifyWith } from './identify.ts';
import { type ChainFamily, type Network, networkOf, type Token } from './networks.ts';
import type { ChainAdapter, ChainObserver, Cursor } from './port.ts';
import { rulesOf, type Rules, UNTOLD_RULES, warningOfRules } from './rules.ts';
import { solana } from './solana/family.ts';
import { tempo } from './tempo/family.ts';
import { type Difference, differencesOf, type TokenFacts } from './token-facts.ts';
import { concernsOf } from './upstream-needs.ts';
import type { WalletHistory } from './wallet-history.ts';

/**
 * The networks that are served, each with an adapter (gateway), an observer and a history (watcher) over one pool of
 * upstreams.
 */
export interface Chains {
  readonly adapters: ReadonlyMap<ChainId, ChainAdapter>;
  readonly observers: ReadonlyMap<ChainId, ChainObserver>;
  readonly histories: ReadonlyMap<ChainId, WalletHistory>;
  /** Closes the connections to the upstreams. */
  close(): Promise<void>;
}

export interface ChainsOptions {
  /** By network, in order of preference: upstreamsOf(config). A network without any is not served. */
  readonly upstreams: ReadonlyMap<ChainId, readonly (string | UpstreamSettings)[]>;
  readonly log: Logger;
  /** Milliseconds since 1970, also across restarts and processes. Default: the system's clock. */
  readonly now?: () => Instant;
  /** For observers: the stored bytes of a signed transaction; null where they are not stored. */
  readonly keptBytes?: (chain: ChainId, hash: TransactionHash) => Promise<Uint8Array | null>;
}

const families: Readonly<Record<ChainFamily, Family>> = { base, solana, tempo };

/**
 * The stored cursor of a network's observer, moved back so that it reads the blocks (on Solana: slots) from `from` on
 * once more. What it finds is observed again, which changes nothing where the ledger has it.
 * @throws ZodError on a cursor of another family's observer
 */
export const rewindCursor = ({ family }: Network, cursor: Cursor, from: bigint): Cursor =>
  families[family].rewind(cursor, from);

/**
 * One cursor in the place of several of a network, each of another shard of its recipients: none of their payments lies
 * before it that was not observed. Those that were seen already are observed again at most.
 * @param cursors at least one
 * @throws ZodError on a cursor of another family's observer; Error where they follow different chains
 */
export const mergeCursors = ({ family }: Network, cursors: readonly Cursor[]): Cursor =>
  families[family].merge(cursors);

/** The other name of an intent in payments on its network, for watch sets; null where there is only the reference. */
export const aliasOf = (terms: Pick<PaymentTerms, 'chain' | 'reference'>): string | null =>
  families[networkOf(terms.chain).family].alias(terms);

/** What an upstream says of a network: who it is for, and its tokens. */
export interface Examined {
  /** Its host, for texts. */
  readonly upstream: string;
  /** Why it does not serve this network: then its tokens are not read. */
  readonly problem: string | null;
  /** The rules that the network runs, as far as it tells them. */
  readonly rules: Rules;
  /** The tokens of the registry in their order, each with what is said of it, and what of that is wrong. */
  readonly tokens: readonly {
    readonly token: Token;
    readonly facts: TokenFacts | null;
    readonly differences: readonly Difference[];
  }[];
}

/**
 * Compares what one upstream says of a network with the registry.
 * @throws RpcUnavailableError where it does not respond
 */
export async function examineUpstream(
  network: Network,
  upstream: string | UpstreamSettings,
  log: Logger,
): Promise<Examined> {
  const family = families[network.family];
  // It is to be read as it is.
  const pool = poolOf(network, [upstream], () => Promise.resolve(null), log);
  try {
    return await pool.run(async (node) => {
      const problem = await family.whyOtherChain(network.chain)(node);
      const rules = problem === null ? await rulesOf(family, node) : UNTOLD_RULES;
      const facts = problem === null ? await family.tokenFacts(node, network.tokens) : [];
      return {
        upstream: node.name,
        problem,
        rules,
        tokens: network.tokens.slice(0, facts.length).map((token, place) => {
          const known = facts[place] ?? null;
          return { token, facts: known, differences: differencesOf(network, token, known) };
        }),
      };
    });
  } finally {
    await pool.close();
  }
}

/**
 * What moved in wallets of a network, by these upstreams. Makes no connection yet.
 * @param upstreams in order of preference
 */
export function openWalletHistory(
  network: Network,
  upstreams: readonly (string | UpstreamSettings)[],
  log: Logger,
): { readonly history: WalletHistory; readonly close: () => Promise<void> } {
  const family = families[network.family];
  const pool = poolOf(network, upstreams, identifyWith(network.chain, family), log);
  return { history: family.history(network, pool), close: () => pool.close() };
}

/** The upstreams of a network, as its family speaks to them. */
function poolOf(
  network: Network,
  upstreams: readonly (string | UpstreamSettings)[],
  identify: RpcPoolOptions['identify'],
  log: Logger,
): RpcPool {
  const family = families[network.family];
  return new RpcPool({
    network: network.name,
    upstreams,
    dialect: family.dialect,
    identify,
    probe: family.probe(),
    log,
  });
}

/** Makes no connection yet: the first request does. */
export function createChains({
  upstreams,
  log,
  now = Date.now,
  keptBytes = () => Promise.resolve(null),
}: ChainsOptions): Chains {
  const adapters = new Map<ChainId, ChainAdapter>();
  const observers = new Map<ChainId, ChainObserver>();
  const histories = new Map<ChainId, WalletHistory>();
  const pools: RpcPool[] = [];
  const streams: Hints[] = [];
  for (const [chain, ofNetwork] of upstreams) {
    const network = networkOf(chain);
    const family = families[network.family];
    for (const concern of concernsOf(network, ofNetwork)) log.warn({ network: network.name }, concern);
    const identify = warningOfRules(identifyWith(chain, family), family, network.name, log);
    const pool = poolOf(network, ofNetwork, identify, log);
    pools.push(pool);
    adapters.set(chain, family.adapter(network, pool, now));
    histories.set(chain, family.history(network, pool));
    const observer = family.observer(network, pool, now, (hash) => keptBytes(chain, hash));
    const [url, ...others] = ofNetwork.flatMap((one) => (typeof one === 'string' ? [] : (one.stream ?? [])));
    if (url === undefined) observers.set(chain, observer);
    else {
      const hints = new Hints({ network: network.name, urls: [url, ...others], log });
      streams.push(hints);
      observers.set(
        chain,
        withHints(observer, hints, (watch) => family.subscriptions(network, watch)),
      );
    }
  }
  return {
    adapters,
    observers,
    histories,
    close: async () => {
      for (const hints of streams) hints.close();
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}
