import { expect } from '@jest/globals';
import type { PublicIntent } from '@pf/domain';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type CreatedBody,
  freePorts,
  parseMetrics,
  readBackingStack,
  type StackChain,
  startCluster,
  until,
} from '@pf/testing';
import { type ChainWallet, newWallet, walletOn } from '@pf/testing/wallets';
import { whileBusy } from '../responses.ts';

/** Between blocks or slots. */
export const PACE_MS = 300;
export const WAIT_MS = 60_000;
/** A test waits several times. */
export const TEST_MS = 180_000;
/** What an order costs, in base units. */
export const UNITS = 3_000_000n;

/** Where the shop has people pay; nothing listens there. */
export const CHECKOUT_URL = 'https://pay.example';

export interface Order {
  readonly id: string;
  readonly intent: PublicIntent;
  readonly merchant: ChainWallet;
  /** With the intent's secret: what the payer's app has. */
  readonly payer: ApiClient;
}

/** A shop that sells by payment intents, with services of its own. */
export class Shop {
  readonly cluster: Cluster;
  /** With the shop's key. */
  readonly api: ApiClient;
  readonly baseUrl: string;
  readonly #chain: StackChain;
  readonly #metricsUrl: string;

  private constructor(cluster: Cluster, chain: StackChain, baseUrl: string, metricsUrl: string) {
    this.cluster = cluster;
    this.api = apiClient(baseUrl, cluster.apiKeys.test);
    this.#chain = chain;
    this.baseUrl = baseUrl;
    this.#metricsUrl = metricsUrl;
  }

  /** @param chain where orders are paid; the services serve the others, too */
  static async open(chain: StackChain, ...others: readonly StackChain[]): Promise<Shop> {
    const cluster = await startCluster(readBackingStack(), [chain, ...others]);
    const [metricsPort] = await freePorts(1);
    const [gateway] = await Promise.all([
      cluster.start('gateway', { env: { CHECKOUT_URL, METRICS_PORT: String(metricsPort) } }),
      cluster.start('intent'),
      cluster.start('watcher'),
    ]);
    return new Shop(cluster, chain, `${gateway.url}/v1`, `http://127.0.0.1:${metricsPort}/metrics`);
  }

  /** How many requests with a 5xx its gateway counts as the caller's, and how many as the service's. */
  async failures(): Promise<{ readonly caller: number; readonly service: number }> {
    const failed = parseMetrics(await (await fetch(this.#metricsUrl)).text()).filter(
      ({ name, labels }) =>
        name === 'http_server_request_duration_seconds_count' && labels['http_response_status_code']?.startsWith('5'),
    );
    const sum = (isCaller: boolean): number =>
      failed
        .filter(({ labels }) => (labels['caused_by'] === 'caller') === isCaller)
        .reduce((total, { value }) => total + value, 0);
    return { caller: sum(true), service: sum(false) };
  }

  async order(merchant = walletOn(this.#chain, newWallet(this.#chain))): Promise<Order> {
    const { status, body } = await whileBusy<CreatedBody>('an intent', () =>
      this.api.create({ chain: this.#chain.caip2, token: 'USDC', amount: '3', requestor: merchant.address }),
    );
    expect([status, body.error]).toEqual([201, undefined]);
    const { intent, clientSecret } = body;
    return { id: intent.id, intent, merchant, payer: apiClient(this.baseUrl, clientSecret) };
  }

  reached({ id }: Order, state: string): Promise<PublicIntent> {
    return until(
      `${id} to be ${state}`,
      async () => {
        const { intent } = (await this.api.get(id)).body;
        return intent.state === state && intent;
      },
      WAIT_MS,
    );
  }

  close(): Promise<void> {
    return this.cluster.close();
  }
}
