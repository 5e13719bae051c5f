// Takes the screenshots of docs/guide/dashboard.md: on the stack that is running, in an account of their own.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { readStack, webhookReceiver } from '@pf/testing';
import { complete, openBrowser, shoot, signIn, visit } from './browser.ts';
import { COLORS, INSIDE, OUTSIDE, SCREENSHOT_FOLDER, screenshotNamed } from './pages.ts';
import { clerkOf, fill, linkOf, newMember, newShop, SOLANA_WALLET } from './shop.ts';

const SIZE = { width: 1_200, height: 760 };
const folder = path.join(import.meta.dirname, '../../../..', SCREENSHOT_FOLDER);

const stack = readStack();
const { dashboard } = stack;
const { url } = dashboard;
await mkdir(folder, { recursive: true });
const [browser, clerk, receiver] = await Promise.all([openBrowser(), clerkOf(dashboard), webhookReceiver()]);
const shop = await newShop(clerk, 'Corner Coffee');
const endpoints = `/accounts/${shop.accountId}/test/v1/webhook-endpoints`;
const { endpoint } = await clerk.call<{ endpoint: { id: string } }>('POST', endpoints, {
  url: receiver.url,
  name: 'Checkout server',
});
await clerk.call('PATCH', `/accounts/${shop.accountId}/settings`, {
  branding: { accentColor: '#9a3412', supportUrl: 'https://corner.example/help' },
  wallets: {
    base: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    solana: SOLANA_WALLET,
  },
  returnOrigins: ['https://corner.example'],
});
const paid = await fill(stack, clerk, shop);
const link = await linkOf(stack, clerk, shop);
await newMember(url, clerk, shop, 'support');
await clerk.call('POST', `/accounts/${shop.accountId}/invitations`, { email: 'kim@corner.example', role: 'developer' });

const { page } = await visit(browser, { viewport: SIZE });

async function shootPage(target: string, name: string): Promise<void> {
  for (const colorScheme of COLORS) {
    await page.emulateMedia({ colorScheme });
    await page.goto(`${url}${target}`);
    await complete(page);
    await shoot(page, path.join(folder, `${name}-${colorScheme}.webp`));
  }
}

/** In the account of the screenshots, in test mode. */
const inAccount = (target: string): string => `/accounts/${shop.accountId}/test/${target}`;

for (const [target] of OUTSIDE) await shootPage(target, screenshotNamed(target));
await signIn(page, dashboard);
for (const [target] of INSIDE) await shootPage(inAccount(target), screenshotNamed(target));
await shootPage(inAccount(`payments/${paid.id}`), 'payment');
await shootPage(inAccount(`payment-links/${link.id}`), 'payment-link');
await shootPage(inAccount(`developers/endpoints/${endpoint.id}`), 'endpoint');
await Promise.all([browser.close(), receiver.close()]);
