import type { CallOptions, CreateOptions, Http } from './http.ts';
import { Pages } from './pages.ts';
import type { CreatePaymentLink, ListPaymentLinks, PayableIntent, PayableLink, PaymentLink } from './types.ts';

/** Several ways to pay one order: the payer chooses. Each method sends one request, unless it says otherwise. */
export class PaymentLinks {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Creates a link, and returns with it what you pass to its payer. Generates an `idempotencyKey` if you pass none, so
   * that a retry creates no second one.
   * @throws ReusedKeyError if an earlier request with the key asked for another link
   */
  create(link: CreatePaymentLink, options?: CreateOptions): Promise<PayableLink> {
    return this.#http.create('payment-links', link, options);
  }

  /** Fetches the link, and what you pass to its payer. Needs a key with the scope `full`. */
  get(id: string, options?: CallOptions): Promise<PayableLink> {
    return this.#http.get(path(id), {}, options);
  }

  /** Lists the links of the account in the mode of the key, newest first. Pages are fetched as you iterate. */
  list(filter: ListPaymentLinks = {}, options?: CallOptions): Pages<PaymentLink> {
    return new Pages(async (cursor) => {
      const { paymentLinks, nextCursor } = await this.#http.get<{
        paymentLinks: PaymentLink[];
        nextCursor: string | null;
      }>('payment-links', { ...filter, cursor }, options);
      return { items: paymentLinks, nextCursor };
    }, filter.cursor);
  }

  /** Cancels an open link, and what its payers have begun. Succeeds if it is cancelled already. */
  async cancel(id: string, options?: CallOptions): Promise<PaymentLink> {
    return (await this.#http.post<{ paymentLink: PaymentLink }>(path(id, '/cancel'), {}, options)).paymentLink;
  }

  /** The intent that pays an offer, for a page of your own: the same one, however often you ask. */
  choose(id: string, offer: number, options?: CallOptions): Promise<PayableIntent> {
    return this.#http.post(path(id, '/choose'), { offer }, options);
  }
}

const path = (id: string, rest = ''): string => `payment-links/${encodeURIComponent(id)}${rest}`;
