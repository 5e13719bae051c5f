import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pause } from '@pf/runtime';
import { answerClientError } from './client-errors.ts';

/**
 * What `Keep-Alive` tells clients: after so many idle seconds they open another connection. Fewer than the farewell takes:
 * who believes it never sends on a connection that is just being closed. Proxies do not, they are held to TIMEOUTS.
 */
const KEEP_SECONDS = 2;
/** Clients that keep a connection learn of the end of it by an answer, for so long at most, before idle ones are closed. */
const FAREWELL_MS = 3_000;

/** A client has this long for its head and for the whole request; behind a proxy the idle time must exceed the proxy's. Milliseconds. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
} as const;
type Timeouts = Readonly<Record<keyof typeof TIMEOUTS, number>>;

/** The API's HTTP server: bounded waits for clients, and an end that loses no request. */
export class HttpServer {
  readonly #server: Server;
  readonly #open = new Set<ServerResponse>();
  readonly #connections = new Set<Socket>();
  /** By connection: the answer to the last request on it. */
  readonly #answering = new WeakMap<Duplex, ServerResponse>();
  /** Over when the last connection is. */
  readonly #farewell = new AbortController();
  #leaving = false;

  constructor(listener: RequestListener, timeouts: Timeouts = TIMEOUTS) {
    const take: RequestListener = (request, response) => {
      if (this.#leaving) response.shouldKeepAlive = false;
      else response.setHeader('Keep-Alive', `timeout=${KEEP_SECONDS}`);
      this.#open.add(response);
      this.#answering.set(request.socket, response);
      response.once('close', () => this.#open.delete(response));
      listener(request, response);
    };
    this.#server = createServer(
      {
        ...timeouts,
        maxHeaderSize: 16_384,
        // Nothing here depends on the Host header; Node would refuse its absence with an answer of its own.
        requireHostHeader: false,
      },
      take,
    );
    this.#server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => {
        this.#connections.delete(socket);
        if (this.#leaving && this.#connections.size === 0) this.#farewell.abort();
      });
    });
    // An expectation that we do not know may be passed over (RFC 9110, 10.1.1); Node would answer 417, and in no shape of ours.
    this.#server.on('checkExpectation', take);
    this.#server.on('clientError', (error: Error, socket: Duplex) => {
      const response = this.#answering.get(socket);
      answerClientError(error, socket, response !== undefined && response.headersSent && !response.writableFinished);
    });
  }

  /** True once the end has begun: not ready for new traffic. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** Resolves with the port when requests are taken. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(port, host, resolve));
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Answers what is open, tells kept connections that they end, and resolves when the last one has. */
  async close(): Promise<void> {
    this.#leaving = true;
    for (const response of this.#open) {
      response.shouldKeepAlive = false;
      if (!response.headersSent) response.removeHeader('Keep-Alive');
    }
    if (this.#connections.size > 0) await pause(FAREWELL_MS, this.#farewell.signal);
    // Closes idle connections too: by now only those on which nothing was asked.
    await new Promise<void>((resolve, reject) => this.#server.close((error) => (error ? reject(error) : resolve())));
  }
}
