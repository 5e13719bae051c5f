import { type Logger, registerGauge } from '@pf/runtime';
import { Agent } from 'undici';
import { RpcUnavailableError } from '../port.ts';
import { RpcUnreachedError } from './errors.ts';
import { Heads } from './heads.ts';
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
  /** A cheap question by which an upstream tells its head: of one that was not heard of lately, and of one that did not answer. */
  readonly probe: RpcCall<unknown>;
  readonly log: Logger;
  /** One request to one upstream. */
  readonly timeoutMs?: number;
  /** All tries of one piece of work. A try that has begun is not cut off. */
  readonly deadlineMs?: number;
}

const TIMEOUT_MS = 2_500;
const DEADLINE_MS = 6_000;
/** Within this healthy upstreams tell their heads. */
const CATCH_UP_MS = 300;
/** Blocks full of our tokens' logs are some MB; more is nothing we asked for. */
const RESPONSE_MAX_BYTES = 64 * 2 ** 20;

const isUp = (upstream: Upstream): boolean => upstream.rank === 0 && !upstream.isExcluded(performance.now());

/** What it comes to, or undefined when that takes longer. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What one upstream did with a piece of work. */
export type Attempt<T> =
  { readonly kind: 'answered'; readonly value: T } | { readonly kind: 'unreached'; readonly error: RpcUnreachedError };

/** What the upstreams say of something that all have to be heard about. */
export interface Testimonies<T> {
  readonly answers: readonly T[];
  /** True where enough have answered to conclude something: two, where two are configured and have answered lately. */
  readonly suffice: boolean;
}

/**
 * The upstreams of one network. Work goes to the first that does well; one whose head lags behind the others' comes
 * after those, and one that did not answer last, until a probe beside the work has found that it does again. So nobody
 * waits for it. Upstreams of another network are never asked. Where there is only one, there is nothing to choose.
 */
export class RpcPool {
  readonly #options: RpcPoolOptions;
  readonly #agent: Agent;
  readonly #upstreams: readonly Upstream[];
  readonly #heads = new Heads();
  readonly #probes = new Map<Upstream, Promise<void>>();
  readonly #unlook: () => void;

