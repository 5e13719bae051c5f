export { createChains, upstreamsOf, upstreamVariables, type Chains, type ChainsOptions } from './chains.ts';
export { networks } from './networks.ts';
export * from './port.ts';
export { RpcUnavailableError } from '@pf/rpc';
export { networkOf, resolveChain, resolveToken } from './resolve.ts';
