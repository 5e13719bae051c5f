import { networkOf } from '@pf/chains/networks';
import type { ChainId } from '@pf/domain';
import { type Hex, toHex } from 'viem';
import { type AnvilProcess, startAnvilProcess } from './anvil-process.ts';
import type { StackChain } from '../stack/stack.ts';
import { placeTempoTokens } from './tempo-tokens.ts';

const CHAIN = 'eip155:42431' as ChainId;

export interface TempoOptions {
  /** ms between blocks; absent: blocks come only from `mine`. */
  readonly blockMs?: number;
  /** The time of the first block, seconds since 1970: two chains started in the same second share their genesis. */
  readonly genesisAt?: number;
}

/** A Tempo chain that belongs to one test, with the real TIP-20 tokens, including USDC. Blocks are final. */
export interface Tempo extends StackChain, Pick<AnvilProcess, 'rpc' | 'mine' | 'stop'> {
  /** Calls a contract as USDC's owner, which can be granted every role. Mines a block. */
  asTokenOwner(to: string, data: Hex): Promise<void>;
}

export async function startTempo({ blockMs, genesisAt }: TempoOptions = {}): Promise<Tempo> {
  const flags = [
    '--network',
    'tempo',
    '--slots-in-an-epoch',
    '0',
    ...(genesisAt === undefined ? [] : ['--timestamp', String(genesisAt)]),
  ];
  const { rpcUrl, rpc, mine, stop, wallets, owner } = await startAnvilProcess(CHAIN, blockMs, flags);
  await placeTempoTokens(rpcUrl);
  return {
    caip2: CHAIN,
    rpcUrl,
    tokens: Object.fromEntries(
      networkOf(CHAIN).tokens.flatMap(({ symbol, aliases, address }) =>
        [symbol, ...aliases].map((name) => [name, address]),
      ),
    ),
    wallets: [...wallets],
    rpc,
    mine,
    asTokenOwner: async (to, data) => {
      const hash = await rpc('eth_sendTransaction', { from: owner.address, to, data, gas: toHex(3_000_000) });
      await mine();
      const receipt = await rpc<{ status: string } | null>('eth_getTransactionReceipt', hash);
      if (receipt?.status !== '0x1') throw new Error(`${to} refused its owner: ${data}`);
    },
    stop,
  };
}
