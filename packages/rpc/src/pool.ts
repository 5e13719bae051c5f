import { type Logger, registerGauge } from '@pf/runtime';
import { Agent } from 'undici';
import { LIST_MAX_BYTES } from './body.ts';
import type { ErrorDialect } from './error-classes.ts';
import { RpcBehindError, RpcClaimError, RpcUnavailableError, RpcUpstreamError } from './errors.ts';
import { Heads } from './heads.ts';
import { type Results, type RpcCall, type RpcNode, TransportNode } from './node.ts';
import { JsonRpcTransport, type RpcTransport } from './transport.ts';
import { upstreamAt, type UpstreamSettings } from './upstream-settings.ts';
import { Upstream } from './upstream.ts';
import { currentWork, runWork, type Work } from './work.ts';

export interface RpcPoolOptions {
  /** The network's name, for messages. */
  readonly network: string;
  /** In order of preference: each by its URL, or with what is known of its plan. */
  readonly upstreams: readonly (string | UpstreamSettings)[];
  /** Whose error codes the upstreams use. */
  readonly dialect: ErrorDialect;
  /** What is wrong with what an upstream serves, or null: `it serves chain 1, not 8453`. */
  readonly identify: (node: RpcNode) => Promise<string | null>;
  /** A cheap call that reports the upstream's head. Sent to upstreams whose head is old, and to those that failed. */
  readonly probe: RpcCall<unknown>;
  readonly log: Logger;
  /** Limit of one request to one upstream. */
  readonly timeoutMs?: number;
  /** Limit of all attempts at one piece of work, with their waits; an attempt that has begun is not cut off. */
  readonly deadlineMs?: number;
  /** Default: HTTP. */
  readonly transports?: Transports;
}

/** Opens the transports to a pool's upstreams. */
export interface Transports {
  /**
   * @param timeoutMs the limit of one request
   * @param headers sent with every request, and never logged
   */
  open(url: string, timeoutMs: number, headers: Readonly<Record<string, string>>): RpcTransport;
  close(): Promise<void>;
}

const TIMEOUT_MS = 2_500;
const DEADLINE_MS = 6_000;
/** Healthy upstreams report their heads within this. */
const CATCH_UP_MS = 300;

const overHttp = (timeoutMs: number): Transports => {
  const agent = new Agent({ connections: 64, connect: { timeout: timeoutMs }, maxResponseSize: LIST_MAX_BYTES });
  return {
    open: (url, _timeoutMs, headers) => new JsonRpcTransport(url, agent, timeoutMs, headers),
    close: () => agent.close(),
  };
};

/** The result, or undefined when it takes longer. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The result of a piece of work on one upstream. */
export type Attempt<T> =
  { readonly kind: 'completed'; readonly value: T } | { readonly kind: 'failed'; readonly error: RpcUpstreamError };

/** The responses of all upstreams, for a conclusion that one alone must not decide. */
export interface Responses<T> {
  readonly responses: readonly T[];
  /**
   * True where enough have responded to conclude something: two, where two are configured and have responded lately.
   */
  readonly conclusive: boolean;
}

/**
 * The upstreams of one network. Work goes to the first healthy one, then to those whose heads lag behind the others',
 * then to those that failed. A probe in the background finds out when a failed one has recovered, so no caller waits
 * for it. Upstreams of another network are never used. With a single upstream there is nothing to choose.
 */
export class RpcPool {
  readonly #options: RpcPoolOptions;
  readonly #transports: Transports;
  readonly #upstreams: readonly Upstream[];
  readonly #heads = new Heads();
  readonly #probes = new Map<Upstream, Promise<void>>();
  readonly #unregister: () => void;

