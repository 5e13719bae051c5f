import { z } from 'zod';

const answer = z.object({ result: z.unknown().optional(), error: z.object({ message: z.string() }).optional() });

/** Asks a node one thing. @throws Error with the method and what the node says where it refuses */
export type NodeRpc = <T = unknown>(method: string, ...params: unknown[]) => Promise<T>;

/** JSON-RPC to one node: for tests, which know what they get. */
export const nodeRpc =
  (url: string): NodeRpc =>
  async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = answer.parse(await response.json());
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as T;
  };
