import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { networkOf } from '@pf/chains';
import type { ChainId } from '@pf/domain';
import { type Abi, encodeFunctionData, toHex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { z } from 'zod';
import type { StackChain } from './stack.ts';

const MNEMONIC = 'test test test test test test test test test test test junk';
/** The last of anvil's ten accounts owns the token contracts and pays nobody. */
const WALLETS = 9;
const OWNER = 9;
/** A million of each token, 6 decimals. */
const EACH = 1_000_000_000_000n;

const artifact = z.object({ abi: z.array(z.unknown()), bytecode: z.string() });
const answer = z.object({ result: z.unknown().optional(), error: z.object({ message: z.string() }).optional() });

export interface AnvilOptions {
  /** CAIP-2 of a Base network. */
  readonly chain?: string;
  /** Milliseconds between blocks; absent: a block only when `mine` is called. */
  readonly blockMs?: number;
  /** `safe` is so many blocks behind the head, `finalized` twice as many. */
  readonly safeDepth?: number;
  /** Seconds since 1970 of the first block: two chains begun in the same second have the same one. */
  readonly genesisAt?: number;
}

/** A Base chain of a test's own, with the token contracts at their addresses: it may be reorganised, stopped and spoilt. */
export interface Anvil extends StackChain {
  rpc<T = unknown>(method: string, ...params: unknown[]): Promise<T>;
  /** Mines this many blocks, with what waits in the pool in the first of them. */
  mine(blocks?: number): Promise<void>;
  /** Calls a token's contract as its owner: `blacklist`, `mint`, `pause`. Mines a block. */
  asTokenOwner(token: string, name: string, args?: readonly unknown[]): Promise<void>;
  stop(): Promise<void>;
}

function binary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  return path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil');
}

/** The URL where it listens, on a port of its own choice, once it does. */
async function listening(child: ChildProcess): Promise<string> {
  let said = '';
  for await (const chunk of child.stdout ?? []) {
    said += String(chunk);
    const [, address] = /Listening on (\S+)/.exec(said) ?? [];
    if (address !== undefined) return `http://${address}`;
  }
  throw new Error(`anvil ended before it listened: ${said}`);
}

export async function startAnvil({ chain = 'eip155:84532', blockMs, safeDepth = 4, genesisAt }: AnvilOptions = {}): Promise<Anvil> {
  const mining = blockMs === undefined ? ['--no-mining'] : ['--block-time', String(blockMs / 1000)];
  const child = spawn(binary(), ['--host', '127.0.0.1', '--port', '0', '--chain-id', chain.slice('eip155:'.length), '--mnemonic', MNEMONIC, '--slots-in-an-epoch', String(safeDepth), ...mining, ...(genesisAt === undefined ? [] : ['--timestamp', String(genesisAt)])], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const rpcUrl = await listening(child);
  child.stdout?.resume();

  async function rpc<T>(method: string, ...params: unknown[]): Promise<T> {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = answer.parse(await response.json());
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as T;
  }
  const mine = (blocks = 1): Promise<void> => rpc('anvil_mine', toHex(blocks));

  const wallets = Array.from({ length: WALLETS + 1 }, (_, addressIndex) => {
    const account = mnemonicToAccount(MNEMONIC, { addressIndex });
    return { address: account.address, privateKey: toHex(account.getHdKey().privateKey ?? new Uint8Array()) };
  });
  const owner = wallets[OWNER]?.address;
  const { abi, bytecode } = artifact.parse(JSON.parse(readFileSync(new URL('../../../infra/local/contracts/Stablecoin.json', import.meta.url), 'utf8')));
  async function asTokenOwner(token: string, functionName: string, args: readonly unknown[] = []): Promise<void> {
    const data = encodeFunctionData({ abi: abi as Abi, functionName, args });
    await rpc('eth_sendTransaction', { from: owner, to: token, data, gas: toHex(3_000_000) });
    await mine();
  }
  const { tokens } = networkOf(chain as ChainId);
  for (const { address, symbol } of tokens) {
    await rpc('anvil_setCode', address, bytecode);
    await asTokenOwner(address, 'initialize', [symbol, symbol, 'USD', owner, wallets.slice(0, WALLETS).map((wallet) => wallet.address), EACH]);
  }
  return {
    caip2: chain,
    rpcUrl,
    tokens: Object.fromEntries(tokens.map(({ symbol, address }) => [symbol, address])),
    wallets: wallets.slice(0, WALLETS),
    rpc,
    mine,
    asTokenOwner,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      kill();
      process.removeListener('exit', kill);
      await ended;
    },
  };
}
