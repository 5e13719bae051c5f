import { families } from '@pf/chains/networks';
import { tokens as solanaTokens, wallets as solanaWallets } from '@pf/local-solana';
import { callRpc } from '@pf/rpc/client';
import { startBlockClock } from './block-clock.ts';
import { CHAINS, type ChainName } from './chains.ts';
import type { ProcessSpec } from '../processes/process-spec.ts';
import { type AnvilChain, anvilSpec } from './anvil.ts';
import { solanaSpec } from './solana.ts';
import type { Settings } from '../stack/settings.ts';
import type { StackChain } from '../stack/stack.ts';
import type { Supervised } from '../processes/supervised-process.ts';
import { placeTempoTokens, TEMPO_TOKENS } from './tempo-tokens.ts';
import { placeTokens, TOKENS, wallets } from './tokens.ts';

/** `safe` is 5 blocks behind the head and `finalized` 10: 1 s and 2 s, instead of 20 minutes on the real network. */
const BASE = ['--slots-in-an-epoch', '5'];
/** 2 and 4 of its blocks: 4 s and 8 s. */
const BASE_LIVE = ['--slots-in-an-epoch', '2'];
/** Every block is final at once. */
const TEMPO = ['--network', 'tempo', '--slots-in-an-epoch', '0'];

/** The testnets run at their real pace; the live network is slower, since it is used less and costs CPU all day. */
export const ANVILS = {
  base: { name: 'base', blockMs: families.base.blockMs, baseFee: null, flags: BASE },
  baseLive: { name: 'baseLive', blockMs: 2000, baseFee: null, flags: BASE_LIVE },
  tempo: { name: 'tempo', blockMs: families.tempo.blockMs, baseFee: 10_000_000_000n, flags: TEMPO },
} as const satisfies Record<string, AnvilChain>;

/**
 * EIP-2935 keeps 8,191 block hashes in this contract's storage. anvil copies all state for every block: 8 ms a block
 * after an hour with these hashes, 0.1 ms without. Nothing here needs old hashes.
 */
const BLOCK_HASH_HISTORY = '0x0000F90827F1C53a10cb7A02335B175320002935';

const bySymbol = (tokens: readonly { symbol: string; address: string }[]): Record<string, string> =>
  Object.fromEntries(tokens.map(({ symbol, address }) => [symbol, address]));
/** Symbol → address. A test compares them with the registry of networks. */
export const TOKENS_OF: Readonly<Record<ChainName, Record<string, string>>> = {
  base: bySymbol(TOKENS.base),
  baseLive: bySymbol(TOKENS.baseLive),
  solana: solanaTokens,
  tempo: bySymbol(TEMPO_TOKENS),
};

/** A chain as stack.json lists it, and what stops its block production. */
export interface RunningChain {
  readonly chain: StackChain;
  readonly stopClock: () => void;
}

/**
 * Starts a local chain with its tokens and wallets. A chain whose upstreams the environment lists is used as it is,
 * without wallets.
 * @param start starts a process; resolves when it is ready
 */
export async function startChain(
  name: ChainName,
  settings: Settings,
  start: (spec: ProcessSpec) => Promise<Supervised>,
): Promise<RunningChain> {
  const network = { caip2: CHAINS[name].caip2, tokens: TOKENS_OF[name] };
  const upstreams = settings.external.chains[name];
  if (upstreams) {
    const [rpcUrl = upstreams] = upstreams.split(',');
    return { chain: { ...network, rpcUrl, wallets: [] }, stopClock: () => undefined };
  }
  if (name === 'solana') {
    const { spec, url } = solanaSpec(settings);
    await start(spec);
    // The genesis has the tokens, and the node produces its slots itself.
    return { chain: { ...network, rpcUrl: url, wallets: [...solanaWallets] }, stopClock: () => undefined };
  }
  const { spec, url } = anvilSpec(settings, ANVILS[name]);
  const supervised = await start(spec);
  await callRpc(url, 'anvil_setCode', [BLOCK_HASH_HISTORY, '0x']);
  await (name === 'tempo' ? placeTempoTokens(url) : placeTokens(url, TOKENS[name]));
  return {
    chain: { ...network, rpcUrl: url, wallets: wallets() },
    stopClock: startBlockClock(url, { ...ANVILS[name], blocksUntilFull: settings.blocksUntilFull }, () =>
      supervised.renew(),
    ),
  };
}
