import { readFileSync } from 'node:fs';
import { networkOf } from '@pf/chains';
import type { ChainId } from '@pf/domain';
import { type Abi, encodeFunctionData, toHex } from 'viem';
import { z } from 'zod';
import { type AnvilProcess, startAnvilProcess } from './anvil-process.ts';
import type { StackChain } from '../stack/stack.ts';

/** A million of each token, 6 decimals. */
const EACH = 1_000_000_000_000n;

const artifact = z.object({ abi: z.array(z.unknown()), bytecode: z.string() });

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

/**
 * A Base chain of a test's own, with the token contracts at their addresses: it may be reorganized, stopped and spoilt.
 */
export interface Anvil extends StackChain, Pick<AnvilProcess, 'rpc' | 'mine' | 'stop'> {
  /** Calls a token's contract as its owner: `blacklist`, `mint`, `pause`. Mines a block. */
  asTokenOwner(token: string, name: string, args?: readonly unknown[]): Promise<void>;
}

export async function startAnvil({
  chain = 'eip155:84532',
  blockMs,
  safeDepth = 4,
  genesisAt,
}: AnvilOptions = {}): Promise<Anvil> {
  const flags = [
    '--slots-in-an-epoch',
    String(safeDepth),
    ...(genesisAt === undefined ? [] : ['--timestamp', String(genesisAt)]),
  ];
  const { rpcUrl, rpc, mine, stop, wallets, owner } = await startAnvilProcess(chain, blockMs, flags);
  const { abi, bytecode } = artifact.parse(
    JSON.parse(readFileSync(new URL('../../contracts/Stablecoin.json', import.meta.url), 'utf8')),
  );
  async function asTokenOwner(token: string, functionName: string, args: readonly unknown[] = []): Promise<void> {
    const data = encodeFunctionData({ abi: abi as Abi, functionName, args });
    await rpc('eth_sendTransaction', { from: owner.address, to: token, data, gas: toHex(3_000_000) });
    await mine();
  }
  const { tokens } = networkOf(chain as ChainId);
  for (const { address, symbol } of tokens) {
    await rpc('anvil_setCode', address, bytecode);
    await asTokenOwner(address, 'initialize', [
      symbol,
      symbol,
      'USD',
      owner.address,
      wallets.map((wallet) => wallet.address),
      EACH,
    ]);
  }
  return {
    caip2: chain,
    rpcUrl,
    tokens: Object.fromEntries(tokens.map(({ symbol, address }) => [symbol, address])),
    wallets: [...wallets],
    rpc,
    mine,
    asTokenOwner,
    stop,
  };
}
