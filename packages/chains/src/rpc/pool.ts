import { type Logger, lookUp } from '@pf/runtime';
import { Agent } from 'undici';
import { RpcUnavailableError } from '../port.ts';
import { RpcUnreachedError } from './errors.ts';
import { MeasuredNode } from './measured.ts';
import type { Answers, RpcCall, RpcNode } from './node.ts';
import { HttpRpcNode } from './node.ts';
import { Upstream } from './upstream.ts';

export interface RpcPoolOptions {
  /** The network's name, for messages. */
  readonly network: string;
  /** In order of preference. */
  readonly urls: readonly string[];
  /** What is wrong with an upstream's network, or null: `it serves chain 1, not 8453`. */
  readonly identify: (node: RpcNode) => Promise<string | null>;
  readonly log: Logger;
  /** One request to one upstream. */
  readonly timeoutMs?: number;
  /** All tries of one piece of work. A try that has begun is not cut off. */
  readonly deadlineMs?: number;
}

const TIMEOUT_MS = 2_500;
const DEADLINE_MS = 6_000;
/** Blocks full of our tokens' logs are some MB; more is nothing we asked for. */
const RESPONSE_MAX_BYTES = 64 * 2 ** 20;

const isUp = (upstream: Upstream, now = Date.now()): boolean => upstream.openUntil <= now && !upstream.isExcluded(now);

/** What one upstream did with a piece of work. */
export type Attempt<T> = { readonly kind: 'answered'; readonly value: T } | { readonly kind: 'unreached'; readonly error: RpcUnreachedError };

/**
 * The upstreams of one network. Work goes to the first that does well and, when it does not answer, to the next; one
 * that failed is asked last until its circuit closes again. Upstreams of another network are never asked.
 */
export class RpcPool {
  readonly #options: RpcPoolOptions;
  readonly #agent: Agent;
  readonly #upstreams: readonly Upstream[];
  readonly #unlook: () => void;

  constructor(options: RpcPoolOptions) {
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#options = options;
    this.#agent = new Agent({ connections: 64, connect: { timeout: timeoutMs }, maxResponseSize: RESPONSE_MAX_BYTES });
    this.#upstreams = options.urls.map((url) => new Upstream(new MeasuredNode(new HttpRpcNode(url, this.#agent, timeoutMs), options.network)));
    this.#unlook = lookUp('payments.rpc.upstream.up', () => this.#upstreams.map((upstream) => [isUp(upstream) ? 1 : 0, { network: options.network, upstream: upstream.node.name }]));
  }

  /** The network's name. */
  get network(): string {
    return this.#options.network;
  }

  /**
   * Runs the work against one upstream, all of it; where it throws RpcUnreachedError, anew against the next, and where
   * there is no next, once more: a kept connection may have been closed at the other end.
   * @throws RpcUnavailableError when none is left, and what else the work throws
   */
  async run<T>(work: (node: RpcNode) => Promise<T>): Promise<T> {
    const deadline = Date.now() + (this.#options.deadlineMs ?? DEADLINE_MS);
    let last: RpcUnreachedError | undefined;
    const upstreams = this.#inOrder();
    for (const upstream of upstreams.length === 1 ? [...upstreams, ...upstreams] : upstreams) {
      if (upstream.isExcluded(Date.now())) continue;
      if (last !== undefined && Date.now() > deadline) break;
      const attempt = await this.#attempt(upstream, work);
      if (attempt.kind === 'answered') return attempt.value;
      last = attempt.error;
    }
    throw this.unavailable(last);
  }

  call<T>(call: RpcCall<T>): Promise<T> {
    return this.run((node) => node.call(call));
  }

  batch<const Calls extends readonly RpcCall<unknown>[]>(calls: Calls): Promise<Answers<Calls>> {
    return this.run((node) => node.batch(calls));
  }

  /** The upstreams one after the other, each with what it made of the work, for as long as the caller goes on. */
  async *attempts<T>(work: (node: RpcNode) => Promise<T>): AsyncGenerator<Attempt<T>> {
    for (const upstream of this.#inOrder()) yield await this.#attempt(upstream, work);
  }

  /** What to throw when no upstream answered. */
  unavailable(last: RpcUnreachedError | undefined): RpcUnavailableError {
    return new RpcUnavailableError(`no upstream of ${this.#options.network} answers${last === undefined ? '' : `: ${last.message}`}`, { cause: last });
  }

  /** True when an upstream answers this question within the time. */
  async ready(call: RpcCall<unknown>, timeoutMs: number): Promise<boolean> {
    const answered = this.call(call).then(
      () => true,
      // Not ready is all that the caller asks about; the pool has logged why.
      () => false,
    );
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), timeoutMs);
    try {
      return await Promise.race([answered, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): Promise<void> {
    this.#unlook();
    return this.#agent.close();
  }

  #inOrder(): readonly Upstream[] {
    const now = Date.now();
    const rank = ({ openUntil }: Upstream): number => (openUntil <= now ? 0 : openUntil);
    return this.#upstreams.filter((upstream) => !upstream.isExcluded(now)).sort((a, b) => rank(a) - rank(b));
  }

  async #attempt<T>(upstream: Upstream, work: (node: RpcNode) => Promise<T>): Promise<Attempt<T>> {
    try {
      await this.#identify(upstream);
      const value = await work(upstream.node);
      upstream.succeeded();
      return { kind: 'answered', value };
    } catch (error) {
      if (!(error instanceof RpcUnreachedError)) throw error;
      upstream.failed(Date.now());
      this.#options.log.warn({ network: this.#options.network, upstream: upstream.node.name, reason: error.message }, 'an RPC upstream gave no answer');
      return { kind: 'unreached', error };
    }
  }

  async #identify(upstream: Upstream): Promise<void> {
    if (upstream.isIdentified(Date.now())) return;
    const problem = await this.#options.identify(upstream.node);
    if (problem === null) return upstream.identified(Date.now());
    upstream.excluded(Date.now());
    this.#options.log.warn({ network: this.#options.network, upstream: upstream.node.name, problem }, 'an RPC upstream is of another network and is not used');
    throw new RpcUnreachedError(`${upstream.node.name}: ${problem}`, 'no');
  }
}
