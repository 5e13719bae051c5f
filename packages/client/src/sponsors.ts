import type { CallOptions, Http } from './http.ts';
import type { SetSponsor, Sponsor } from './types.ts';

/** The services of the account that pay the fees of its payers, one for each chain. */
export class Sponsors {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Sets the sponsor of a chain, in place of the former one. Its URL, and the values of headers and
   * context, are not shown again.
   * @example
   * await client.sponsors.set('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', {
   *   url: 'https://kora.shop.example',
   *   headers: { 'x-api-key': process.env.KORA_API_KEY },
   * });
   */
  async set(chain: string, sponsor: SetSponsor, options?: CallOptions): Promise<Sponsor> {
    return (await this.#http.put<{ sponsor: Sponsor }>(pathOf(chain), sponsor, options)).sponsor;
  }

  /** All sponsors, by chain. */
  async list(options?: CallOptions): Promise<readonly Sponsor[]> {
    return (await this.#http.get<{ sponsors: Sponsor[] }>('sponsors', {}, options)).sponsors;
  }

  /** Asks it for nothing more. */
  async remove(chain: string, options?: CallOptions): Promise<void> {
    await this.#http.delete(pathOf(chain), options);
  }
}

const pathOf = (chain: string): string => `sponsors/${encodeURIComponent(chain)}`;
