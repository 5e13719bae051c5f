import { RpcClient, RpcRefusedError, RpcUpstreamError } from '@pf/rpc/client';
import { z } from 'zod';
import { ControlError } from './control-error.ts';

const TIMEOUT_MS = 10_000;

/** A node's JSON-RPC. */
export interface Node {
  readonly url: string;
  /** @throws ControlError with the node's message, or when it does not respond */
  call<T>(schema: z.ZodType<T>, method: string, ...params: readonly unknown[]): Promise<T>;
}

export function nodeAt(url: string): Node {
  const client = new RpcClient(url, { timeoutMs: TIMEOUT_MS });
  return {
    url,
    async call(schema, method, ...params) {
      try {
        return await client.call(method, params, schema);
      } catch (cause) {
        if (cause instanceof RpcRefusedError) throw new ControlError(cause.message, { cause });
        if (!(cause instanceof RpcUpstreamError)) throw cause;
        throw new ControlError(
          `The chain's node at ${new URL(url).host} does not respond. Is the stack running? Start it: npm start`,
          { cause },
        );
      }
    },
  };
}

/** For results that are not used. */
export const anything = z.unknown();
