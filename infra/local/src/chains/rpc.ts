import http from 'node:http';
import { z } from 'zod';

const answer = z.object({ result: z.unknown().optional(), error: z.object({ message: z.string() }).optional() });
const answers = z.array(answer.extend({ id: z.number() }));
// Not fetch: the chains are asked to mine eight times a second all day, and fetch costs three times as much CPU.
const agent = new http.Agent({ keepAlive: true });

export type Call = readonly [method: string, ...params: unknown[]];

const request = ([method, ...params]: Call, id: number): object => ({ jsonrpc: '2.0', id, method, params });

function resultOf(method: string, { result, error }: z.infer<typeof answer>): unknown {
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

/**
 * One JSON-RPC call to a local chain.
 * @throws Error with the node's message, or when it can't be reached within 5 s
 */
export async function rpc(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  return resultOf(method, answer.parse(JSON.parse(await post(url, request([method, ...params], 0)))));
}

/**
 * Several calls in one request, which the node may answer in any order. @returns their results in the order of the calls
 * @throws Error with the first refusal, or when the node can't be reached within 5 s
 */
export async function rpcBatch(url: string, calls: readonly Call[]): Promise<unknown[]> {
  const given = new Map(answers.parse(JSON.parse(await post(url, calls.map(request)))).map((one) => [one.id, one]));
  return calls.map(([method], id) => resultOf(method, given.get(id) ?? { error: { message: 'no answer' } }));
}

async function post(url: string, body: unknown): Promise<string> {
  return await new Promise((resolve, reject) => {
    const request = http.request(
      url,
      { method: 'POST', agent, timeout: 5000, headers: { 'content-type': 'application/json' } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => (text += part));
        response.once('end', () => resolve(text));
        response.once('error', reject);
      },
    );
    request.once('timeout', () => request.destroy(new Error(`${url} does not answer`)));
    request.once('error', reject);
    request.end(JSON.stringify(body));
  });
}
