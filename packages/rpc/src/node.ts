import { pause, recordDuration } from '@pf/runtime';
import type { z } from 'zod';
import { classOf, type ErrorClass, type ErrorDialect } from './error-classes.ts';
import { RpcBatchError, RpcClaimError, type RpcFault, RpcRefusedError, RpcUpstreamError } from './errors.ts';
import { type ReadElement, ReadList } from './json-pieces.ts';
import { Lack } from './lack.ts';
import { type Exchange, measured } from './measured.ts';
import { LEARNED_MS, Pace } from './pace.ts';
import { Patience } from './patience.ts';
import type { Plan } from './plans.ts';
import { type PriceList, priceOf } from './prices.ts';
import { deliveredWith, type JsonRpcResponse, type RpcTransport } from './transport.ts';
import { currentWork, type Work } from './work.ts';

/** One JSON-RPC call and the parser of its result: a result that it rejects counts as no response. */
export interface RpcCall<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly parse: (result: unknown) => T;
  /** What is asked where the upstream refuses these: a version of a node may no longer have one of their words. */
  readonly otherwise?: readonly unknown[];
  /** Which errors are a result: the chain's answers, or also the limits of a plan. Any other is no response. */
  readonly refusable?: 'answers' | 'limits';
  /** Where the upstream does not have the method the result is null. */
  readonly isOptional?: boolean;
  /**
   * A longer response to a request with this call is broken off, and counts as none. Default: 8 MiB, of a list that is
   * read element by element 64 MiB
   */
  readonly maxBytes?: number;
  /** Of a result that is a list: what is kept of each element as it arrives. */
  readonly readElement?: ReadElement;
  /** A request of such calls alone is not waited for much longer than its upstream usually takes. */
  readonly isSoon?: boolean;
  /** How long it takes is decided by what is asked for: little is learned from it. */
  readonly isVarying?: boolean;
  /** Reads the chain's newest block or slot from the result, where it is in there. */
  readonly head?: (result: unknown) => bigint | null;
}

export const rpcCall = <T>(method: string, params: readonly unknown[], schema: z.ZodType<T>): RpcCall<T> => ({
  method,
  params,
  parse: (result) => schema.parse(result),
});

/**
 * A call whose result is a list, which may be long: each element is read as it arrives, and not kept.
 * @param readElement what is kept of an element; throws where that has an unknown shape. Calls of one batch are read so
 *   only where they share it
 */
export const listCall = <T>(
  method: string,
  params: readonly unknown[],
  readElement: (element: unknown) => readonly T[],
): RpcCall<readonly T[]> => ({
  method,
  params,
  readElement,
  parse(result) {
    if (result instanceof ReadList) return result.all() as readonly T[];
    if (!Array.isArray(result)) throw new Error(`the result of ${method} is no list`);
    return result.flatMap(readElement);
  },
});

/** The same call, for callers to whom the chain's refusal is a result. */
export const refusable = <T>(call: RpcCall<T>): RpcCall<T | RpcRefusedError> => ({ ...call, refusable: 'answers' });

/** The same call, for nodes to which its parameters are invalid. */
export const otherwise = <T>(call: RpcCall<T>, params: readonly unknown[]): RpcCall<T> => ({
  ...call,
  otherwise: params,
});

/** The same call, for callers that ask for less where the upstream's plan refuses so much. */
export const limited = <T>(call: RpcCall<T>): RpcCall<T | RpcRefusedError> => ({ ...call, refusable: 'limits' });

/** The same call, for callers that can do without: null where the upstream does not have the method. */
export const ifSupported = <T>(call: RpcCall<T>): RpcCall<T | null> => ({ ...call, isOptional: true });

/** The same call, of which no longer response is read: what it asks for is written by strangers. */
export const boundedTo = <T>(maxBytes: number, call: RpcCall<T>): RpcCall<T> => ({ ...call, maxBytes });

/**
 * The same call, for callers whose other work does not wait for a node that never returns it: a time-out comes after
 * 300 ms, or three times what this upstream usually takes where that is longer, and never after the request's own.
 */
export const soon = <T>(call: RpcCall<T>): RpcCall<T> => ({ ...call, isSoon: true });

/**
 * The same call, whose time is decided by what strangers have written: as `soon` it is waited for 700 ms at most at an
 * upstream that is quick otherwise.
 */
