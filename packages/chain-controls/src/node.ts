import { z } from 'zod';
import { ControlError } from './control-error.ts';

const answer = z.object({ result: z.unknown().optional(), error: z.object({ message: z.string() }).optional() });
const PATIENCE_MS = 10_000;

/** A node's JSON-RPC. */
export interface Node {
  readonly url: string;
  /** @throws ControlError with the node's words, or where it does not answer */
  call<T>(schema: z.ZodType<T>, method: string, ...params: readonly unknown[]): Promise<T>;
}

export function nodeAt(url: string): Node {
  async function post(body: object): Promise<unknown> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return await response.json();
    } catch (cause) {
      // Nobody there, or something that is no node: for whoever gave the order it is the same.
      throw new ControlError(
        `The chain's node at ${new URL(url).host} does not answer. Is the stack running? Start it: npm start`,
        { cause },
      );
    }
  }
  return {
    url,
    async call(schema, method, ...params) {
      const { result, error } = answer.parse(await post({ jsonrpc: '2.0', id: 1, method, params }));
      if (error !== undefined) throw new ControlError(`${method}: ${error.message}`);
      return schema.parse(result ?? null);
    },
  };
}

/** For answers that say nothing. */
export const anything = z.unknown();
