import { tokens as solanaTokens, wallets as solanaWallets } from '@pf/local-solana';
import { callRpc } from '@pf/rpc/client';
import { startBlockClock } from './block-clock.ts';
import { CHAINS, type ChainName } from './chains.ts';
import type { Part } from '../processes/process-spec.ts';
import { type AnvilChain, anvilPart } from './anvil.ts';
import { solanaPart } from './solana.ts';
import type { Settings } from '../stack/settings.ts';
import type { StackChain } from '../stack/stack.ts';
import type { Supervised } from '../processes/supervised-process.ts';
import { placeTempoTokens, TEMPO_TOKENS } from './tempo-tokens.ts';
import { placeTokens, TOKENS, wallets } from './tokens.ts';

/** `safe` is 5 blocks behind the head and `finalized` 10: one and two seconds, for 20 minutes on the real network. */
const BASE = ['--slots-in-an-epoch', '5'];
/** What is in a block is final. */
const TEMPO = ['--network', 'tempo', '--slots-in-an-epoch', '0'];

/** The testnets at their real pace, the live one slower, since it is used less and costs CPU all day. */
export const ANVILS = {
  base: { name: 'base', blockMs: 200, baseFee: null, flags: BASE },
  baseLive: { name: 'baseLive', blockMs: 1000, baseFee: null, flags: BASE },
  tempo: { name: 'tempo', blockMs: 500, baseFee: 10_000_000_000n, flags: TEMPO },
} as const satisfies Record<string, AnvilChain>;

/**
 * EIP-2935 keeps 8,191 block hashes in a contract's storage. anvil copies all state for every block, which with them
 * costs 8 ms a block after an hour, without 0.1 ms. Nothing here asks for old hashes.
 */
const BLOCK_HASH_HISTORY = '0x0000F90827F1C53a10cb7A02335B175320002935';

const bySymbol = (tokens: readonly { symbol: string; address: string }[]): Record<string, string> =>
  Object.fromEntries(tokens.map(({ symbol, address }) => [symbol, address]));
/** Symbol → address. A test compares them with the service's own registry. */
export const TOKENS_OF: Readonly<Record<ChainName, Record<string, string>>> = {
  base: bySymbol(TOKENS.base),
  baseLive: bySymbol(TOKENS.baseLive),
  solana: solanaTokens,
  tempo: bySymbol(TEMPO_TOKENS),
};

/** A chain as scripts find it, and what stops its clock: it stands still from then on. */
export interface RunningChain {
  readonly chain: StackChain;
  readonly stopClock: () => void;
}

/**
 * Starts a local chain with its tokens and wallets; one whose nodes the environment names is used as it is, without
 * wallets.
 * @param start runs a part, resolves when it answers
 */
export async function startChain(
  name: ChainName,
  settings: Settings,
  start: (part: Part) => Promise<Supervised>,
): Promise<RunningChain> {
  const found = { caip2: CHAINS[name].caip2, tokens: TOKENS_OF[name] };
  const given = settings.given.chains[name];
  if (given)
    return { chain: { ...found, rpcUrl: given.split(',')[0] ?? given, wallets: [] }, stopClock: () => undefined };
  if (name === 'solana') {
    const { part, url } = solanaPart(settings);
    await start(part);
    // The node is born with its tokens, and its slots are its own.
    return { chain: { ...found, rpcUrl: url, wallets: [...solanaWallets] }, stopClock: () => undefined };
  }
  const { part, url } = anvilPart(settings, ANVILS[name]);
  const supervised = await start(part);
  await callRpc(url, 'anvil_setCode', [BLOCK_HASH_HISTORY, '0x']);
  await (name === 'tempo' ? placeTempoTokens(url) : placeTokens(url, TOKENS[name]));
  return {
    chain: { ...found, rpcUrl: url, wallets: wallets() },
    stopClock: startBlockClock(url, ANVILS[name], () => supervised.renew()),
  };
}
