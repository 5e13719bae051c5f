import { networkOf } from '@pf/chains';
import type { ChainId } from '@pf/domain';
import { type Hex, toHex } from 'viem';
import { type AnvilProcess, startAnvilProcess } from './anvil-process.ts';
import type { StackChain } from '../stack/stack.ts';
import { placeTempoTokens } from './tempo-tokens.ts';

const CHAIN = 'eip155:42431' as ChainId;

export interface TempoOptions {
  /** Milliseconds between blocks; absent: a block only when `mine` is called. */
  readonly blockMs?: number;
  /** Seconds since 1970 of the first block: two chains begun in the same second have the same one. */
  readonly genesisAt?: number;
}

/** A Tempo chain of a test's own, with the real TIP-20 tokens, among them USDC: what is in a block is final. */
export interface Tempo extends StackChain, Pick<AnvilProcess, 'rpc' | 'mine' | 'stop'> {
  /** Calls a contract from USDC's owner, which every role of it may be granted to. Mines a block. */
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
    tokens: Object.fromEntries(networkOf(CHAIN).tokens.map(({ symbol, address }) => [symbol, address])),
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
