import type { z } from 'zod';
import { RpcRefusedError, RpcUpstreamError } from './errors.ts';
import type { JsonRpcResponse, RpcTransport } from './transport.ts';

/** One JSON-RPC call and the parser of its result: a result that it rejects counts as no response. */
export interface RpcCall<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly parse: (result: unknown) => T;
  readonly refusable?: true;
  /** Reads the chain's newest block or slot from the result, where it is in there. */
  readonly head?: (result: unknown) => bigint | null;
}

export const rpcCall = <T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): RpcCall<T> => ({
  method,
  params,
  parse: (result) => schema.parse(result),
});

/** The same call, for callers to whom a node's refusal is a result. */
export const refusable = <T>(call: RpcCall<T>): RpcCall<T | RpcRefusedError> => ({ ...call, refusable: true });

/** The same call, whose result also tells the pool the upstream's head. */
export const reportingHead = <T>(call: RpcCall<T>, head: (result: T) => bigint | null): RpcCall<T> => ({
  ...call,
  head: (result) => head(call.parse(result)),
});

export type Results<Calls extends readonly RpcCall<unknown>[]> = {
  -readonly [Index in keyof Calls]: Calls[Index] extends RpcCall<infer T> ? T : never;
};

/**
 * One upstream. Ask results that belong together (a head and the logs up to it) of one and the same.
 * Throws RpcUpstreamError without a usable response: also where the node refuses a call that is not `refusable`.
 */
export interface RpcNode {
  /** The upstream's host: for logs and metrics. Its URL may hold a key. */
  readonly name: string;
  call<T>(call: RpcCall<T>): Promise<T>;
  /** Several calls in one HTTP request; the results are in the order of the calls. */
  batch<const Calls extends readonly RpcCall<unknown>[]>(calls: Calls): Promise<Results<Calls>>;
}

/** Error codes by which providers say "not now" or "not here": the call was not executed. */
const BUSY = new Set([-32005, -32016, -32029, -32002, -32004, -32601, -32603, -32700]);
/** Some nodes report a failed simulation as an internal error, although they have executed it. */
const EXECUTED = /revert|out ?of ?gas|EVM error/i;

/** Providers limit the length of a batch; a longer one is split. */
const BATCH_MAX = 100;

/** Receives each head that an upstream reported, and when it was asked for. */
export type OnHead = (head: bigint, askedAt: number) => void;

/** One upstream over a transport. */
export class TransportNode implements RpcNode {
  readonly #transport: RpcTransport;
  readonly #onHead: OnHead;

  constructor(transport: RpcTransport, onHead: OnHead) {
    this.#transport = transport;
    this.#onHead = onHead;
  }

  get name(): string {
    return this.#transport.name;
  }

  async call<T>(call: RpcCall<T>): Promise<T> {
    const askedAt = performance.now();
    return this.#read(call, await this.#transport.request(call), askedAt);
  }

  async batch<const Calls extends readonly RpcCall<unknown>[]>(calls: Calls): Promise<Results<Calls>> {
    const results: unknown[] = [];
    for (let start = 0; start < calls.length; start += BATCH_MAX)
      results.push(...(await this.#part(calls.slice(start, start + BATCH_MAX))));
    return results as Results<Calls>;
  }

  async #part(calls: readonly RpcCall<unknown>[]): Promise<unknown[]> {
    const askedAt = performance.now();
    const responses = await this.#transport.batch(calls);
    return calls.map((call, index) => this.#read(call, responses[index] ?? { id: index }, askedAt));
  }

  #read<T>(call: RpcCall<T>, { error, result }: JsonRpcResponse, askedAt: number): T {
    if (error !== undefined && error !== null) {
      if (call.refusable === true && (!BUSY.has(error.code) || EXECUTED.test(error.message)))
        return new RpcRefusedError(error.message, error.code, error.data) as T;
      throw new RpcUpstreamError(`${this.name} refused ${call.method}: ${error.message} (${error.code})`, 'maybe');
    }
    const value = this.#parsed(call, result);
    const head = call.head?.(result) ?? null;
    if (head !== null) this.#onHead(head, askedAt);
    return value;
  }

  #parsed<T>(call: RpcCall<T>, result: unknown): T {
    try {
      return call.parse(result);
    } catch (cause) {
      throw new RpcUpstreamError(`${this.name} sent an invalid result of ${call.method}`, 'maybe', cause, 'malformed');
    }
  }
}
