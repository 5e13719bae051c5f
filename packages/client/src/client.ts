import { Deposits } from './deposits.ts';
import { type ClientOptions, Http } from './http.ts';
import { Intents } from './intents.ts';
import { PaymentLinks } from './payment-links.ts';
import { Sponsors } from './sponsors.ts';
import { Webhooks } from './webhooks.ts';

/**
 * The client of the Payment Intent Service.
 *
 * @example
 * ```ts
 * const client = new PaymentClient({ baseUrl: 'http://127.0.0.1:4000/v1', apiKey: 'pk_test_…' });
 * const created = await client.intents.create({
 *   chain: 'eip155:84532',
 *   token: 'USDC',
 *   amount: '12.50',
 *   requestor: '0x…',
 * });
 * for await (const { type, intent } of client.intents.follow(created.id)) console.log(type, intent.state);
 * ```
 */
export class PaymentClient {
  readonly intents: Intents;
  readonly deposits: Deposits;
  readonly paymentLinks: PaymentLinks;
  readonly sponsors: Sponsors;
  readonly webhooks: Webhooks;

  constructor(options: ClientOptions) {
    const http = new Http(options);
    this.intents = new Intents(http);
    this.deposits = new Deposits(http);
    this.paymentLinks = new PaymentLinks(http);
    this.sponsors = new Sponsors(http);
    this.webhooks = new Webhooks(http);
  }
}