  constructor(options: RpcPoolOptions) {
    const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#options = options;
    this.#transports = options.transports ?? overHttp(timeoutMs);
    const hosts = new Map<string, number>();
    this.#upstreams = options.upstreams.map((one) => {
      const { url, headers, plan, prices } = typeof one === 'string' ? upstreamAt(one) : one;
      const transport = this.#transports.open(url, timeoutMs, headers);
      const ofHost = (hosts.get(transport.name) ?? 0) + 1;
      hosts.set(transport.name, ofHost);
      const node = new TransportNode({
        transport,
        // Several keys of one provider are told apart in logs and metrics.
        name: ofHost === 1 ? transport.name : `${transport.name} #${ofHost}`,
        plan,
        prices,
        dialect: options.dialect,
        network: options.network,
        onHead: (head, askedAt) => this.#headReported(upstream, head, askedAt),
        onPause: (bucket, ms, callsPerSecond) =>
          options.log.warn(
            {
              network: options.network,
              upstream: node.name,
              bucket,
              pauseMs: Math.round(ms),
              callsPerSecond: Math.round(callsPerSecond),
            },
            'an RPC upstream takes no more calls for now',
          ),
      });
      const upstream = new Upstream(node);
      if (plan.unsupported !== undefined && plan.unsupported.length > 0)
        options.log.warn(
          { network: options.network, upstream: node.name, unsupported: plan.unsupported },
          'the plan of an RPC upstream lacks methods: others are asked for them',
        );
      return upstream;
    });
    this.#unregister = registerGauge('payments.rpc.upstream.up', () =>
      this.#upstreams.map((upstream) => [
        upstream.isUp(performance.now()) ? 1 : 0,
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
   * Runs the whole work on one upstream; where it throws RpcUpstreamError, again from the start on the next one. What
   * may be the chain's answer or one node's trouble (the class `claim`) is an answer where a second one says it too. A
   * single upstream gets a second attempt, as the node may have closed a kept connection. Where no other is left, the
   * work waits for one whose calls are spent.
   * @param deadlineMs instead of the pool's
   * @throws RpcUnavailableError when none is left, and whatever else the work throws
   */
  async run<T>(work: (node: RpcNode) => Promise<T>, deadlineMs = this.#deadlineMs): Promise<T> {
    const deadline = performance.now() + deadlineMs;
    let last: RpcUpstreamError | undefined;
    await this.#catchUp();
    const first = this.#inOrder();
    const again: Upstream[] = [];
    let doubtsClaims = first.length > 1;
    for (const round of [first, again])
      for (const upstream of round) {
        if (upstream.isExcluded(performance.now())) continue;
        if (last !== undefined && performance.now() > deadline) break;
        const canMoveOn = round === first && first.length > 1;
        const attempt = await this.#attempt(upstream, work, { deadline, canMoveOn, isUrgent: false, doubtsClaims });
        if (attempt.kind === 'completed') return attempt.value;
        last = attempt.error;
        if (last instanceof RpcClaimError) doubtsClaims = false;
        const isSpent = last.fault === 'throttled';
        if (round === first && (first.length === 1 ? !isSpent : isSpent)) again.push(upstream);
      }
    throw this.unavailable(last);
  }

  call<T>(call: RpcCall<T>): Promise<T> {
    return this.run((node) => node.call(call));
  }

  batch<const Calls extends readonly RpcCall<unknown>[]>(calls: Calls): Promise<Results<Calls>> {
    return this.run((node) => node.batch(calls));
  }

  /**
   * Runs the work on one upstream after the other, for as long as the caller takes results.
   * @param isUrgent its calls go before those that wait for their turn
   */
  async *attempts<T>(work: (node: RpcNode) => Promise<T>, isUrgent = false): AsyncGenerator<Attempt<T>> {
    const deadline = this.#deadline();
    const upstreams = this.#inOrder();
    for (const upstream of upstreams)
      yield await this.#attempt(upstream, work, { deadline, canMoveOn: upstream !== upstreams.at(-1), isUrgent });
  }

  /**
   * Runs the work on one upstream, and on the next one only where that fails: for what is asked again and again until
   * one of them knows it, at the price of one request each time.
   * @param turn how often it was asked before: each time the next of those that are up begins
   * @throws RpcUnavailableError when none responds
   */
  async inTurn<T>(turn: number, work: (node: RpcNode) => Promise<T>): Promise<T> {
    const now = performance.now();
    const upstreams = this.#inOrder();
    const up = upstreams.filter((upstream) => upstream.isUp(now));
    const from = up.length === 0 ? 0 : turn % up.length;
    const inTurn = new Set([...up.slice(from), ...up.slice(0, from), ...upstreams]);
    const deadline = this.#deadline();
    let last: RpcUpstreamError | undefined;
    for (const upstream of inTurn) {
      const attempt = await this.#attempt(upstream, work, { deadline, canMoveOn: true, isUrgent: false });
      if (attempt.kind === 'completed') return attempt.value;
      last = attempt.error;
    }
    throw this.unavailable(last);
  }

  /**
   * Runs the work on each other upstream than this one, for as long as the caller takes results. None whose calls are
   * spent is waited for.
   */
  async *onOthers<T>(than: RpcNode, work: (node: RpcNode) => Promise<T>): AsyncGenerator<Attempt<T>> {
    const waits = { deadline: this.#deadline(), canMoveOn: true, isUrgent: false };
    for (const upstream of this.#inOrder())
      if (upstream.node !== than) yield await this.#attempt(upstream, work, waits);
  }

  /** Runs the work on another healthy upstream than this one; null where there is none, or it fails. */
  async onAnother<T>(than: RpcNode, work: (node: RpcNode) => Promise<T>): Promise<T | null> {
    const now = performance.now();
    const other = this.#inOrder().find((upstream) => upstream.node !== than && upstream.isUp(now));
    const waits = { deadline: this.#deadline(), canMoveOn: true, isUrgent: false };
    const attempt = other === undefined ? null : await this.#attempt(other, work, waits);
    return attempt?.kind === 'completed' ? attempt.value : null;
  }

  /**
   * Runs work once more that an upstream has done, on another one: the same would leave out the same again. On the same
   * one only where there is no other, or all others have been down for long or cannot do it.
   * @param node the upstream in use, which may be another than the first
   * @param first the name of the upstream that did it the first time; null: several did, or it is not known, so two do
   *   it now
   * @param lacks whether a result says that its upstream does not know: then the next one is asked, as its history may
   *   be gone for good
   * @param alone false: where others are configured, this one never does it again, however long they are down. For what
   *   one upstream alone must not decide, such as that a payment is final
   * @returns the results; null where another upstream may soon respond: try again later
   */
  async doubleCheck<T>(
    node: RpcNode,
    first: string | null,
    work: (node: RpcNode) => Promise<T>,
    lacks: (result: T) => boolean = () => false,
    { alone } = { alone: true },
  ): Promise<readonly [T, ...T[]] | null> {
    const asked = new Set(first === null ? [node.name] : [node.name, first]);
    const ownOrAnother = async (): Promise<T> => {
      const own = await work(node);
      const another = lacks(own) ? await this.#onOneThat(lacks, asked, work) : null;
      return another === null || lacks(another) ? own : another;
    };
    if (first !== null && first !== node.name) return [await ownOrAnother()];
    const other = await this.#onOneThat(lacks, asked, work);
    if (other !== null) return first === null ? [other, await ownOrAnother()] : [other];
    if (!alone && this.size > 1) return null;
    const now = performance.now();
    const isAwaited = this.#upstreams.some((upstream) => upstream.node !== node && upstream.isAwaited(now));
    return isAwaited ? null : [await work(node)];
  }

  /**
   * The result of the first healthy upstream that knows; of the first that responds where none does; null where none
   * responds.
   * @param asked the names of those that are not asked; gains those that are
   */
  async #onOneThat<T>(
    lacks: (result: T) => boolean,
    asked: Set<string>,
    work: (node: RpcNode) => Promise<T>,
  ): Promise<T | null> {
    const now = performance.now();
    const waits = { deadline: this.#deadline(), canMoveOn: true, isUrgent: false };
    const lacking: T[] = [];
    for (const upstream of this.#inOrder()) {
      if (asked.has(upstream.node.name) || !upstream.isUp(now)) continue;
      asked.add(upstream.node.name);
      const attempt = await this.#attempt(upstream, work, waits);
      if (attempt.kind === 'failed') continue;
      if (!lacks(attempt.value)) return attempt.value;
      lacking.push(attempt.value);
    }
    return lacking[0] ?? null;
  }

  /**
   * Runs the same work on every upstream in parallel, but for those whose last request failed. Where that is all, the
   * caller is at work on one of them again.
   */
  async onAll<T>(work: (node: RpcNode) => Promise<T>): Promise<Responses<T>> {
    const upstreams = this.#inOrder();
    // A wrong conclusion may cost a payer money: an upstream may serve another chain since it was identified.
    for (const upstream of upstreams) upstream.forgetIdentity();
    const waits = { deadline: this.#deadline(), canMoveOn: false, isUrgent: false };
    const well = upstreams.filter(({ isOpen }) => !isOpen);
    const attempts = await Promise.all(
      (well.length > 0 ? well : upstreams).map((upstream) => this.#attempt(upstream, work, waits)),
    );
    const responses = attempts.flatMap((attempt) => (attempt.kind === 'completed' ? [attempt.value] : []));
    const now = performance.now();
    const expected = upstreams.filter((upstream) => upstream.isAwaited(now)).length;
    return { responses, conclusive: responses.length > 0 && responses.length >= Math.min(2, expected) };
  }

  /** The error to throw when every upstream failed. */
  unavailable(last: RpcUpstreamError | undefined): RpcUnavailableError {
    return new RpcUnavailableError(
      `No RPC upstream of ${this.#options.network} responds${last === undefined ? '' : `: ${last.message}`}`,
      { cause: last },
    );
  }

  /** True when an upstream responds to this call within the time. */
  async ready(call: RpcCall<unknown>, timeoutMs: number): Promise<boolean> {
    const responded = this.call(call).then(
      () => true,
      // The pool has logged why.
      () => false,
    );
    return (await within(responded, timeoutMs)) ?? false;
  }

  async close(): Promise<void> {
    this.#unregister();
    await Promise.all(this.#probes.values());
    await this.#transports.close();
  }

  #inOrder(): readonly Upstream[] {
    const now = performance.now();
    if (this.#upstreams.length > 1) this.#probe(now);
    return this.#upstreams.filter((upstream) => !upstream.isExcluded(now)).sort((a, b) => a.rank(now) - b.rank(now));
  }

  get #deadlineMs(): number {
    return this.#options.deadlineMs ?? DEADLINE_MS;
  }

  /** Of work that is part of another, the other's. */
  #deadline(): number {
    return currentWork()?.deadline ?? performance.now() + this.#deadlineMs;
  }

  /** After a pause the pool does not know which upstreams lag: the first work waits a moment for their heads. */
  async #catchUp(): Promise<void> {
    const now = performance.now();
    if (this.#upstreams.length === 1 || !this.#upstreams.some((upstream) => upstream.isHeadStale(now))) return;
    this.#probe(now);
    await within(Promise.all(this.#probes.values()), CATCH_UP_MS);
  }

  /** Probes the upstreams that are due, in the background. */
  #probe(now: number): void {
    for (const upstream of this.#upstreams) {
      if (this.#probes.has(upstream) || !upstream.isProbeDue(now)) continue;
      const waits = { deadline: now + this.#deadlineMs, canMoveOn: true, isUrgent: false };
      const probe = this.#attempt(upstream, (node) => node.call(this.#options.probe), waits)
        .then(() => undefined)
        .catch((error: unknown) =>
          this.#options.log.error(
            { err: error, network: this.#options.network, upstream: upstream.node.name },
            'probing an RPC upstream failed',
          ),
        )
        .finally(() => this.#probes.delete(upstream));
      this.#probes.set(upstream, probe);
    }
  }

  #headReported(upstream: Upstream, head: bigint, askedAt: number): void {
    const now = performance.now();
    const lagMs = this.#heads.record(head, askedAt, now);
    if (!upstream.headReported(lagMs, now)) return;
    const fields = {
      network: this.#options.network,
      upstream: upstream.node.name,
      head: head.toString(),
      lagMs: Math.round(lagMs),
    };
    this.#options.log.warn(
      fields,
      upstream.isLagging
        ? 'the head of an RPC upstream lags: it is asked last'
        : 'the head of an RPC upstream no longer lags',
    );
  }

  async #attempt<T>(upstream: Upstream, work: (node: RpcNode) => Promise<T>, waits: Work): Promise<Attempt<T>> {
    try {
      const value = await runWork(waits, async () => {
        await this.#identify(upstream);
        return work(upstream.node);
      });
      upstream.succeeded();
      return { kind: 'completed', value };
    } catch (error) {
      if (!(error instanceof RpcUpstreamError)) throw error;
      if (error.fault === 'throttled') {
        upstream.throttled(performance.now());
        return { kind: 'failed', error };
      }
      if (error instanceof RpcBehindError || error instanceof RpcClaimError) return { kind: 'failed', error };
      // The others may have it; here the same would be refused again.
      if (error.fault === 'unsupported') upstream.lacked(performance.now());
      else upstream.failed(performance.now());
      this.#options.log.warn(
        { network: this.#options.network, upstream: upstream.node.name, reason: error.message },
        'a request to an RPC upstream failed',
      );
      return { kind: 'failed', error };
    }
  }

  async #identify(upstream: Upstream): Promise<void> {
    if (upstream.isIdentified(performance.now())) return;
    const problem = await this.#options.identify(upstream.node);
    if (problem === null) return upstream.identified(performance.now());
    upstream.excluded(performance.now());
    this.#options.log.warn(
      { network: this.#options.network, upstream: upstream.node.name, problem },
      'an RPC upstream serves another network, or other tokens, and is not used',
    );
    throw new RpcUpstreamError(`${upstream.node.name}: ${problem}`, 'no');
  }
}
