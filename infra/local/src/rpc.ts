import { z } from 'zod';

const answer = z.object({ result: z.unknown().optional(), error: z.object({ message: z.string() }).optional() });

/**
 * One JSON-RPC call to a local chain.
 * @throws Error with the node's message, or when it can't be reached within 5 s
 */
export async function rpc(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(5000),
  });
  const { result, error } = answer.parse(await response.json());
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
