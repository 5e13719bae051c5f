import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ShownPaymentLink } from '@pf/contracts';
import { apiClient, readStack } from '@pf/testing';
import type { Browser } from 'playwright-core';
import { barriers, complete, openBrowser, overflow, PHONE, scanned, signIn, visit, type Visitor } from './browser.ts';
import { type Clerk, clerkOf, newShop, type Shop, SOLANA_WALLET } from './shop.ts';

const stack = readStack();
const { dashboard } = stack;
const WALLET = '0x1111111111111111111111111111111111111111';

let browser: Browser;
let owner: Clerk;
let shop: Shop;
let visitor: Visitor;

beforeAll(async () => {
  [browser, owner] = await Promise.all([openBrowser(), clerkOf(dashboard)]);
  shop = await newShop(owner, 'Links Ltd.');
  visitor = await visit(browser);
  await signIn(visitor.page, dashboard);
});
afterAll(() => browser.close());
afterEach(() => expect(visitor.complaints).toEqual([]));

const open = (page: string) => visitor.page.goto(`${dashboard.url}/accounts/${shop.accountId}/test/${page}`);
const links = async (): Promise<readonly ShownPaymentLink[]> =>
  (await owner.call<{ paymentLinks: ShownPaymentLink[] }>('GET', `/accounts/${shop.accountId}/test/v1/payment-links`))
    .paymentLinks;

describe('payment links in the browser', () => {
  it('are created from the wallets of the settings, chosen by a payer, and paid', async () => {
    const { page } = visitor;
    const dialog = page.getByRole('dialog');
    await open('payment-links');
    await page.getByRole('heading', { name: 'No test payment links yet' }).waitFor();
    await page.getByRole('button', { name: 'New payment link' }).first().click();
    await dialog.getByText('No wallet is known yet.').waitFor();
    await owner.call('PATCH', `/accounts/${shop.accountId}/settings`, {
      wallets: { base: WALLET, solana: SOLANA_WALLET },
    });
    await open('payment-links');
    await page.getByRole('button', { name: 'New payment link' }).first().click();
    await dialog.getByLabel('Amount').fill('18.5');
    await dialog.getByLabel('Also with more').check();
    await dialog.getByLabel('Metadata').fill('no metadata');
    await dialog.getByRole('button', { name: 'Create payment link' }).click();
    await dialog.getByText('Metadata is written as key=value').waitFor();
    await dialog.getByLabel('Metadata').fill('order=A-1');
    await dialog.getByRole('button', { name: 'Create payment link' }).click();
    await page.getByRole('heading', { level: 1, name: /18\.50/ }).waitFor();
    const [link] = await links();
    expect(link).toMatchObject({
      amount: '18.5',
      accept: 'at_least',
      metadata: { order: 'A-1' },
      offers: [
        { token: 'USDC', requestor: SOLANA_WALLET },
        { token: 'USDC', requestor: WALLET },
      ],
    });

    // The code on the page leads to the very link that it shows.
    const code = page.getByRole('img', { name: 'The link as a code to scan' });
    const shown = await page.locator('.share code').textContent();
    expect(await scanned(code)).toBe(shown);
    const { context, page: payer } = await visit(browser);
    await payer.goto(shown ?? '');
    await payer.getByRole('button', { name: 'USDC on Base Sepolia' }).click();
    await payer.getByText('Waiting for your payment').waitFor();
    await context.close();

    const begun = page.getByRole('table', { name: 'Begun payments' });
    await begun.getByText('USDC on Base Sepolia').waitFor();
    const [intent] = (await links())[0]?.intents ?? [];
    await apiClient(stack.baseUrl, shop.key).simulate(intent?.intentId ?? '', 'confirmed');
    await begun.getByText('Paid the link').waitFor();
    expect(await code.count()).toBe(0);
    await open('payment-links');
    await page.getByRole('row', { name: /18\.50 USDC Paid order: A-1/ }).waitFor();
  });

  it('are cancelled after a confirmation that explains the effect', async () => {
    const { page } = visitor;
    const [first] = await links();
    const offers = first?.offers.map(({ chain, token, requestor }) => ({ chain, token, requestor }));
    const path = `/accounts/${shop.accountId}/test/v1/payment-links`;
    const { paymentLink } = await owner.call<{ paymentLink: ShownPaymentLink }>('POST', path, { amount: '2', offers });
    await owner.call('POST', `${path}/${paymentLink.id}/choose`, { offer: 0 });
    await open(`payment-links/${paymentLink.id}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('What its payers have begun is cancelled within seconds.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel payment link' }).click();
    await page.getByText('You have cancelled it.').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    const { entries } = await owner.call<{ entries: readonly { action: string; subject: string }[] }>(
      'GET',
      `/accounts/${shop.accountId}/audit`,
    );
    expect(entries.filter(({ subject }) => subject === paymentLink.id).map(({ action }) => action)).toEqual([
      'payment_link.cancelled',
      'payment_link.chosen',
      'payment_link.created',
    ]);
  });

  it('have no serious accessibility violation and fit on a phone, including the form', async () => {
    const { context, page, complaints } = await visit(browser, { viewport: PHONE });
    await signIn(page, dashboard);
    const path = `/accounts/${shop.accountId}/test/v1/payment-links`;
    const offers = [{ chain: 'eip155:84532', token: 'USDC', requestor: WALLET }];
    const { paymentLink } = await owner.call<{ paymentLink: ShownPaymentLink }>('POST', path, { amount: '3', offers });
    await page.goto(`${dashboard.url}/accounts/${shop.accountId}/test/payment-links/${paymentLink.id}`);
    await complete(page);
    await page.getByRole('img', { name: 'The link as a code to scan' }).waitFor();
    expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
    await page.goto(`${dashboard.url}/accounts/${shop.accountId}/test/payment-links`);
    await page.getByRole('button', { name: 'New payment link' }).click();
    await page.getByRole('dialog').getByText('USDC on Base Sepolia').waitFor();
    expect([await barriers(page), await overflow(page), complaints]).toEqual([[], 0, []]);
    await context.close();
  });
});
