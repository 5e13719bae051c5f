import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Part } from '../part.ts';
import { rpc } from '../rpc.ts';
import type { PortName, Settings } from '../settings.ts';
import { tidyState } from './anvil-state.ts';

/** The mnemonic every local Ethereum tool knows: its accounts are rich on this chain and nowhere else. */
export const MNEMONIC = 'test test test test test test test test test test test junk';

export interface LocalChain {
  /** As in stack.json's `chains`, and the name of its log. */
  readonly name: 'base' | 'baseLive';
  readonly label: string;
  readonly chainId: number;
  readonly port: Extract<PortName, 'base' | 'baseLive'>;
  /** Milliseconds between blocks. */
  readonly blockMs: number;
}

/** The binary itself: the package's own launcher would be one more process that signals have to go through. */
function binary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil');
  } catch (cause) {
    throw new Error(`There is no anvil for ${process.platform}-${process.arch} on npm. Set RPC_BASE_SEPOLIA and RPC_BASE to nodes of your own.`, { cause });
  }
}

/**
 * A Base chain of one's own. Blocks are mined by the supervisor (see block-clock.ts): with a block time of its own
 * below 3 s anvil keeps 1,500 whole states, gigabytes after an hour; mined from outside it keeps the 24 it is told,
 * enough for questions at `safe` and small reorganisations.
 * `safe` is 5 blocks behind the head and `finalized` 10: one and two seconds, for 20 minutes on the real chain.
 */
export function anvilPart(settings: Settings, chain: LocalChain): { part: Part; url: string } {
  const file = binary();
  const port = settings.ports[chain.port];
  const url = `http://127.0.0.1:${port}`;
  const folder = path.join(settings.data, 'chains');
  const state = path.join(folder, `${chain.name}.json`);
  return {
    url,
    part: {
      name: chain.name,
      label: chain.label,
      ports: [chain.port],
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
          '--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chain.chainId), '--mnemonic', MNEMONIC,
          '--no-mining', '--slots-in-an-epoch', '5', '--prune-history', '24',
          '--state', state, '--state-interval', '5', '--quiet',
        ],
      }),
      ready: async () => Number(await rpc(url, 'eth_chainId')) === chain.chainId,
    },
  };
}
