import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { callRpc } from '@pf/rpc/client';
import { CHAINS, type ChainName } from './chains.ts';
import type { Part } from '../processes/process-spec.ts';
import type { Settings } from '../stack/settings.ts';
import { tidyState } from './anvil-state.ts';

/** The mnemonic every local Ethereum tool knows: its accounts are rich on this chain and nowhere else. */
export const MNEMONIC = 'test test test test test test test test test test test junk';

/** A chain that anvil runs. */
export interface AnvilChain {
  readonly name: Exclude<ChainName, 'solana'>;
  /** Milliseconds between blocks. */
  readonly blockMs: number;
  /** Wei of each block's base fee, where the real network's does not follow demand; null: it follows. */
  readonly baseFee: bigint | null;
  /** What makes this network of anvil's own: which rules, and how far behind the head `safe` and `finalized` are. */
  readonly flags: readonly string[];
}

const ANVIL_UPSTREAMS = [CHAINS.base, CHAINS.baseLive, CHAINS.tempo].map(({ upstreams }) => upstreams).join(', ');

/** The binary itself: the package's own launcher would be one more process that signals have to go through. */
function binary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil');
  } catch (cause) {
    throw new Error(
      `There is no anvil for ${process.platform}-${process.arch} on npm. Set ${ANVIL_UPSTREAMS} to nodes of your own.`,
      { cause },
    );
  }
}

/**
 * An EVM chain of one's own. Blocks are mined by the supervisor (see block-clock.ts): with a block time of its own
 * below 3 s anvil keeps 1,500 whole states, gigabytes after an hour; mined from outside it keeps the 24 it is told,
 * enough for questions at `safe` and small reorganizations.
 */
export function anvilPart(settings: Settings, chain: AnvilChain): { part: Part; url: string } {
  const file = binary();
  const chainId = CHAINS[chain.name].caip2.slice('eip155:'.length);
  const port = settings.ports[chain.name];
  const url = `http://127.0.0.1:${port}`;
  const folder = path.join(settings.data, 'chains');
  const state = path.join(folder, `${chain.name}.json`);
  return {
    url,
    part: {
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
