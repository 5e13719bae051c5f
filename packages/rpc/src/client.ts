import { getGlobalDispatcher } from 'undici';
import { z } from 'zod';
import { RpcRefusedError, RpcUpstreamError } from './errors.ts';
import { type JsonRpcRequest, type JsonRpcResponse, JsonRpcTransport } from './transport.ts';

export { RpcRefusedError, RpcUpstreamError };
export type { JsonRpcRequest };

export interface RpcClientOptions {
  /** Of each HTTP request. Default: 5 s */
  readonly timeoutMs?: number;
}

/**
 * JSON-RPC to one node, without failover or metrics: for tools and tests. Every method throws RpcRefusedError with the
 * method and the node's message where the node refuses the call, and RpcUpstreamError without a usable response.
 *
 * @example
 * const chainId = await new RpcClient(url).call('eth_chainId', [], z.string());
 */
export class RpcClient {
  readonly #transport: JsonRpcTransport;

  constructor(url: string, { timeoutMs = 5_000 }: RpcClientOptions = {}) {
    this.#transport = new JsonRpcTransport(url, getGlobalDispatcher(), timeoutMs);
  }

  /** @throws ZodError where the result does not match the schema */
  async call<T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): Promise<T> {
    return schema.parse(resultOf(method, await this.#transport.request({ method, params })));
  }

  /** Several calls in one HTTP request. @returns the results in the order of the calls; throws the first refusal */
  async batch(requests: readonly JsonRpcRequest[]): Promise<readonly unknown[]> {
    const responses = await this.#transport.batch(requests);
    return responses.map((response, index) => resultOf(requests[index]?.method ?? '', response));
  }
}

/** One call to one node: see RpcClient. */
export const callRpc = (url: string, method: string, params: readonly unknown[] = []): Promise<unknown> =>
  new RpcClient(url).call(method, params, z.unknown());

function resultOf(method: string, { result, error }: JsonRpcResponse): unknown {
  if (error !== undefined && error !== null)
    throw new RpcRefusedError(`${method}: ${error.message}`, error.code, error.data);
  return result ?? null;
}
