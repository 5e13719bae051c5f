import * as z from 'zod/mini';
import { Requests } from './requests.ts';
import { intentSchema, type Merchant, merchantSchema, type PaymentLink, paymentLinkSchema } from './schemas.ts';

const fetched = z.object({ paymentLink: paymentLinkSchema });
const chosen = z.object({ intent: intentSchema, clientSecret: z.string().check(z.regex(/^pi_\w+_secret_\w+$/)) });

/** The requests that the secret of a payment link allows. */
export class LinkClient {
  readonly #merchantPath: string;
  readonly #requests: Requests;

  constructor(linkId: string, clientSecret: string) {
    this.#merchantPath = `/link/${encodeURIComponent(linkId)}/merchant`;
    this.#requests = new Requests(`/v1/payment-links/${encodeURIComponent(linkId)}`, clientSecret);
  }

  async fetchLink(): Promise<PaymentLink> {
    return (await this.#requests.ask(fetched, 'GET', '')).paymentLink;
  }

  /** The client secret of the intent that pays an offer. */
  async choose(offer: number): Promise<string> {
    return (await this.#requests.ask(chosen, 'POST', '/choose', { offer })).clientSecret;
  }

  /** Who is paid. It is public, so no secret goes with it. */
  async fetchMerchant(): Promise<Merchant> {
    return this.#requests.readPublic(merchantSchema, this.#merchantPath);
  }
}
