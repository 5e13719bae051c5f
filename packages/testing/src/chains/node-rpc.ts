import { RpcClient } from '@pf/rpc/client';
import { z } from 'zod';

/** Makes one call. @throws RpcRefusedError with the method and the node's message where the node refuses it */
export type NodeRpc = <T = unknown>(method: string, ...params: unknown[]) => Promise<T>;

/** A node may mine hundreds of blocks in one call. */
const TIMEOUT_MS = 60_000;

/** JSON-RPC to one node: for tests, which know the type of each result. */
export function nodeRpc(url: string): NodeRpc {
  const client = new RpcClient(url, { timeoutMs: TIMEOUT_MS });
  return async <T>(method: string, ...params: unknown[]): Promise<T> =>
    (await client.call(method, params, z.unknown())) as T;
}
