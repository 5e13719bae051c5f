import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { toHex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { type NodeRpc, nodeRpc } from './node-rpc.ts';
import type { StackWallet } from '../stack/stack.ts';

const MNEMONIC = 'test test test test test test test test test test test junk';
/** anvil's ten default accounts. The last one owns the token contracts and makes no payments. */
const ACCOUNTS = 10;

/** A running anvil; the test that started it must stop it. */
export interface AnvilProcess {
  readonly rpcUrl: string;
  readonly rpc: NodeRpc;
  /** Mines this many blocks; pending transactions land in the first of them. */
  readonly mine: (blocks?: number) => Promise<void>;
  /** All accounts but the last. */
  readonly wallets: readonly StackWallet[];
  /** The last account. */
  readonly owner: StackWallet;
  readonly stop: () => Promise<void>;
}

function binary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  return path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil');
}

/** Resolves with its URL when it listens, on a port of its choice. */
async function listening(child: ChildProcess): Promise<string> {
  let output = '';
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const [, address] = /Listening on (\S+)/.exec(output) ?? [];
    if (address !== undefined) return `http://${address}`;
  }
  throw new Error(`anvil ended before it listened: ${output}`);
}

/**
 * Starts anvil on a free loopback port, with the default accounts of Ethereum's development tools.
 * @param chain CAIP-2 of the eip155 namespace
 * @param blockMs ms between blocks; absent: blocks come only from `mine`
 * @param flags anvil's options for this network
 */
export async function startAnvilProcess(
  chain: string,
  blockMs: number | undefined,
  flags: readonly string[],
): Promise<AnvilProcess> {
  const mining = blockMs === undefined ? ['--no-mining'] : ['--block-time', String(blockMs / 1000)];
  const child = spawn(
    binary(),
    [
      '--host',
      '127.0.0.1',
      '--port',
      '0',
      '--chain-id',
      chain.slice('eip155:'.length),
      '--mnemonic',
      MNEMONIC,
      ...mining,
      ...flags,
    ],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const rpcUrl = await listening(child);
  child.stdout?.resume();
  const rpc = nodeRpc(rpcUrl);
  const wallets = Array.from({ length: ACCOUNTS }, (_, addressIndex) => {
    const account = mnemonicToAccount(MNEMONIC, { addressIndex });
    return { address: account.address, privateKey: toHex(account.getHdKey().privateKey ?? new Uint8Array()) };
  });
  const owner = wallets.pop();
  if (owner === undefined) throw new Error('there are accounts');
  return {
    rpcUrl,
    rpc,
    mine: (blocks = 1) => rpc('anvil_mine', toHex(blocks)),
    wallets,
    owner,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      kill();
      process.removeListener('exit', kill);
      await ended;
    },
  };
}
