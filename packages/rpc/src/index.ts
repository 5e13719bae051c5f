export { RpcClient, type RpcClientOptions } from './client.ts';
export type { ErrorDialect } from './error-classes.ts';
export * from './errors.ts';
export {
  boundedTo,
  ifSupported,
  limited,
  listCall,
  otherwise,
  refusable,
  reportingHead,
  type Results,
  type RpcCall,
  rpcCall,
  type RpcNode,
  soon,
  varying,
} from './node.ts';
export { type Attempt, type Responses, RpcPool, type RpcPoolOptions, type Transports } from './pool.ts';
export { type JsonRpcRequest, type JsonRpcResponse, limitOf, type RpcTransport } from './transport.ts';
export { readAnswer, requestText, type ServiceCall } from './service-call.ts';
export { withSecondOpinion } from './second-opinion.ts';
export { upstreamAt, type UpstreamSettings, upstreamSchema } from './upstream-settings.ts';
export { Hints, type Subscription } from './hints.ts';
export { dollarsAMonth, type PriceList, priceOf } from './prices.ts';
export { type PresetName, PRESETS } from './plans.ts';
