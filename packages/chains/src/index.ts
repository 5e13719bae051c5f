export {
  aliasOf,
  createChains,
  examineUpstream,
  mergeCursors,
  openWalletHistory,
  rewindCursor,
  type Chains,
  type ChainsOptions,
  type Examined,
} from './chains.ts';
export { upstreamsOf, upstreamVariables } from './upstreams.ts';
export { identifyWith } from './identify.ts';
export { findNetwork, networkNamed, networkOf, networks } from './networks.ts';
export * from './port.ts';
export { RpcUnavailableError } from '@pf/rpc';
export { UNTOLD_RULES } from './rules.ts';
export { resolveChain, resolveToken } from './resolve.ts';
export type { Balances, BlockRange, Few, Moved, WalletHistory } from './wallet-history.ts';
