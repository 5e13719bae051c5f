import http from 'node:http';
import { z } from 'zod';

const answer = z.object({ result: z.unknown().optional(), error: z.object({ message: z.string() }).optional() });
// Not fetch: the chains are asked to mine six times a second all day, and fetch costs three times as much CPU.
const agent = new http.Agent({ keepAlive: true });

/**
 * One JSON-RPC call to a local chain.
 * @throws Error with the node's message, or when it can't be reached within 5 s
 */
export async function rpc(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const text = await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  const { result, error } = answer.parse(JSON.parse(text));
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

async function post(url: string, body: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', agent, timeout: 5000, headers: { 'content-type': 'application/json' } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.once('end', () => resolve(text));
      response.once('error', reject);
    });
    request.once('timeout', () => request.destroy(new Error(`${url} does not answer`)));
    request.once('error', reject);
    request.end(body);
  });
}