export const varying = <T>(call: RpcCall<T>): RpcCall<T> => ({ ...call, isVarying: true });

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
  /** The upstream's host, with a number where it is not the first of that host: for logs and metrics. */
  readonly name: string;
  /** What is known of its plan. */
  readonly plan: Plan;
  /**
   * How many calls of a method its rate allows within this time, at least one; infinite where no rate is known. Work
   * with more calls than that may never come to its end.
   */
  callsIn(ms: number, method: string): number;
  call<T>(call: RpcCall<T>): Promise<T>;
  /**
   * Several calls in as few HTTP requests as the upstream allows; the results are in the order of the calls. Calls that
   * it refused because of their number are asked again, alone, when it takes some again.
   */
  batch<const Calls extends readonly RpcCall<unknown>[]>(calls: Calls): Promise<Results<Calls>>;
}

/** The most calls in one HTTP request. An upstream that refuses so many gets fewer. */
const BATCH_MAX = 100;
/** Requests at a time to an upstream that takes no batches. */
const SINGLES_MAX = 5;
/** How often a request for reads is repeated whose response is unusable, where no other upstream is left. */
const REPEATS_MAX = 2;
const REPEAT_AFTER_MS = 100;
/** How long calls wait for their turn outside of a pool's work. */
const WAIT_MS = 6_000;
/** The calls that broadcast a transaction. They have a bucket of their own: reads never hold them back. */
const SENDS = new Set(['eth_sendRawTransaction', 'sendTransaction']);

export interface TransportNodeOptions {
  readonly transport: RpcTransport;
  readonly name: string;
  readonly plan: Plan;
  /** What its calls cost; null where that is not known. */
  readonly prices: PriceList | null;
  readonly dialect: ErrorDialect;
  /** The network's name. */
  readonly network: string;
  /** Receives each head that the upstream reported, and when it was asked for. */
  readonly onHead: (head: bigint, askedAt: number) => void;
  /** The upstream refuses calls because of their number. */
  readonly onPause: (bucket: 'reads' | 'sends', ms: number, callsPerSecond: number) => void;
}

/** What came cannot be used: cut, mixed up, a gateway's page. The next response from there may be whole. */
const isUnusable = ({ fault, delivered }: RpcUpstreamError): boolean =>
  fault === 'malformed' || (fault === 'http' && delivered === 'maybe');

/** JSON-RPC 2.0: invalid parameters. */
const INVALID_PARAMS = -32_602;

/** The outcome of a call in a request: undefined where it has to be asked again, or with its other parameters. */
type Outcome = { readonly value: unknown } | 'refused words' | undefined;
/** A call of a batch. */
interface Asked {
  readonly call: RpcCall<unknown>;
  readonly index: number;
  readonly isReworded: boolean;
}

/** With its other parameters, where it has some. */
function reworded(asked: Asked): Asked {
  const { otherwise, ...call } = asked.call;
  return otherwise === undefined ? asked : { ...asked, call: { ...call, params: otherwise }, isReworded: true };
}

/** One upstream over a transport. */
export class TransportNode implements RpcNode {
  readonly plan: Plan;
  readonly reads: Pace;
  readonly sends: Pace;
  readonly #options: TransportNodeOptions;
  readonly #patience = new Patience();
  /** The most calls that a request to this upstream may have, until the time at which that is forgotten. */
  #batchMax: number;
  #learnedUntil = 0;
  /** Methods that it does not have: by its plan, and learned. */
  readonly #unsupported: ReadonlySet<string>;
  readonly #lacks = new Map<string, Lack>();
  /** Methods whose first words it refused, and answered the others. */
  readonly #refusedWords = new Map<string, Lack>();

  constructor(options: TransportNodeOptions) {
    const { plan } = options;
    this.#options = options;
    this.plan = plan;
    this.reads = new Pace(plan);
    this.sends = new Pace({ ...plan, callsPerSecond: plan.sendsPerSecond ?? plan.callsPerSecond });
    this.#batchMax = this.#batchPlanned;
    this.#unsupported = new Set(plan.unsupported);
  }

