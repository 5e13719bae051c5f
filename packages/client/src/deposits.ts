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
}
