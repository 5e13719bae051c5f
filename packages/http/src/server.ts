import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { boundTo, count, pause } from '@pf/runtime';
import { HEAD_BYTES_MAX, respondToClientError } from './client-errors.ts';

/**
 * The idle time in the `Keep-Alive` header, in seconds: shorter than DRAIN_MS, so that a client that honors it never
 * sends on a connection that is being closed. Proxies ignore the header; TIMEOUTS holds for them.
 */
const KEEP_ALIVE_SECONDS = 2;
/** During shutdown, how long kept connections may still send a request, whose response closes them. */
const DRAIN_MS = 3_000;

/**
 * Milliseconds for a client to send its headers and the whole request, and for which an idle connection is kept. Behind
 * a proxy, `keepAliveTimeout` must exceed the proxy's idle time: services have KEEP_ALIVE_SECONDS.
 */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
} as const;
type Timeouts = Readonly<Record<keyof typeof TIMEOUTS, number>>;

/**
 * What clients may leave unread: for how many milliseconds without taking a byte, and how many bytes in all of them.
 * Streams write no more once their connection is full, so that this holds for them, too.
 */
export const UNREAD = { ms: 20_000, bytes: 64 * 1024 * 1024 } as const;
type Unread = Readonly<Record<keyof typeof UNREAD, number>>;
/** Interval at which all that is unread is added up. */
const UNREAD_CHECK_MS = 250;

/** An API's HTTP server: bounded waits for clients, and a shutdown that loses no request. */
export class HttpServer {
  readonly #server: Server;
  readonly #open = new Set<ServerResponse>();
  readonly #connections = new Set<Socket>();
  /** How far the client of each open response had come when it was last looked at. */
  readonly #progress = new WeakMap<ServerResponse, Progress>();
  /** The response to the last request on each connection. */
  readonly #lastResponse = new WeakMap<Duplex, ServerResponse>();
  /** Aborted when the last connection has closed during shutdown. */
  readonly #drained = new AbortController();
  readonly #unread: Unread;
  #unreadCheck: NodeJS.Timeout | undefined;
  /** When the open responses were last looked at, by performance.now(). */
  #lookedAt = 0;
  #closing = false;

  /**
   * @param timeouts those that differ from TIMEOUTS
   * @param maxConnections further connections are closed at once; before that, those that were idle for longest are
   * @param unread responses that are not read are broken off
   */
  constructor(
    listener: RequestListener,
    timeouts: Partial<Timeouts> = {},
    maxConnections?: number,
    unread: Unread = UNREAD,
  ) {
    this.#unread = unread;
    const onRequest: RequestListener = (request, response) => {
      if (this.#closing) response.shouldKeepAlive = false;
      else response.setHeader('Keep-Alive', `timeout=${KEEP_ALIVE_SECONDS}`);
      this.#open.add(response);
      this.#progress.set(response, { taken: 0, at: performance.now() });
      this.#lastResponse.set(request.socket, response);
      response.once('close', () => {
        this.#open.delete(response);
        // Those that are idle are in the order in which they have become so.
        if (this.#connections.delete(request.socket)) this.#connections.add(request.socket);
      });
      listener(request, response);
    };
    this.#server = createServer(
      {
        ...TIMEOUTS,
        ...timeouts,
        maxHeaderSize: HEAD_BYTES_MAX,
        // The Host header is not used, and Node would respond to its absence without an error body.
        requireHostHeader: false,
      },
      onRequest,
    );
    // Node renews it with each byte that comes, or goes into the connection.
    this.#server.timeout = unread.ms;
    this.#server.on('timeout', (socket: Socket) => this.#onSilence(socket));
    if (maxConnections !== undefined) this.#server.maxConnections = maxConnections;
    this.#server.on('drop', () => count('payments.rate_limited', { policy: 'connections' }));
    this.#server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      if (maxConnections !== undefined && this.#connections.size >= maxConnections) this.#closeIdle();
      socket.once('close', () => {
        this.#connections.delete(socket);
        if (this.#closing && this.#connections.size === 0) this.#drained.abort();
      });
    });
    // An unknown expectation may be ignored (RFC 9110, 10.1.1); Node would respond with 417 and no error body.
    this.#server.on('checkExpectation', onRequest);
    this.#server.on('clientError', (error: Error, socket: Duplex) => {
      const response = this.#lastResponse.get(socket);
      respondToClientError(error, socket, response !== undefined && response.headersSent && !response.writableFinished);
    });
  }

  /** True once the shutdown has begun: not ready for new traffic. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Resolves with the port once the server accepts requests. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) =>
      this.#server.once('error', reject).listen(port, boundTo(host), resolve),
    );
    this.#unreadCheck = setInterval(() => this.#boundUnread(), UNREAD_CHECK_MS);
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Completes open requests, lets kept connections know that they will close, and resolves when all have. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const response of this.#open) {
      response.shouldKeepAlive = false;
      if (!response.headersSent) response.removeHeader('Keep-Alive');
    }
    if (this.#connections.size > 0) await pause(DRAIN_MS, this.#drained.signal);
    // Also closes idle connections: those on which no request came during the drain.
    await new Promise<void>((resolve, reject) => this.#server.close((error) => (error ? reject(error) : resolve())));
    clearInterval(this.#unreadCheck);
  }

  /** Nothing came on a connection, and nothing was taken from it: ends it, unless it is the server that is silent. */
  #onSilence(socket: Socket): void {
    const response = this.#lastResponse.get(socket);
    const isBusy = response !== undefined && this.#open.has(response);
    if (isBusy && socket.writableLength === 0) return;
    if (isBusy) count('payments.rate_limited', { policy: 'unread' });
    socket.destroy();
  }

  /** Makes room for the next connection: closes the one that was kept after a response, and is idle for longest. */
  #closeIdle(): void {
    for (const socket of this.#connections) {
      const response = this.#lastResponse.get(socket);
      if (response === undefined || this.#open.has(response)) continue;
      count('payments.rate_limited', { policy: 'connections' });
      socket.destroy();
      return;
    }
  }

  /**
   * Breaks responses off where too many bytes wait for clients: first those of which nothing was taken for longest, so
   * that who reads slowly does not lose theirs to many who do not read.
   */
  #boundUnread(): void {
    const waiting = [...this.#open].map((response) => ({
      response,
      bytes: response.writableLength,
      since: this.#takenSince(response),
    }));
    this.#lookedAt = performance.now();
    let excess = waiting.reduce((sum, { bytes }) => sum + bytes, -this.#unread.bytes);
    if (excess <= 0) return;
    for (const { response, bytes } of waiting.sort((a, b) => a.since - b.since)) {
      if (excess <= 0) return;
      if (bytes === 0) continue;
      excess -= bytes;
      count('payments.rate_limited', { policy: 'unread' });
      response.destroy();
    }
  }

  /** When the client last took something of a response, by performance.now(): at the latest; or when it asked. */
  #takenSince(response: ServerResponse): number {
    const { socket } = response;
    const before = this.#progress.get(response) ?? { taken: 0, at: this.#lookedAt };
    // A write counts once it is taken as a whole: the largest is a page.
    const taken = socket ? socket.bytesWritten - socket.writableLength : before.taken;
    if (taken === before.taken) return before.at;
    const at = Math.max(before.at, this.#lookedAt);
    this.#progress.set(response, { taken, at });
    return at;
  }
}

/** How many bytes a connection had taken, and since when it has taken no more. */
interface Progress {
  readonly taken: number;
  readonly at: number;
}