  constructor(options: RpcPoolOptions) {
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#options = options;
    this.#agent = new Agent({ connections: 64, connect: { timeout: timeoutMs }, maxResponseSize: RESPONSE_MAX_BYTES });
    this.#upstreams = options.urls.map((url) => {
      const node = new HttpRpcNode(url, this.#agent, timeoutMs, (head, askedAt) =>
        this.#heard(upstream, head, askedAt),
      );
      const upstream = new Upstream(new MeasuredNode(node, options.network));
      return upstream;
    });
    this.#unlook = registerGauge('payments.rpc.upstream.up', () =>
      this.#upstreams.map((upstream) => [
        isUp(upstream) ? 1 : 0,
        { network: options.network, upstream: upstream.node.name },
      ]),
    );
  }

  /** How many upstreams are configured. */
  get size(): number {
    return this.#upstreams.length;
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
    const deadline = performance.now() + (this.#options.deadlineMs ?? DEADLINE_MS);
    let last: RpcUnreachedError | undefined;
    await this.#catchUp();
    const upstreams = this.#inOrder();
    for (const upstream of upstreams.length === 1 ? [...upstreams, ...upstreams] : upstreams) {
      if (upstream.isExcluded(performance.now())) continue;
      if (last !== undefined && performance.now() > deadline) break;
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

  /** The work on another upstream than this one, one that does well; null where there is none, or it does not answer. */
  async elsewhere<T>(than: RpcNode, work: (node: RpcNode) => Promise<T>): Promise<T | null> {
    const other = this.#inOrder().find(({ node, isOpen, isLagging }) => node !== than && !isOpen && !isLagging);
    const attempt = other === undefined ? null : await this.#attempt(other, work);
    return attempt?.kind === 'answered' ? attempt.value : null;
  }

  /** The same work on every upstream, side by side; one that gave no answer the last time is left out. */
  async testimonies<T>(work: (node: RpcNode) => Promise<T>): Promise<Testimonies<T>> {
    const upstreams = this.#inOrder();
    // What is concluded may cost a payer money: an upstream may have become another chain's since it was looked at.
    for (const upstream of upstreams) upstream.unidentified();
    const attempts = await Promise.all(
      upstreams.filter(({ isOpen }) => !isOpen).map((upstream) => this.#attempt(upstream, work)),
    );
    const answers = attempts.flatMap((attempt) => (attempt.kind === 'answered' ? [attempt.value] : []));
    const now = performance.now();
    const expected = upstreams.filter((upstream) => !upstream.isExcluded(now) && !upstream.isGone(now)).length;
    return { answers, suffice: answers.length > 0 && answers.length >= Math.min(2, expected) };
  }

  /** What to throw when no upstream answered. */
  unavailable(last: RpcUnreachedError | undefined): RpcUnavailableError {
    return new RpcUnavailableError(
      `no upstream of ${this.#options.network} answers${last === undefined ? '' : `: ${last.message}`}`,
      { cause: last },
    );
  }

  /** True when an upstream answers this question within the time. */
  async ready(call: RpcCall<unknown>, timeoutMs: number): Promise<boolean> {
    const answered = this.call(call).then(
      () => true,
      // Not ready is all that the caller asks about; the pool has logged why.
      () => false,
    );
    return (await within(answered, timeoutMs)) ?? false;
  }

  async close(): Promise<void> {
    this.#unlook();
    await Promise.all(this.#probes.values());
    await this.#agent.close();
  }

  #inOrder(): readonly Upstream[] {
    const now = performance.now();
    if (this.#upstreams.length > 1) this.#probe(now);
    return this.#upstreams.filter((upstream) => !upstream.isExcluded(now)).sort((a, b) => a.rank - b.rank);
  }

  /** After a pause it is not known who lags by now: the first work waits a moment for the heads. */
  async #catchUp(): Promise<void> {
    const now = performance.now();
    if (this.#upstreams.length === 1 || !this.#upstreams.some((upstream) => upstream.isUnheard(now))) return;
    this.#probe(now);
    await within(Promise.all(this.#probes.values()), CATCH_UP_MS);
  }

  /** Asks those that are due for their heads, beside the work that goes on. */
  #probe(now: number): void {
    for (const upstream of this.#upstreams) {
      if (this.#probes.has(upstream) || !upstream.isProbeDue(now)) continue;
      const probe = this.#attempt(upstream, (node) => node.call(this.#options.probe))
        .then(() => undefined)
        .catch((error: unknown) =>
          this.#options.log.error(
            { err: error, network: this.#options.network, upstream: upstream.node.name },
            'an RPC upstream could not be probed',
          ),
        )
        .finally(() => this.#probes.delete(upstream));
      this.#probes.set(upstream, probe);
    }
  }

  #heard(upstream: Upstream, head: bigint, askedAt: number): void {
    const now = performance.now();
    const lagMs = this.#heads.note(head, askedAt, now);
    if (!upstream.heard(lagMs, now)) return;
    const said = {
      network: this.#options.network,
      upstream: upstream.node.name,
      head: head.toString(),
      lagMs: Math.round(lagMs),
    };
    this.#options.log.warn(
      said,
      upstream.isLagging
        ? 'the head of an RPC upstream lags: it is asked last'
        : 'the head of an RPC upstream lags no more',
    );
  }

  async #attempt<T>(upstream: Upstream, work: (node: RpcNode) => Promise<T>): Promise<Attempt<T>> {
    try {
      await this.#identify(upstream);
      const value = await work(upstream.node);
      upstream.succeeded();
      return { kind: 'answered', value };
    } catch (error) {
      if (!(error instanceof RpcUnreachedError)) throw error;
      upstream.failed(performance.now());
      this.#options.log.warn(
        { network: this.#options.network, upstream: upstream.node.name, reason: error.message },
        'an RPC upstream gave no answer',
      );
      return { kind: 'unreached', error };
    }
  }

  async #identify(upstream: Upstream): Promise<void> {
    if (upstream.isIdentified(performance.now())) return;
    const problem = await this.#options.identify(upstream.node);
    if (problem === null) return upstream.identified(performance.now());
    upstream.excluded(performance.now());
    this.#options.log.warn(
      { network: this.#options.network, upstream: upstream.node.name, problem },
      'an RPC upstream is of another network and is not used',
    );
    throw new RpcUnreachedError(`${upstream.node.name}: ${problem}`, 'no');
  }
}
