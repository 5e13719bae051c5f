import { setImmediate } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { type JsonRpcRequest, type JsonRpcResponse, limitOf, RpcPool, RpcUpstreamError } from '@pf/rpc';
import { createLogger } from '@pf/runtime';

/** The limit of any request, in ms. */
const TIMEOUT_MS = 2_500;
/** So many turns of the event loop in which nothing is asked are enough for what is computed meanwhile. */
const IDLE_TURNS = 40;
export const NEVER = Number.POSITIVE_INFINITY;
const QUICK_MS = 20;

/** What a node says; an Error is its refusal. */
export type Respond = (method: string, params: readonly unknown[]) => unknown;
/** How long it takes for that, in ms. */
export type Takes = (method: string, params: readonly unknown[]) => number;

/**
 * Time that passes only while a step waits for a node, and there just as long as that takes: performance.now() and the
 * observer's clock are read from it.
 */
export class VirtualTime {
  #passed = 0;
  #waiting: { readonly at: number; readonly wake: () => void }[] = [];
  /** How often something has begun to wait. */
  #begun = 0;
  readonly #began = performance.now();
  readonly #since = Date.now();
  readonly now = (): number => this.#since + this.#passed;

  constructor() {
    jest.spyOn(performance, 'now').mockImplementation(() => this.#began + this.#passed);
  }

  get passed(): number {
    return this.#passed;
  }

  wait(ms: number): Promise<void> {
    this.#begun += 1;
    return new Promise((wake) => void this.#waiting.push({ at: this.#passed + ms, wake }));
  }

  /** Lets time pass until this has come. What else goes on then stands still. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = (): void => void (isDone = true);
    work.then(done, done);
    for (;;) {
      await this.#idle();
      if (isDone) return work;
      const next = this.#waiting.toSorted((one, other) => one.at - other.at)[0];
      if (next !== undefined) this.#wake(next);
    }
  }

  /** So much time passes between two steps. */
  async pass(ms: number): Promise<void> {
    await this.until(this.wait(ms));
  }

  #wake(next: { readonly at: number; readonly wake: () => void }): void {
    this.#waiting = this.#waiting.filter((one) => one !== next);
    this.#passed = Math.max(this.#passed, next.at);
    next.wake();
  }

  async #idle(): Promise<void> {
    let begun = -1;
    while (begun !== this.#begun) {
      begun = this.#begun;
      for (let turn = 0; turn < IDLE_TURNS; turn += 1) await setImmediate();
    }
  }
}

/** Calls that were sent to an upstream: which, how many together, and how many of one method at the same time. */
export class VirtualUpstream {
  readonly name: string;
  respond: Respond;
  takes: Takes = () => QUICK_MS;
  readonly requests: { readonly method: string; readonly first: unknown[]; readonly isSoon: boolean }[] = [];
  /** How many requests are under way that have all the time that a request has, by method; and the most so far. */
  readonly #under = new Map<string, number>();
  readonly most = new Map<string, number>();
  readonly #time: VirtualTime;

  constructor(name: string, time: VirtualTime, respond: Respond) {
    this.name = name;
    this.#time = time;
    this.respond = respond;
  }

  async send(all: readonly JsonRpcRequest[]): Promise<readonly JsonRpcResponse[]> {
    const limit = limitOf(all, TIMEOUT_MS);
    const method = all[0]?.method ?? '';
    const isSoon = all.every(({ withinMs }) => withinMs !== undefined);
    this.requests.push({ method, first: all.map(({ params }) => params[0]), isSoon });
    const takes = Math.max(...all.map((one) => this.takes(one.method, one.params)));
    if (!isSoon) this.#count(method, 1);
    await this.#time.wait(Math.min(takes, limit));
    if (!isSoon) this.#count(method, -1);
    if (takes > limit)
      throw new RpcUpstreamError(`${this.name} is unreachable (TimeoutError)`, 'maybe', undefined, 'timeout');
    return all.map(({ method: asked, params }, id): JsonRpcResponse => {
      const result = this.respond(asked, params);
      return result instanceof Error ? { id, error: { code: -32_000, message: result.message } } : { id, result };
    });
  }

  /** How often this was asked for. */
  asked(method: string, first: unknown): number {
    return this.requests.filter((one) => one.method === method && one.first.includes(first)).length;
  }

  #count(method: string, change: number): void {
    const now = (this.#under.get(method) ?? 0) + change;
    this.#under.set(method, now);
    this.most.set(method, Math.max(this.most.get(method) ?? 0, now));
  }
}

/** So many that say the same. */
export const virtualUpstreams = (count: number, time: VirtualTime, respond: Respond): VirtualUpstream[] =>
  Array.from({ length: count }, (_, at) => new VirtualUpstream(`node${at}.example`, time, respond));

/** These upstreams take so long for such methods of such transactions, and are quick for all others. */
export function delay(
  upstreams: readonly VirtualUpstream[],
  methods: readonly string[],
  hashes: readonly string[],
  ms: number,
): void {
  for (const one of upstreams)
    one.takes = (method, [hash]) => (methods.includes(method) && hashes.includes(String(hash)) ? ms : QUICK_MS);
}

/** All are quick again. */
export function hurry(upstreams: readonly VirtualUpstream[]): void {
  for (const one of upstreams) one.takes = () => QUICK_MS;
}

/** A pool over these. */
export const virtualPool = (dialect: 'evm' | 'solana', upstreams: readonly VirtualUpstream[]): RpcPool =>
  new RpcPool({
    network: 'virtual',
    upstreams: upstreams.map(({ name }) => `http://${name}`),
    dialect,
    identify: () => Promise.resolve(null),
    probe: {
      method: dialect === 'solana' ? 'getEpochInfo' : 'eth_blockNumber',
      params: [],
      parse: () => 0n,
    },
    log: createLogger('test', 'silent'),
    transports: {
      open: (url) => {
        const upstream = upstreams.find(({ name }) => name === new URL(url).host) as VirtualUpstream;
        return {
          name: upstream.name,
          request: async (one) => (await upstream.send([one]))[0] as JsonRpcResponse,
          batch: (all) => upstream.send(all),
        };
      },
      close: () => Promise.resolve(),
    },
  });
