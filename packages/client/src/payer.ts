import { follow, type Followed, type FollowOptions } from './follow.ts';
import { type CallOptions, type ClientOptions, Http } from './http.ts';
import { Pages } from './pages.ts';
import { pay, type Payment } from './pay.ts';
import type { BuiltIntent, PayerEvent, PayerIntent, SubmittedIntent } from './types.ts';

export interface PayerClientOptions extends Omit<ClientOptions, 'apiKey'> {
  /** `pi_…_secret_…`, from `createPayable` on the server of the integrator. */
  readonly clientSecret: string;
}

/**
 * The client of the payer of one intent, which its client secret opens. It has no key.
 *
 * @example
 * ```ts
 * const payer = new PayerClient({ baseUrl: 'http://127.0.0.1:4000/v1', clientSecret: 'pi_…_secret_…' });
 * const { transaction } = await payer.build({ fulfiller: '0x…' });
 * ```
 */
export class PayerClient {
  /** The intent of the client secret. */
  readonly id: string;
  readonly #http: Http;
  readonly #path: string;

  /** @throws TypeError if the client secret is none */
  constructor({ clientSecret, ...options }: PayerClientOptions) {
    const [, id] = /^(pi_\w+)_secret_\w+$/.exec(clientSecret) ?? [];
    if (id === undefined) throw new TypeError('clientSecret must be the whole text "pi_…_secret_…" of one intent.');
    this.id = id;
    this.#path = `intents/${id}`;
    this.#http = new Http({ ...options, apiKey: clientSecret });
  }

  /** Fetches the current intent. */
  async get(options?: CallOptions): Promise<PayerIntent> {
    return (await this.#http.get<{ intent: PayerIntent }>(this.#path, {}, options)).intent;
  }

  /** For the link of a Solana Pay transaction request; null on other chains. */
  async solanaPayToken(options?: CallOptions): Promise<string | null> {
    return (await this.#http.get<{ solanaPayToken: string | null }>(this.#path, {}, options)).solanaPayToken;
  }

  /** How the account pays the network fee in place of the payer; empty where the payer pays it. */
  async sponsors(options?: CallOptions): Promise<readonly string[]> {
    return (await this.#http.get<{ sponsors: readonly string[] }>(this.#path, {}, options)).sponsors;
  }

  /** The paymaster service of this intent, for `wallet_sendCalls`; null where `sponsors` has no `paymaster`. */
  async paymasterUrl(options?: CallOptions): Promise<string | null> {
    return (await this.#http.get<{ paymasterUrl: string | null }>(this.#path, {}, options)).paymasterUrl;
  }

  /** Reports that the payer has the intent. */
  async detected(options?: CallOptions): Promise<PayerIntent> {
    return (await this.#http.post<{ intent: PayerIntent }>(`${this.#path}/detected`, {}, options)).intent;
  }

  /**
   * Builds the unsigned transaction for the wallet `fulfiller`; with `sponsored` another account pays its fee. Call it
   * right before the wallet signs: it lives until `transaction.expiresAt`, and is replaced by a new one once a third of
   * that time has passed.
   */
  build(
    body: { readonly fulfiller?: string; readonly sponsored?: boolean } = {},
    options?: CallOptions,
  ): Promise<BuiltIntent<PayerIntent>> {
    return this.#http.post(`${this.#path}/build`, body, options);
  }

  /** Submits the signed transaction or, for a wallet that has sent it, its hash. */
  submit(
    body: { readonly signedTransaction: string; readonly fulfiller?: string },
    options?: CallOptions,
  ): Promise<SubmittedIntent<PayerIntent>> {
    return this.#http.post(`${this.#path}/submit`, body, options);
  }

  /**
   * Builds, has the wallet sign, submits; again if signing took longer than the transaction lived. For wallets that
   * sign and do not send.
   */
  pay(payment: Payment, options?: CallOptions): Promise<SubmittedIntent<PayerIntent>> {
    return pay(payment, {
      build: (body) => this.build(body, options),
      submit: (body) => this.submit(body, options),
    });
  }

  /** The whole history, oldest first. Sends a request for each 100 events. */
  async events(options?: CallOptions): Promise<readonly PayerEvent[]> {
    const pages = new Pages(async (cursor) => {
      const { events, nextCursor } = await this.#http.get<{ events: PayerEvent[]; nextCursor: string | null }>(
        `${this.#path}/events`,
        { cursor },
        options,
      );
      return { items: events, nextCursor };
    });
    const all: PayerEvent[] = [];
    for await (const event of pages) all.push(event);
    return all;
  }

  /** Follows the intent until it is confirmed, or its state can no longer change. */
  follow(options?: FollowOptions): AsyncGenerator<Followed<PayerIntent>, void, undefined> {
    return follow<PayerIntent>(this.#http, this.id, options);
  }
}
