import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Reference } from '@pf/domain';
import { apiClient, chainOf, readStack, until } from '@pf/testing';
import { walletOn } from '@pf/testing/wallets';
import type { Browser } from 'playwright-core';
import { openBrowser, signIn, visit } from './browser.ts';
import { installEvmWallet, installSolanaWallet } from './browser-wallets.ts';
import { type Clerk, clerkOf, newShop, type Shop } from './shop.ts';

const stack = readStack();
const { dashboard } = stack;
const { url } = dashboard;

let browser: Browser;
let clerk: Clerk;
let shop: Shop;
beforeAll(async () => {
  [browser, clerk] = await Promise.all([openBrowser(), clerkOf(dashboard)]);
  shop = await newShop(clerk, 'Refunds Ltd.');
});
afterAll(() => browser.close());

/** Has a payment paid by a wallet of the chain. @returns it, with the wallets of payer and shop */
async function paidPayment(chainName: string) {
  const api = apiClient(stack.baseUrl, shop.key);
  const chain = chainOf(stack, chainName);
  const [, payer, merchant] = chain.wallets;
  if (!payer || !merchant) throw new Error('The stack has too few wallets.');
  const { body } = await api.create({
    chain: chain.caip2,
    token: 'USDC',
    amount: '1.25',
    requestor: merchant.address,
    fulfiller: payer.address,
  });
  const { id, reference } = body.intent;
  await walletOn(chain, payer).pay(chain.tokens['USDC'] ?? '', merchant.address, 1_250_000n, reference as Reference);
  await until('the payment', async () => (await api.get(id)).body.intent.state === 'confirmed');
  return { id, payer, merchant, balance: () => walletOn(chain, payer).tokenBalance(chain.tokens['USDC'] ?? '') };
}

describe('a refund', () => {
  it.each([
    ['base', installEvmWallet],
    ['solana', (page, of, _chain, keys) => installSolanaWallet(page, of, keys)],
  ] as const satisfies readonly (readonly [string, typeof installEvmWallet])[])(
    "is signed by the shop's wallet in the browser, and by no other: %s",
    async (chainName, install) => {
      const { id, merchant, balance } = await paidPayment(chainName);
      const before = await balance();
      const { context, page, complaints } = await visit(browser);
      const setMood = await install(page, stack, chainName, merchant);
      await signIn(page, dashboard);
      await page.goto(`${url}/accounts/${shop.accountId}/test/payments/${id}`);
      await page.getByRole('button', { name: 'Refund', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Create refund' }).click();
      const sign = page.getByRole('button', { name: 'Sign with Test Wallet' });

      setMood('other account');
      await sign.click();
      await page.getByText(`does not share the account ${merchant.address}`).waitFor();
      setMood('declines');
      await sign.click();
      await page.getByText('You have declined in Test Wallet. No money has moved.').waitFor();
      setMood('signs');
      await sign.click();
      await page.locator('h1').getByText('Paid').or(page.locator('h1').getByText('Final')).waitFor();
      expect(await sign.count()).toBe(0);
      expect((await balance()) - before).toBe(1_250_000n);
      await context.close();
      expect(complaints).toEqual([]);
    },
  );
});
