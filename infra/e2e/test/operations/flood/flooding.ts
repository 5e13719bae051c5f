import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { median, p99 } from '@pf/bench/percentiles';
import { type Instance, until } from '@pf/testing';
import { z } from 'zod';

/**
 * What one address can hold for long: a line of 100 Mbit/s carries 190 of the largest bodies a second, and as much of
 * responses. That is twenty times its quota. A client that sends 200 prepared requests a second takes little of the
 * processors that it shares with what it floods.
 */
const A_SECOND = 200;
const RESPONSES_A_SECOND = 12_500_000;
const TICK_MS = 20;
const A_TICK = (A_SECOND * TICK_MS) / 1_000;
const CONNECTIONS = 4;
const BODY_BYTES = 64 * 1_024;
/** Of a request without a body. The most is 16 KiB. */
const HEAD_BYTES = 15 * 1_024;

/** Each request of a flood is the next of these: more than a strict process allows. */
const PREPARED = 160;
const WINDOW_MS = 300;
const ATTEMPTS = 10;
/**
 * What one address may do to the requests of another account: their 99th percentile becomes at most so many times as
 * much. For a run by hand on a quiet machine: `PF_FLOOD_TIMES=1.5 npm run test:drills -- …/flood`.
 */
const TIMES = z.coerce.number().positive().parse(process.env['PF_FLOOD_TIMES']);
/** Windows without a flood that those with one are compared with: of this route and of those before it. */
const QUIET_WINDOWS = 6;
const WITHIN_MS = 30_000;

const FLOODER = '203.0.113.7';

/** A request that a flood makes. */
export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object becomes JSON with space behind it, up to the most that a body may have. */
  readonly body?: object | string | undefined;
}

/** The worst legal requests to one route: the `n`th of them. */
export type Flood = (n: number) => Asked;

