import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, readStack } from '@pf/testing';
import type { Browser } from 'playwright-core';
import { openBrowser, signIn, turnTo, visit } from './browser.ts';
import { type Clerk, clerkOf, newShop, type Shop } from './shop.ts';

const stack = readStack();
const { dashboard } = stack;
const { url } = dashboard;
const WALLET = '0x1111111111111111111111111111111111111111';

/** Texts that would run a script where a page took them for markup, a URL or a template. */
const CORPUS = [
  '<script>window.injected = 1</script>',
  '<img src=x onerror="window.injected = 1">',
  '"><svg onload="window.injected = 1">',
  "' autofocus onfocus='window.injected = 1",
  'javascript:window.injected=1',
  '{{constructor.constructor("window.injected = 1")()}}',
  '</title><script>window.injected = 1</script>',
  '\u202e<b>reversed</b>',
];
/** A name cannot turn the direction. */
const NAMES = CORPUS.filter((text) => !text.includes('\u202e'));

let browser: Browser;
let clerk: Clerk;
let shop: Shop;

beforeAll(async () => {
  [browser, clerk] = await Promise.all([openBrowser(), clerkOf(dashboard)]);
  shop = await newShop(clerk, '<script>injected = 1</script>');
});
afterAll(() => browser.close());

const api = () => apiClient(stack.baseUrl, shop.key);
const newPayment = async (metadata: Record<string, string> = {}): Promise<string> => {
  const { body } = await api().create({
    chain: 'eip155:84532',
    token: 'USDC',
    amount: '1',
    requestor: WALLET,
    metadata,
  });
  return body.intent.id;
};
const pathOf = (page: string): string => `${url}/accounts/${shop.accountId}/test/${page}`;

describe('what others have written', () => {
  it('is text on every page, and never markup', async () => {
    const id = await newPayment(
      Object.fromEntries(CORPUS.map((text, index) => [`${text}`.slice(0, 40), `${index}${text}`])),
    );
    for (const [index, name] of NAMES.entries())
      await clerk.call('POST', `/accounts/${shop.accountId}/keys`, {
        name,
        mode: 'test',
        scope: index % 2 ? 'payer' : 'full',
      });
    const endpoint = { url: 'http://127.0.0.1:9/<script>window.injected=1</script>', name: CORPUS[1] };
    await clerk.call('POST', `/accounts/${shop.accountId}/test/v1/webhook-endpoints`, endpoint);
    const { context, page, complaints } = await visit(browser);
    await signIn(page, dashboard);
    for (const path of [
      'home',
      'payments',
      `payments/${id}`,
      `payments?metadata[${encodeURIComponent(CORPUS[1] ?? '')}]=${encodeURIComponent(CORPUS[2] ?? '')}`,
      'developers/keys',
      'developers/endpoints',
      'developers/deliveries',
      'developers/events',
      'developers/requests',
      'team',
    ]) {
      await turnTo(page, pathOf(path));
      expect([path, await page.evaluate('window.injected ?? null')]).toEqual([path, null]);
    }
    await turnTo(page, pathOf('developers/keys'));
    for (const name of NAMES) await page.getByText(name, { exact: true }).first().waitFor();
    await context.close();
    expect(complaints).toEqual([]);
  });
});

describe('two accounts', () => {
  it('never see each other', async () => {
    const id = await newPayment();
    const other = await newShop(clerk, 'Another shop');
    const { context, page } = await visit(browser);
    await signIn(page, dashboard);
    // A payment is found in its own account only, though the person is a member of both.
    await page.goto(`${url}/accounts/${other.accountId}/test/payments/${id}`);
    await page.getByRole('heading', { name: 'Payment not found' }).waitFor();
    await page.goto(`${url}/accounts/${shop.accountId}/live/payments/${id}`);
    await page.getByRole('heading', { name: 'Payment not found' }).waitFor();
    await page.goto(`${url}/accounts/acct_11111111111111111111/test/payments`);
    await page.getByRole('heading', { name: 'Account not found' }).waitFor();
    await context.close();
  });
});

