import { type Dispatcher, Pool } from 'undici';
import { STREAMS_MAX } from '../streams.ts';

const CONNECT_MS = 2_000;
/** Longer than any request takes: a test event waits 20 s for its receiver. */
const HEADERS_MS = 30_000;
/** Longer than a stream is silent: a comment is due every 15 s. */
const SILENCE_MS = 40_000;
/** Larger than any response but a stream. */
const RESPONSE_BYTES_MAX = 32 * 1024 * 1024;
/** The most requests at once of this process. */
export const REQUESTS_MAX = 128;

/** A request to the gateway. */
export interface GatewayRequest {
  readonly method: Dispatcher.HttpMethod;
  /** With `/v1` and the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  readonly signal: AbortSignal;
}

/** The gateway as the dashboard calls it. Streams have connections of their own: they take none of the requests'. */
export class Gateway {
  readonly #requests: Pool;
  readonly #streams: Pool;

  /** @param url its origin */
  constructor(url: URL) {
    const options: Pool.Options = {
      connect: { timeout: CONNECT_MS },
      headersTimeout: HEADERS_MS,
      bodyTimeout: SILENCE_MS,
    };
    this.#requests = new Pool(url.origin, {
      ...options,
      connections: REQUESTS_MAX,
      maxResponseSize: RESPONSE_BYTES_MAX,
    });
    this.#streams = new Pool(url.origin, { ...options, connections: STREAMS_MAX });
  }

  request(request: GatewayRequest): Promise<Dispatcher.ResponseData> {
    return this.#requests.request(request);
  }

  stream(request: GatewayRequest): Promise<Dispatcher.ResponseData> {
    return this.#streams.request(request);
  }

  async close(): Promise<void> {
    await Promise.all([this.#requests.destroy(), this.#streams.destroy()]);
  }
}