  get #batchPlanned(): number {
    return Math.min(this.plan.batch ?? BATCH_MAX, BATCH_MAX);
  }

  get name(): string {
    return this.#options.name;
  }

  async call<T>(call: RpcCall<T>): Promise<T> {
    const [result] = await this.batch([call]);
    return result;
  }

  async batch<const Calls extends readonly RpcCall<unknown>[]>(calls: Calls): Promise<Results<Calls>> {
    const results: unknown[] = calls.map(() => null);
    let open = calls
      .map((call, index): Asked => ({ call, index, isReworded: false }))
      .map((asked) => (this.#refusesWordsOf(asked.call) ? reworded(asked) : asked))
      .filter(({ call }) => call.isOptional !== true || !this.#doesLack(call.method));
    while (open.length > 0) {
      const outcomes = await this.#part(open.map(({ call }) => call));
      const left: Asked[] = [];
      for (const [place, asked] of open.entries()) {
        const outcome = outcomes[place];
        if (outcome === undefined) left.push(asked);
        else if (outcome === 'refused words') left.push(reworded(asked));
        else {
          results[asked.index] = outcome.value;
          const isAnswered = !(outcome.value instanceof RpcRefusedError);
          if (asked.isReworded && isAnswered) this.#learn(this.#refusedWords, asked.call.method);
        }
      }
      open = left;
    }
    return results as Results<Calls>;
  }

  /** The outcomes of the first of these calls, as many as a request may have. */
  async #part(all: readonly RpcCall<unknown>[]): Promise<readonly Outcome[]> {
    if (performance.now() > this.#learnedUntil) this.#batchMax = this.#batchPlanned;
    const pace = all.some(({ method }) => SENDS.has(method)) ? this.sends : this.reads;
    const most = Math.min(this.#batchMax, pace.most(all.map(({ method }) => this.#creditsOf(method))));
    if (most > 1 || all.length === 1) return this.#exchange(pace, all.slice(0, most));
    return (await Promise.all(all.slice(0, SINGLES_MAX).map((call) => this.#exchange(pace, [call])))).flat();
  }

  /**
   * One HTTP request. It is repeated as a whole: results that belong together come in one response, as behind one URL
   * another node may send the next. A broadcast is not: it may have arrived.
   */
  async #exchange(pace: Pace, calls: readonly RpcCall<unknown>[]): Promise<readonly Outcome[]> {
    let repeats = pace === this.sends || currentWork()?.canMoveOn === true ? 0 : REPEATS_MAX;
    for (;;) {
      try {
        return await this.#exchangeOnce(pace, calls);
      } catch (error) {
        if (!(error instanceof RpcUpstreamError) || !isUnusable(error) || repeats === 0) throw error;
        repeats -= 1;
        await pause(REPEAT_AFTER_MS * (0.5 + Math.random()));
      }
    }
  }

  /** When its turn has come. */
  async #exchangeOnce(pace: Pace, calls: readonly RpcCall<unknown>[]): Promise<readonly Outcome[]> {
    const methods = calls.map(({ method }) => method);
    const lacking = methods.find((method) => this.#doesLack(method));
    if (lacking !== undefined)
      throw new RpcUpstreamError(`${this.name} does not have ${lacking}`, 'no', undefined, 'unsupported');
    await this.#turn(pace, calls);
    const to = { network: this.#options.network, upstream: this.name };
    const unanswered = (fault: RpcFault) => ({ result: calls.map(() => undefined), fault });
    const areSoon = calls.every(({ isSoon }) => isSoon === true);
    const cost = calls.reduce((sum, { method }) => sum + this.#creditsOf(method), 0);
    return measured<readonly Outcome[]>(to, methods, cost, areSoon, async () => {
      try {
        return await this.#request(pace, calls);
      } catch (error) {
        if (error instanceof RpcBatchError && this.#isTooMany(error)) {
          this.#batchMax = Math.floor(calls.length / 2);
          this.#learnedUntil = performance.now() + LEARNED_MS;
          return unanswered('http');
        }
        // The gateway before the node refuses the method, in no JSON-RPC.
        if (error instanceof RpcUpstreamError && error.fault === 'unsupported')
          methods.forEach((method) => this.#learnLacking(method));
        if (!(error instanceof RpcUpstreamError) || error.delivered === 'maybe' || !this.#isSpent(error)) throw error;
        this.#refused(pace, error.pauseMs);
        return unanswered('throttled');
      }
    });
  }

  async #turn(pace: Pace, calls: readonly RpcCall<unknown>[]): Promise<void> {
    const startedAt = performance.now();
    const work: Work = currentWork() ?? { deadline: startedAt + WAIT_MS, canMoveOn: false, isUrgent: false };
    // Broadcasts are all urgent: among themselves they take turns.
    const isUrgent = work.isUrgent && pace !== this.sends;
    const isInTime = await pace.take(
      calls.map(({ method }) => this.#creditsOf(method)),
      { ...work, isUrgent },
    );
    if (performance.now() - startedAt > 1)
      recordDuration('payments.rpc.wait.duration', startedAt, {
        network: this.#options.network,
        upstream: this.name,
        bucket: this.#bucketOf(pace),
      });
    if (!isInTime) throw new RpcUpstreamError(`${this.name} takes no more calls in time`, 'no', undefined, 'throttled');
  }

  callsIn(ms: number, method: string): number {
    return this.reads.callsIn(ms, this.#creditsOf(method));
  }

  #doesLack(method: string): boolean {
    return this.#unsupported.has(method) || (this.#lacks.get(method)?.isKnown(performance.now()) ?? false);
  }

  #learnLacking(method: string): void {
    this.#learn(this.#lacks, method);
  }

  #refusesWordsOf({ method }: RpcCall<unknown>): boolean {
    return this.#refusedWords.get(method)?.isKnown(performance.now()) ?? false;
  }

  #learn(lacks: Map<string, Lack>, method: string): void {
    const lack = lacks.get(method) ?? new Lack();
    lack.learned(performance.now());
    lacks.set(method, lack);
  }

  /** 0 where the upstream's prices are not known. */
  #creditsOf(method: string): number {
    const { prices } = this.#options;
    return prices === null ? 0 : priceOf(prices, method);
  }

  #bucketOf(pace: Pace): 'reads' | 'sends' {
    return pace === this.sends ? 'sends' : 'reads';
  }

  async #request(pace: Pace, calls: readonly RpcCall<unknown>[]): Promise<Exchange<readonly Outcome[]>> {
    const { transport } = this.#options;
    const method = calls[0]?.method ?? '';
    const isVarying = calls.some((call) => call.isVarying);
    const requests = calls.every(({ isSoon }) => isSoon === true)
      ? calls.map((call) => ({ ...call, withinMs: this.#patience.msOf(method, isVarying) }))
      : calls;
    const [only] = requests;
    const askedAt = performance.now();
    const responses =
      only !== undefined && requests.length === 1 ? [await transport.request(only)] : await transport.batch(requests);
    this.#patience.took(method, performance.now() - askedAt, isVarying);
    const later = responses.filter((response) => this.#classOf(response) === 'later');
    pace.passed(calls.length - later.length);
    if (later.length > 0) this.#refused(pace, Math.max(...later.map(({ pauseMs }) => pauseMs ?? 0)) || null);
    // Thrown at once: a broadcast that may have arrived must not become one that certainly has not.
    if (pace === this.sends && later.some(({ status = 200 }) => deliveredWith(status) === 'maybe'))
      throw new RpcUpstreamError(`${this.name} refused a broadcast for its number`, 'maybe', undefined, 'throttled');
    const result = calls.map((call, index): Outcome => {
      const response = responses[index] ?? { id: index };
      if (response.error?.code === INVALID_PARAMS && call.otherwise !== undefined) return 'refused words';
      return later.includes(response) ? undefined : { value: this.#read(call, response, askedAt) };
    });
    return { result, fault: later.length > 0 ? 'throttled' : null };
  }

  #refused(pace: Pace, pauseMs: number | null): void {
    const begun = pace.refused(pauseMs);
    if (begun !== null) this.#options.onPause(this.#bucketOf(pace), begun, pace.rate);
  }

  #isTooMany({ status, error }: RpcBatchError): boolean {
    return error === null || ['limit', 'unsupported'].includes(classOf(this.#options.dialect, { ...error, status }));
  }

  #isSpent(error: RpcUpstreamError): boolean {
    if (!(error instanceof RpcBatchError) || error.error === null) return error.fault === 'throttled';
    return classOf(this.#options.dialect, { ...error.error, status: error.status }) === 'later';
  }

  #classOf({ error, status = 200 }: JsonRpcResponse): ErrorClass | null {
    return error === undefined || error === null ? null : classOf(this.#options.dialect, { ...error, status });
  }

  #read<T>(call: RpcCall<T>, response: JsonRpcResponse, askedAt: number): T {
    const { error, result, status = 200 } = response;
    if (error !== undefined && error !== null) {
      const { code, message, data } = error;
      const is = this.#classOf(response);
      if (is === 'claim' && call.refusable !== undefined && currentWork()?.doubtsClaims === true)
        throw new RpcClaimError(`${this.name} refused ${call.method}: ${message} (${code})`);
      const isAnswer = is === 'answer' || is === 'claim';
      if (call.refusable !== undefined && (isAnswer || (is === 'limit' && call.refusable === 'limits')))
        return new RpcRefusedError(message, code, data) as T;
      const isLacking = is === 'unsupported';
      if (isLacking) this.#learnLacking(call.method);
      if (isLacking && call.isOptional === true) return null as T;
      throw new RpcUpstreamError(
        `${this.name} refused ${call.method}: ${message} (${code})`,
        deliveredWith(status),
        undefined,
        isLacking ? 'unsupported' : 'rpc',
      );
    }
    this.#lacks.delete(call.method);
    const value = this.#parsed(call, result);
    const head = call.head?.(result) ?? null;
    if (head !== null) this.#options.onHead(head, askedAt);
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
