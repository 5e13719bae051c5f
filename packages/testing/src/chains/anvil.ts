import { networkOf } from '@pf/chains/networks';
import type { ChainId } from '@pf/domain';
import { encodeFunctionData, toHex } from 'viem';
import { type AnvilProcess, startAnvilProcess } from './anvil-process.ts';
import { contractNamed } from './contract.ts';
import type { StackChain } from '../stack/stack.ts';

/** A million of each token (6 decimals). */
const EACH = 1_000_000_000_000n;

export interface AnvilOptions {
  /** The CAIP-2 id of a Base network. */
  readonly chain?: string;
  /** ms between blocks; absent: blocks come only from `mine`. */
  readonly blockMs?: number;
  /** `safe` is this many blocks behind the head, `finalized` twice as many. */
  readonly safeDepth?: number;
  /** The time of the first block, seconds since 1970: two chains started in the same second share their genesis. */
  readonly genesisAt?: number;
}

/**
 * A Base chain that belongs to one test, with the token contracts at their addresses: it may be reorganized and
 * stopped.
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
  const { abi, bytecode } = contractNamed('Stablecoin');
  async function asTokenOwner(token: string, functionName: string, args: readonly unknown[] = []): Promise<void> {
    const data = encodeFunctionData({ abi, functionName, args });
    await rpc('eth_sendTransaction', { from: owner.address, to: token, data, gas: toHex(3_000_000) });
    await mine();
  }
  const { tokens } = networkOf(chain as ChainId);
  for (const { address, symbol, currency } of tokens) {
    await rpc('anvil_setCode', address, bytecode);
    await asTokenOwner(address, 'initialize', [
      symbol,
      symbol,
      currency,
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