/** The bytes of a request, as large as it may be: space behind its JSON, or a header that nothing reads. */
function bytesOf({ method, path, headers = {}, body }: Asked): Buffer {
  const text = typeof body === 'object' ? JSON.stringify(body).padEnd(BODY_BYTES) : (body ?? '');
  const all = {
    host: 'flooded.example',
    'x-forwarded-for': FLOODER,
    ...(typeof body === 'object' && { 'content-type': 'application/json' }),
    ...(method !== 'GET' && { 'content-length': String(text.length) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join('')}`;
  const padding = body === undefined ? `x-padding: ${'x'.repeat(Math.max(0, HEAD_BYTES - head.length))}\r\n` : '';
  return Buffer.from(`${head}${padding}\r\n${text}`);
}

/** One address that sends prepared requests over a few connections, and reads no more than its line carries. */
class Flooder {
  readonly #port: number;
  readonly #requests: readonly Buffer[];
  #sockets: Socket[] = [];
  #sent = 0;
  #budget = 0;
  /** What the connections have received last. */
  readonly #seen = new Map<Socket, string>();
  /** How often a connection has received a 429 that says when to try again. */
  refused = 0;

  constructor(url: string, flood: Flood) {
    this.#port = Number(new URL(url).port);
    this.#requests = Array.from({ length: PREPARED }, (_, n) => bytesOf(flood(n)));
  }

  async open(connections = CONNECTIONS): Promise<void> {
    for (let n = 0; n < connections; n += 1) this.#sockets.push(await this.#connect());
  }

  /** Sends one request on the next connection; opens it again where the service has closed it. */
  async send(): Promise<void> {
    const place = this.#sent % this.#sockets.length;
    let socket = this.#sockets[place];
    if (!socket || socket.destroyed || !socket.writable) this.#sockets[place] = socket = await this.#connect();
    socket.write(this.#requests[this.#sent % PREPARED] ?? Buffer.alloc(0));
    this.#sent += 1;
  }

  /** Floods at the pace of one address until it is stopped. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const next = performance.now() + TICK_MS;
      this.#budget = (RESPONSES_A_SECOND * TICK_MS) / 1_000;
      for (const socket of this.#sockets) socket.resume();
      for (let n = 0; n < A_TICK; n += 1) await this.send();
      await delay(Math.max(1, next - performance.now()));
    }
  }

  unbounded(): void {
    this.#budget = Number.POSITIVE_INFINITY;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets = [];
  }

  async #connect(): Promise<Socket> {
    const socket = connect(this.#port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      this.#budget -= chunk.length;
      if (this.#budget < 0) socket.pause();
      const text = (this.#seen.get(socket) ?? '') + chunk.toString('latin1');
      this.#seen.set(socket, text.slice(-2_000));
      if (/HTTP\/1\.1 429 [^]*(?:"retry_after":|retry-after: )\d/i.test(text.slice(-4_000))) this.refused += 1;
    });
    await once(socket, 'connect');
    return socket;
  }
}

/** The requests of another account, one after the other, each of which has to succeed. */
export type Other = () => Promise<Response>;

/** Makes the requests of another account for a while. @returns how long each took, in milliseconds */
async function measure(others: readonly Other[], ms: number, failures: string[]): Promise<readonly number[]> {
  const took: number[] = [];
  const end = performance.now() + ms;
  await Promise.all(
    others.map(async (other) => {
      while (performance.now() < end) {
        const began = performance.now();
        const response = await other();
        const text = await response.text();
        took.push(performance.now() - began);
        if (!response.ok) failures.push(`${response.status} ${response.url} ${text.slice(0, 300)}`);
      }
    }),
  );
  return took;
}

/** What is flooded, and who else is there. */
export interface Scene {
  /** With the quotas of production. */
  readonly service: Instance;
  /** With small quotas: the flood comes past them at once. */
  readonly strict: Instance;
  /** Processes that must live on, beside these two. */
  readonly beside: readonly Instance[];
  readonly others: readonly Other[];
}

/** Floods routes one after the other, and tells what that did. */
export class Flooding {
  readonly #scene: Scene;
  /** Of each of the last windows without a flood: the 99th percentile. */
  readonly #quiet: number[] = [];
  readonly #ended: string[] = [];
  readonly failures: string[] = [];
  /** By route: how many times as long the others' requests take. */
  readonly quotients = new Map<string, number>();

  constructor(scene: Scene) {
    this.#scene = scene;
    for (const { service, exited } of [scene.service, scene.strict, ...scene.beside])
      void exited.then(({ code, signal }) => this.#ended.push(`${service}: ${code ?? signal}`));
  }

  /** Has everything compiled, cached and connected that the first requests need. */
  async warmUp(): Promise<void> {
    await measure(this.#scene.others, 3_000, this.failures);
    for (let n = 0; n < QUIET_WINDOWS; n += 1) await this.#beQuiet();
  }

  /** Windows without and with the flood in turn, until those with it are as quick, or often enough. */
  async hold(route: string, flood: Flood): Promise<void> {
    const flooder = new Flooder(this.#scene.service.url, flood);
    await flooder.open();
    let best = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && best > TIMES; attempt += 1) {
      await this.#beQuiet();
      const stopping = new AbortController();
      const running = flooder.run(stopping.signal);
      const took = await measure(this.#scene.others, WINDOW_MS, this.failures);
      stopping.abort();
      await running;
      // The median: what other work on the machine makes slow does not count as the usual.
      best = Math.min(best, p99(took) / median(this.#quiet));
    }
    flooder.close();
    this.quotients.set(route, best);
  }

  /** Floods the strict process at once until it refuses. @returns whether it did, and said when to try again */
  async isRefused(flood: Flood): Promise<boolean> {
    const flooder = new Flooder(this.#scene.strict.url, flood);
    flooder.unbounded();
    await flooder.open(2 * CONNECTIONS);
    for (let n = 0; n < PREPARED; n += 1) await flooder.send();
    const refused = await until('the flood to be refused', () => flooder.refused > 0, WITHIN_MS).catch(() => false);
    flooder.close();
    return refused;
  }

  /** Expects that nothing but the flooder was refused, and that no process has ended. */
  async expectUnhurt(): Promise<void> {
    const { service, strict, beside } = this.#scene;
    expect([this.failures, this.#ended]).toEqual([[], []]);
    for (const { service: name, health } of [service, strict, ...beside])
      await until(`${name} to be ready`, async () => (await fetch(`${health}/readyz`)).ok, WITHIN_MS);
    console.log([...this.quotients].map(([route, times]) => `${times.toFixed(2)} ${route}`).join('\n'));
    expect([...this.quotients].filter(([, times]) => times > TIMES)).toEqual([]);
  }

  async #beQuiet(): Promise<void> {
    this.#quiet.push(p99(await measure(this.#scene.others, WINDOW_MS, this.failures)));
    if (this.#quiet.length > QUIET_WINDOWS) this.#quiet.shift();
  }
}
