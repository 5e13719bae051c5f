import { type ProfileNames, type Provider, type ProviderOptions, startProvider } from '../../src/providers/index.ts';

/** An HTTP response. */
interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined where the text is no JSON. */
  readonly json: unknown;
}

export interface Client {
  /** Calls one method, with the id 7. */
  call(method: string, ...params: unknown[]): Promise<Response>;
  /** Posts an array of calls of a method, or of several, with the ids from 0. */
  array(calls: readonly (readonly [method: string, ...params: unknown[]])[]): Promise<Response>;
  readonly url: string;
}

async function post(url: string, body: unknown): Promise<Response> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text, json };
}

/** A plain HTTP client of a URL. */
const clientOf = (url: string): Client => ({
  url,
  call: (method, ...params) => post(url, { jsonrpc: '2.0', id: 7, method, params }),
  array: (calls) =>
    post(
      url,
      calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params })),
    ),
});

export const times = <T>(count: number, one: T): readonly T[] => Array.from({ length: count }, () => one);
export const error = (code: number, message: unknown, data?: unknown) => ({
  code,
  message,
  ...(data !== undefined && { data }),
});
/** The body of a refusal of one call. */
export const refusal = (code: number, message: unknown, data?: unknown) => ({
  jsonrpc: '2.0',
  id: 7,
  error: error(code, message, data),
});
/** The body of a refusal of an array. */
export const refusalOfArray = (code: number, message: unknown) => ({ ...refusal(code, message), id: null });

/** Providers before one node; their clock stands still until the test moves it. */
export class Providers {
  readonly #target: () => string;
  #started: Provider[] = [];
  now = 0;

  constructor(target: () => string) {
    this.#target = target;
  }

  async start(name: ProfileNames, options: ProviderOptions = {}): Promise<Client> {
    const provider = await startProvider(name, this.#target(), { now: () => this.now, ...options });
    this.#started.push(provider);
    return clientOf(provider.url);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#started.splice(0).map((provider) => provider.stop()));
  }
}