describe('a session', () => {
  it('is a new one after signing in, whatever cookie the browser had, and no script can read it', async () => {
    const { context, page } = await visit(browser);
    const planted = { name: 'pf.session_token', value: 'planted.by-an-attacker', url };
    await context.addCookies([planted]);
    await signIn(page, dashboard);
    const cookie = (await context.cookies(url)).find(({ name }) => name === planted.name);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    expect(cookie?.value).not.toBe(planted.value);
    expect(await page.evaluate('document.cookie')).toBe('');
    const asPlanted = await fetch(`${url}/api/session`, { headers: { cookie: `${planted.name}=${planted.value}` } });
    expect(asPlanted.status).toBe(401);
    await context.close();
  });

  it('serves no page of another origin: it can neither change anything nor show the dashboard', async () => {
    const accounts = async (): Promise<number> =>
      (await clerk.call<{ memberships: unknown[] }>('GET', '/session')).memberships.length;
    const before = await accounts();
    // Another port is another origin, and the same site: browsers send the cookie.
    const attacker = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end(`
        <iframe name="framed" src="${url}/sign-in"></iframe>
        <form method="post" enctype="text/plain" action="${url}/api/accounts">
          <input name='{"name":"' value='"}'>
        </form>`);
    }).listen(0, '127.0.0.1');
    await once(attacker, 'listening');
    const { context, page } = await visit(browser);
    await signIn(page, dashboard);
    await page.goto(`http://${new URL(url).hostname}:${(attacker.address() as AddressInfo).port}/`);
    expect(await page.frame('framed')?.content()).not.toContain('id="root"');
    await page.evaluate(`fetch('${url}/api/accounts', { method: 'POST', mode: 'no-cors', credentials: 'include',
      headers: { 'Content-Type': 'text/plain' }, body: '{"name":"Stolen"}' })`);
    const posted = page.waitForResponse(`${url}/api/accounts`);
    await page.evaluate("document.querySelector('form').submit()");
    expect((await posted).status()).toBe(403);
    await context.close();
    attacker.closeAllConnections();
    attacker.close();
    await once(attacker, 'close');
    expect(await accounts()).toBe(before);
  });
});

describe('an action that cannot be undone', () => {
  it('asks first, says what it will do, and does nothing when the person goes back', async () => {
    const open = await newPayment();
    const paid = await newPayment();
    await api().simulate(paid, 'confirmed');
    const endpoints = `/accounts/${shop.accountId}/test/v1/webhook-endpoints`;
    const { endpoint } = await clerk.call<{ endpoint: { id: string } }>('POST', endpoints, {
      url: 'http://127.0.0.1:9/removed',
    });
    await clerk.call('POST', `/accounts/${shop.accountId}/invitations`, { email: 'ina@shop.example', role: 'viewer' });
    const { context, page } = await visit(browser);
    await signIn(page, dashboard);
    const changes: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') changes.push(`${request.method()} ${request.url()}`);
    });
    const more = (item: string) => async (): Promise<void> => {
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    const press = (name: string | RegExp) => (): Promise<void> => page.getByRole('button', { name }).first().click();
    const cases = [
      ['developers/keys', press('Revoke Checkout server'), 'is refused'],
      [`payments/${open}`, press('Cancel'), 'No payer can pay it any more'],
      [`payments/${paid}`, press('Refund'), 'No money moves yet'],
      [`developers/endpoints/${endpoint.id}`, more('Pause'), 'Nothing is lost'],
      [`developers/endpoints/${endpoint.id}`, more('Remove'), 'its secret is deleted'],
      [`developers/endpoints/${endpoint.id}`, more('Rotate the secret'), 'refuses every request'],
      ['team', press('Withdraw the invitation of ina@shop.example'), 'no longer works'],
    ] as const;
    for (const [path, begin, says] of cases) {
      await turnTo(page, pathOf(path));
      await begin();
      const dialog = page.getByRole('dialog');
      expect((await dialog.textContent())?.replaceAll(/\s+/g, ' ')).toContain(says);
      await dialog.getByRole('button', { name: 'Go back' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect([path, changes]).toEqual([path, []]);
    }
    await context.close();
  });
});
