import { RpcClient } from '@pf/rpc/client';
import { z } from 'zod';

/** Makes one call. @throws RpcRefusedError with the method and the node's message when the node refuses it */
export type NodeRpc = <T = unknown>(method: string, ...params: unknown[]) => Promise<T>;

/** Mining hundreds of blocks in one call takes long. */
const TIMEOUT_MS = 60_000;

/** JSON-RPC to one node, for tests that know the type of each result. */
export function nodeRpc(url: string): NodeRpc {
  const client = new RpcClient(url, { timeoutMs: TIMEOUT_MS });
  return async <T>(method: string, ...params: unknown[]): Promise<T> =>
    (await client.call(method, params, z.unknown())) as T;
}
