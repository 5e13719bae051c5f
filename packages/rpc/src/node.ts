import type { z } from 'zod';
import { classOf, type ErrorDialect } from './error-classes.ts';
import { RpcBatchError, RpcRefusedError, RpcUpstreamError } from './errors.ts';
import { deliveredWith, type JsonRpcResponse, type RpcTransport } from './transport.ts';

/** One JSON-RPC call and the parser of its result: a result that it rejects counts as no response. */
export interface RpcCall<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly parse: (result: unknown) => T;
  /** Which errors are a result: the chain's answers, or also the limits of a plan. Any other is no response. */
  readonly refusable?: 'answers' | 'limits';
  /** Reads the chain's newest block or slot from the result, where it is in there. */
  readonly head?: (result: unknown) => bigint | null;
}

export const rpcCall = <T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): RpcCall<T> => ({
  method,
  params,
  parse: (result) => schema.parse(result),
});

/** The same call, for callers to whom the chain's refusal is a result. */
export const refusable = <T>(call: RpcCall<T>): RpcCall<T | RpcRefusedError> => ({ ...call, refusable: 'answers' });

/** The same call, for callers that ask for less where the upstream's plan refuses so much. */
export const limited = <T>(call: RpcCall<T>): RpcCall<T | RpcRefusedError> => ({ ...call, refusable: 'limits' });

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

/** The most calls in one HTTP request. An upstream that refuses so many gets fewer. */
const BATCH_MAX = 100;
/** What was learnt of a plan is forgotten after this time: plans change. */
const LEARNT_MS = 60 * 60_000;
/** Requests at a time to an upstream that takes no batches. */
const SINGLES_MAX = 5;

/** Receives each head that an upstream reported, and when it was asked for. */
export type OnHead = (head: bigint, askedAt: number) => void;

/** One upstream over a transport. */
export class TransportNode implements RpcNode {
  readonly #transport: RpcTransport;
  readonly #dialect: ErrorDialect;
  readonly #onHead: OnHead;
  /** The most calls that a request to this upstream may have, until the time at which that is forgotten. */
  #batchMax = BATCH_MAX;
  #learntUntil = 0;

  constructor(transport: RpcTransport, dialect: ErrorDialect, onHead: OnHead) {
    this.#transport = transport;
    this.#dialect = dialect;
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
    while (results.length < calls.length) {
      if (performance.now() > this.#learntUntil) this.#batchMax = BATCH_MAX;
      const rest = calls.slice(results.length);
      const areSingle = this.#batchMax === 1 || rest.length === 1;
      results.push(...(await (areSingle ? this.#singles(rest) : this.#part(rest))));
    }
    return results as Results<Calls>;
  }

  /** The results of as many calls as a request may have; none where it had too many, which is learnt. */
  async #part(all: readonly RpcCall<unknown>[]): Promise<readonly unknown[]> {
    const calls = all.slice(0, this.#batchMax);
    const askedAt = performance.now();
    try {
      const responses = await this.#transport.batch(calls);
      return calls.map((call, index) => this.#read(call, responses[index] ?? { id: index }, askedAt));
    } catch (error) {
      if (!(error instanceof RpcBatchError) || !this.#isTooMany(error)) throw error;
      this.#batchMax = Math.floor(calls.length / 2);
      this.#learntUntil = performance.now() + LEARNT_MS;
      return [];
    }
  }

  #singles(all: readonly RpcCall<unknown>[]): Promise<readonly unknown[]> {
    return Promise.all(all.slice(0, SINGLES_MAX).map((call) => this.call(call)));
  }

  #isTooMany({ status, error }: RpcBatchError): boolean {
    return error === null || classOf(this.#dialect, { ...error, status }) === 'limit';
  }

  #read<T>(call: RpcCall<T>, { error, result, status = 200 }: JsonRpcResponse, askedAt: number): T {
    if (error !== undefined && error !== null) {
      const { code, message, data } = error;
      const is = classOf(this.#dialect, { code, message, status });
      if (call.refusable !== undefined && (is === 'answer' || (is === 'limit' && call.refusable === 'limits')))
        return new RpcRefusedError(message, code, data) as T;
      throw new RpcUpstreamError(
        `${this.name} refused ${call.method}: ${message} (${code})`,
        deliveredWith(status),
        undefined,
        is === 'later' ? 'throttled' : 'rpc',
      );
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
