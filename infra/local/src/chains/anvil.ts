import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { callRpc } from '@pf/rpc/client';
import { CHAINS, type ChainName } from './chains.ts';
import type { ProcessSpec } from '../processes/process-spec.ts';
import type { Settings } from '../stack/settings.ts';
import { tidyState } from './anvil-state.ts';

/** The well-known mnemonic of Ethereum's development tools: its accounts have money only on local chains. */
export const MNEMONIC = 'test test test test test test test test test test test junk';

/** A chain that anvil runs. */
export interface AnvilChain {
  readonly name: ChainName;
  /** Milliseconds between blocks. */
  readonly blockMs: number;
  /** The base fee of every block in wei, where the real network's does not follow demand; null: it follows demand. */
  readonly baseFee: bigint | null;
  /** anvil's options for this network: its rules, and how far behind the head `safe` and `finalized` are. */
  readonly flags: readonly string[];
}

const ANVIL_UPSTREAMS = Object.values(CHAINS)
  .filter(({ caip2 }) => caip2.startsWith('eip155:'))
  .map(({ upstreams }) => upstreams)
  .join(', ');

/** The path of the binary: the package's launcher would be one more process between us and anvil's signals. */
function binary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil');
  } catch (cause) {
    throw new Error(
      `npm has no anvil for ${process.platform}-${process.arch}. Set ${ANVIL_UPSTREAMS} to nodes of your own.`,
      { cause },
    );
  }
}

/**
 * A local EVM chain. The supervisor mines its blocks (see block-clock.ts): with a block time below 3 s of its own,
 * anvil keeps 1,500 whole states, which are gigabytes after an hour. Mined from outside it keeps the 24 of
 * `--prune-history`, enough for calls at `safe` and small reorgs.
 */
export function anvilSpec(settings: Settings, chain: AnvilChain): { spec: ProcessSpec; url: string } {
  const file = binary();
  const chainId = CHAINS[chain.name].caip2.slice('eip155:'.length);
  const port = settings.ports[chain.name];
  const url = `http://127.0.0.1:${port}`;
  const folder = path.join(settings.data, 'chains');
  const state = path.join(folder, `${chain.name}.json`);
  return {
    url,
    spec: {
      name: chain.name,
      label: `${CHAINS[chain.name].label} (anvil, id ${chainId})`,
      ports: [chain.name],
      stopSignal: 'SIGTERM',
      orphanSignal: 'SIGTERM',
      stopMs: 10_000,
      jsonLogs: false,
      stuck: async () => false,
      async prepare() {
        await mkdir(folder, { recursive: true });
        await tidyState(state);
      },
      command: () => ({
        file,
        args: [
          '--host',
          settings.chainsHost,
          '--port',
          String(port),
          '--chain-id',
          chainId,
          '--mnemonic',
          MNEMONIC,
          ...chain.flags,
          '--no-mining',
          '--prune-history',
          '24',
          '--state',
          state,
          '--state-interval',
          '5',
          '--quiet',
        ],
      }),
      ready: async () => Number(await callRpc(url, 'eth_chainId')) === Number(chainId),
    },
  };
}
