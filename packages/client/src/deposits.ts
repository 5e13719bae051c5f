import type { CallOptions, Http } from './http.ts';
import { Pages } from './pages.ts';
import type { Deposit, ListDeposits } from './types.ts';

/** Money that has arrived at the wallets of intents, and pays none of them. */
export class Deposits {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Fetches one deposit. */
  async get(id: string, options?: CallOptions): Promise<Deposit> {
    return (await this.#http.get<{ deposit: Deposit }>(`deposits/${encodeURIComponent(id)}`, {}, options)).deposit;
  }

  /** Lists the deposits of the account in the mode of the key, newest first. Pages are fetched as you iterate. */
  list(filter: ListDeposits = {}, options?: CallOptions): Pages<Deposit> {
    return new Pages(async (cursor) => {
      const { deposits, nextCursor } = await this.#http.get<{ deposits: Deposit[]; nextCursor: string | null }>(
        'deposits',
        { ...filter, cursor },
        options,
      );
      return { items: deposits, nextCursor };
    }, filter.cursor);
  }

  /** Marks a deposit about which nothing is to be done. Succeeds if it is ignored already. */
  ignore(id: string, options?: CallOptions): Promise<Deposit> {
    return this.#act(id, 'ignore', options);
  }

  /** Undoes `ignore`. Succeeds if the deposit is open already. */
  reopen(id: string, options?: CallOptions): Promise<Deposit> {
    return this.#act(id, 'reopen', options);
  }

  /**
   * Assigns a deposit to the intent that it pays: its events follow within moments. Succeeds if it is assigned to the
   * same one already.
   */
  assign(id: string, intentId: string, options?: CallOptions): Promise<Deposit> {
    return this.#act(id, 'assign', options, { intentId });
  }

  /** Undoes `assign`, while the intent has no refund. Succeeds if the deposit is open already. */
  unassign(id: string, options?: CallOptions): Promise<Deposit> {
    return this.#act(id, 'unassign', options);
  }

  async #act(
    id: string,
    verb: 'ignore' | 'reopen' | 'assign' | 'unassign',
    options?: CallOptions,
    body: object = {},
  ): Promise<Deposit> {
    const path = `deposits/${encodeURIComponent(id)}/${verb}`;
    return (await this.#http.post<{ deposit: Deposit }>(path, body, options)).deposit;
  }
}
