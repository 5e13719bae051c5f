import {
  type ChainAdapter,
  type ChainObserver,
  identifyWith,
  type KeptBytes,
  type Network,
  networkNamed,
} from '@pf/chains';
import { base, BaseAdapter, BaseObserver } from '@pf/chains/base';
import type { Instant } from '@pf/domain';
import { RpcPool } from '@pf/rpc';
import type { Logger } from '@pf/runtime';
import { SimulatedChain } from './chain.ts';
import type { ChainKernel } from './kernel.ts';
import { SimulatedNode } from './node.ts';
import { signerOf } from './transaction.ts';

const BLOCK_MS = 2_000;

/** The network's facts, slowed down: steps are most of what a simulated watcher costs. */
const network: Network = {
  ...networkNamed('base-sepolia'),
  blockMs: BLOCK_MS,
  pollMs: { awaiting: BLOCK_MS, idle: 2 * BLOCK_MS },
};

/** What one process has of the network: as createChains() gives it, without HTTP. */
export interface NetworkAccess {
  readonly adapter: ChainAdapter;
  readonly observer: ChainObserver;
  close(): Promise<void>;
}

/** A simulated Base with several upstreams. */
export class SimulatedNetwork {
  readonly network = network;
  readonly chain: SimulatedChain;
  readonly nodes: readonly SimulatedNode[];

  /** @param upstreams how many nodes the service asks */
  constructor(kernel: ChainKernel, upstreams: number) {
    this.chain = new SimulatedChain(kernel, {
      chain: network.chain,
      blockMs: BLOCK_MS,
      safeMs: 30_000,
      finalMs: 120_000,
    });
    this.nodes = Array.from(
      { length: upstreams },
      (_, index) => new SimulatedNode(`${network.name}-${index + 1}`, kernel, this.chain),
    );
  }

  /**
   * The real pool, adapter and observer over the simulated nodes, for one process.
   * @param now the process's time, ms since 1970
   */
  connect(log: Logger, keptBytes: KeptBytes, now: () => Instant = () => Date.now()): NetworkAccess {
    const byName = new Map(this.nodes.map((node) => [node.name, node]));
    const pool = new RpcPool({
      network: network.name,
      upstreams: [...byName.keys()],
      dialect: base.dialect,
      identify: identifyWith(network.chain, base),
      probe: base.probe(),
      log,
      transports: {
        open: (name, timeoutMs) => {
          const node = byName.get(name);
          if (node === undefined) throw new Error(`${network.name} has no node ${name}`);
          return node.transport(timeoutMs);
        },
        close: () => Promise.resolve(),
      },
    });
    return {
      adapter: new BaseAdapter(network, pool, signerOf),
      observer: new BaseObserver(network, pool, now, keptBytes, signerOf),
      close: () => pool.close(),
    };
  }
}
