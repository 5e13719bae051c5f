import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ShownPaymentLink } from '@pf/contracts';
import {
  type ApiClient,
  apiClient,
  chainOf,
  type Cluster,
  type Instance,
  readBackingStack,
  type StackWallet,
  startCluster,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';
import { newWallet, walletOn } from '@pf/testing/wallets';
import type { Browser } from 'playwright-core';
import { openBrowser, visit } from '../dashboard/browser.ts';

const stack = readBackingStack();
const [base, solana] = [chainOf(stack, 'base'), chainOf(stack, 'solana')];
const [, , key] = solana.wallets as [StackWallet, StackWallet, StackWallet];

interface LinkBody {
  readonly paymentLink: ShownPaymentLink;
  readonly clientSecret: string;
}

describe('a payment link through all services', () => {
  let api: ApiClient;
  let checkout: Instance;
  let cluster: Cluster;
  let browser: Browser;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    cluster = await startCluster(stack, [base, solana]);
    const [gateway] = await Promise.all(
      (['gateway', 'intent', 'watcher', 'webhook'] as const).map((service) => cluster.start(service)),
    );
    if (!gateway) throw new Error('the gateway did not start');
    checkout = await cluster.start('checkout', { env: { GATEWAY_URL: gateway.url } });
    browser = await openBrowser();
    receiver = await webhookReceiver();
    api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    await api.request('POST', '/webhook-endpoints', { url: receiver.url });
  });
  afterAll(async () => {
    await browser.close();
    await cluster.close();
    await receiver.close();
  });

  it('is paid on the chain that was chosen last, which cancels the other', async () => {
    const offers = [base, solana].map((chain) => ({
      chain: chain.caip2,
      token: 'USDC',
      requestor: walletOn(chain, newWallet(chain)).address,
    }));
    const created = (await api.request<LinkBody>('POST', '/payment-links', { amount: '1.25', offers })).body;
    const { id } = created.paymentLink;
    const shown = async (): Promise<ShownPaymentLink> =>
      (await api.request<LinkBody>('GET', `/payment-links/${id}`)).body.paymentLink;
    /** The intent that pays an offer, once it is begun. */
    const begun = (offer: number): Promise<string> =>
      until('the offer to be chosen', async () => {
        const { intents } = await shown();
        return intents.find((intent) => intent.offer === offer)?.intentId;
      });
    const { context, page, complaints } = await visit(browser);
    await page.goto(`${checkout.url}/link/${id}#${created.clientSecret.split('_secret_')[1]}`);
    await page.getByRole('button', { name: 'USDC on Base Sepolia' }).click();
    await page.getByText('Waiting for your payment').waitFor();
    const onBase = await begun(0);
    await page.getByRole('link', { name: 'Choose another network' }).click();
    await page.getByRole('button', { name: 'USDC on Solana devnet' }).click();
    await page.getByText('Waiting for your payment').waitFor();
    const onSolana = await begun(1);

    const payer = walletOn(solana, key);
    const built = await api.build(onSolana, payer.address);
    await api.submit(onSolana, await payer.sign(built.body.transaction.blob), payer.address);
    await page.locator('.status strong', { hasText: /^Paid$/ }).waitFor();
    await until('the other to be cancelled', async () => (await api.get(onBase)).body.intent.state === 'cancelled');
    const paid = await until('the webhook', () =>
      receiver.received.find(({ body }) => (body.type as string) === 'payment_link.paid'),
    );
    expect(JSON.parse(paid.raw)).toMatchObject({
      data: { intentId: onSolana, paymentLink: { id, state: 'paid', paidBy: onSolana } },
    });
    expect(await shown()).toMatchObject({ state: 'paid', paidBy: onSolana });
    expect(complaints).toEqual([]);
    await context.close();
  });
});
