import { describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { barriers, overflow } from '../../../../../infra/e2e/test/dashboard/browser.ts';
import type { Intent } from '../../src/api/schemas.ts';
import { ACCOUNT, EvmWallet, HASH, status } from './opened.ts';
import { openedByTests } from './opened-by-tests.ts';
import { TERMS } from './stand-in.ts';
import { installEvm } from './wallets.ts';

const visitWith = openedByTests();
const paid = { state: 'confirmed', confirmedAt: '2026-11-22T12:00:00.000Z', fulfiller: ACCOUNT, txSignature: HASH };
const wrong = { txSignature: HASH, sender: ACCOUNT, amount: '10.00', differs: ['amount'] };
/** The narrowest phone at 200 %, or a desk at 400 %. */
const NARROW = { width: 320, height: 640 };

describe('the payment page', () => {
  it.each<readonly [string | RegExp, Partial<Intent>]>([
    ['Waiting for your payment', {}],
    ['Please sign again', { retryRequired: true }],
    ['Sent', { state: 'pending', fulfiller: ACCOUNT, txSignature: HASH }],
    ['Paid', paid as Partial<Intent>],
    ['The payment failed', { state: 'failed' }],
    ['The time has run out', { state: 'expired' }],
    [/your payment is on its way/, { state: 'expired', pendingAtExpiry: true }],
    ['Cancelled', { state: 'cancelled' }],
  ])('shows to all: %s', async (title, changes) => {
    const wallet = new EvmWallet('base');
    const { page } = await visitWith({ family: 'base', changes, install: wallet.install, viewport: NARROW });
    await status(page, title).waitFor();
    expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
  });

  it('shows the whole recipient, in groups, and copies it', async () => {
    const { page } = await visitWith({ family: 'base' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy Recipient’s address' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(TERMS.base.requestor);
    expect((await page.locator('.summary .groups [aria-hidden]').first().textContent())?.replaceAll(' ', '')).toBe(
      TERMS.base.requestor,
    );
  });

  it.each([
    ['base', 'Base Sepolia, not Ethereum', 1],
    ['solana', 'Solana devnet', 2],
    ['tempo', 'Tempo Moderato, not Ethereum', 1],
  ] as const)('offers a plain transfer of an intent by amount, on %s', async (family, network, codes) => {
    const { page, standIn } = await visitWith({ family, changes: { attribution: 'amount' }, viewport: NARROW });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const way = page.locator('.transfer');
    await way.locator('.qr-image').waitFor();
    expect(await way.locator('.fact dd').first().textContent()).toBe(network);
    const copied = async (what: string): Promise<unknown> => {
      await way.getByRole('button', { name: `Copy ${what}` }).click();
      await way.getByText('Copied').waitFor();
      return page.evaluate('navigator.clipboard.readText()');
    };
    expect(await copied('Exact amount')).toBe('12.345678');
    await way.getByText('Copied').waitFor({ state: 'detached' });
    expect(await copied('Address to send to')).toBe(TERMS[family].requestor);
    expect(await way.textContent()).toContain("Nora's Bikes sees it");
    expect(await way.locator('.tabs button').count()).toBe(codes === 1 ? 0 : codes);
    expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
    standIn.become(paid as Partial<Intent>);
    await status(page, 'Paid').waitFor();
  });

  it('keeps the wallets before a plain transfer, which opens when it is wanted', async () => {
    const wallet = new EvmWallet('base');
    const { page } = await visitWith({ family: 'base', changes: { attribution: 'amount' }, install: wallet.install });
    await page.locator('.wallets button').waitFor();
    expect(await page.locator('.transfer').count()).toBe(0);
    const names = await page.locator('.ways button').allTextContents();
    expect(names.slice(0, 3)).toEqual(['Amber', 'From an exchange or any wallet', 'Scan with your phone']);
    await page.getByRole('button', { name: 'From an exchange or any wallet' }).click();
    await page.locator('.transfer').waitFor();
  });

  it('offers no plain transfer where none pays', async () => {
    const { page } = await visitWith({ family: 'base' });
    await page.locator('.qr-image').waitFor();
    expect(await page.getByText('From an exchange or any wallet').count()).toBe(0);
  });

  it('says after the end that a plain transfer still counts', async () => {
    const changes = { attribution: 'amount', state: 'expired' } as const;
    const { page } = await visitWith({ family: 'base', changes, viewport: NARROW });
    await status(page, 'The time has run out').waitFor();
    await page.getByText('If you have already sent exactly 12.345678').waitFor();
    expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
  });

  it('says what arrived when it is not what was asked for, now and after a reload', async () => {
    const { page, standIn } = await visitWith({ family: 'base' });
    await status(page, 'Waiting').waitFor();
    standIn.become({}, 'intent.mismatched_payment', wrong);
    const words = page.locator('.status', { hasText: 'Something else arrived' });
    await words.waitFor();
    expect(await words.textContent()).toContain('10.00');
    await page.reload();
    await words.waitFor();
  });

  it('says what has arrived where it was more than was asked for', async () => {
    const more = { ...paid, amountReceived: '13', amountReceivedBaseUnits: '13000000' };
    const { page } = await visitWith({ family: 'base', changes: more as Partial<Intent>, viewport: NARROW });
    await status(page, 'Paid').waitFor();
    expect(await page.locator('.status').textContent()).toContain('has received 13.00\u00a0USDC');
    await page.getByText('You were asked for 12.345678\u00a0USDC. If you paid more by mistake').waitFor();
    expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
  });

  it('says that a payment was late, and that one came twice', async () => {
    const { page, standIn } = await visitWith({ family: 'base', changes: { state: 'expired', pendingAtExpiry: true } });
    await status(page, /on its way/).waitFor();
    standIn.become(paid as Partial<Intent>);
    standIn.become({}, 'intent.late_payment', { ...wrong, differs: [] });
    await status(page, /a little late/).waitFor();
    standIn.become({}, 'intent.extra_payment', { ...wrong, differs: [] });
    await status(page, 'Paid twice').waitFor();
  });

  it('continues when the stream breaks, and polls when no stream opens', async () => {
    const { page, standIn } = await visitWith({ family: 'base' });
    await status(page, 'Waiting').waitFor();
    standIn.breakStreams();
    standIn.intent = { ...standIn.intent, state: 'pending', updatedAt: new Date(Date.now() + 60_000).toISOString() };
    await status(page, 'Sent').waitFor();
    for (let times = 0; times < 4; times += 1) standIn.refuse('stream', { status: 503, code: 'service.unavailable' });
    standIn.breakStreams();
    standIn.intent = { ...standIn.intent, state: 'failed', updatedAt: new Date(Date.now() + 120_000).toISOString() };
    await status(page, 'The payment failed').waitFor();
  });

  it('treats names and icons of wallets as text and images only', async () => {
    const wallet = new EvmWallet('base');
    const name = '<img src=x onerror=alert(1)>\u202egnol yrev dna';
    const { page } = await visitWith({ family: 'base', install: (to) => installEvm(to, wallet.answer, { name }) });
    const button = page.locator('.wallets button');
    await button.waitFor();
    const text = await button.textContent();
    expect(text).toContain('<img src=x onerror=alert(1)>');
    expect(text).not.toMatch(/\p{C}/u);
    expect(await button.locator('img').count()).toBe(1);
  });

  it('offers the code where the browser plays no sounds', async () => {
    const { page } = await visitWith({
      family: 'base',
      install: async (to) => void (await to.addInitScript('delete window.AudioContext')),
    });
    const play = page.getByRole('button', { name: 'Play to a phone nearby' });
    await play.click();
    await page.getByText('This device cannot play the payment. Scan the code instead.').waitFor();
    expect(await play.count()).toBe(0);
  });

  it('leads back to registered origins only', async () => {
    const changes = paid as Partial<Intent>;
    const { page, standIn } = await visitWith({ family: 'base', changes, search: '?return=https://shop.example/o/7' });
    const back = page.getByRole('link', { name: "Back to Nora's Bikes" });
    await back.waitFor();
    expect(await back.getAttribute('href')).toBe('https://shop.example/o/7');
    await page.goto(standIn.link('?return=https://evil.example/'));
    await status(page, 'Paid').waitFor();
    expect(await back.count()).toBe(0);
  });

  it('says so where the link is not whole, and where the payment does not load', async () => {
    const { page, standIn } = await visitWith({ family: 'base' });
    await status(page, 'Waiting').waitFor();
    await page.evaluate('sessionStorage.clear()');
    await page.reload();
    await status(page, 'This link cannot be opened').waitFor();
    standIn.refuse('fetch', { status: 503, code: 'service.unavailable' });
    await page.goto(standIn.link('?again'));
    await page.getByRole('button', { name: 'Load again' }).click();
    await status(page, 'Waiting').waitFor();
  });

  it('shows what has changed between a render and its effects', async () => {
    // The answers come while the first render waits to be painted, as on a busy phone.
    const holdPaint = `{
      const held = [];
      const { setTimeout } = window;
      window.requestAnimationFrame = (callback) => held.push(callback);
      window.setTimeout = (callback, ms) => (ms < 100 ? held.push(callback) : setTimeout(callback, ms));
      window.paint = () => held.splice(0).forEach((callback) => callback(performance.now()));
    }`;
    const { page } = await visitWith({
      family: 'base',
      install: async (to) => void (await to.addInitScript(holdPaint)),
      prepare: (standIn) => {
        for (const route of ['fetch', 'stream'] as const) standIn.refuse(route, { status: 401, code: 'auth.invalid' });
      },
    });
    await page.waitForLoadState('networkidle');
    await page.evaluate('paint()');
    await status(page, 'This link cannot be opened').waitFor();
  });

  it('shows the time near the end', async () => {
    const expiresAt = new Date(Date.now() + 120_000).toISOString();
    const { page } = await visitWith({ family: 'tempo', changes: { expiresAt } });
    expect(await page.getByRole('timer').textContent()).toMatch(/^[12]:\d\d$/);
  });

  it('hides the time until near the end', async () => {
    const { page } = await visitWith({ family: 'tempo' });
    await status(page, 'Waiting').waitFor();
    expect(await page.getByRole('timer').count()).toBe(0);
  });

  it('speaks the languages, from right to left where they run so', async () => {
    const { page } = await visitWith({ family: 'solana', search: '?lang=ar', viewport: NARROW });
    await status(page, 'في انتظار دفعتك').waitFor();
    expect(await page.evaluate('document.documentElement.dir')).toBe('rtl');
    expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
    await page.getByRole('combobox').selectOption('ja');
    await status(page, 'お支払いをお待ちしています').waitFor();
    expect(await page.evaluate('document.documentElement.dir')).toBe('ltr');
    await page.goto(page.url().replace(/\?.*/, ''));
    await status(page, 'お支払いをお待ちしています').waitFor();
  });

  it('keeps the secret out of its address, and in the code for another device', async () => {
    const { page, standIn } = await visitWith({ family: 'base' });
    await page.locator('.qr-image').waitFor();
    expect(page.url()).not.toContain(standIn.secret);
    expect(await page.evaluate('document.documentElement.innerHTML')).not.toContain(standIn.secret);
  });

  it('has links into the apps on a phone without a wallet', async () => {
    const { page, standIn } = await visitWith({ family: 'solana' });
    await page.close();
    const context = await (page.context().browser() as Browser).newContext({
      hasTouch: true,
      isMobile: true,
      viewport: NARROW,
    });
    const phone = await context.newPage();
    await phone.goto(standIn.link());
    const href = await phone.getByRole('link', { name: 'Phantom' }).getAttribute('href');
    expect(href).toBe(
      `https://phantom.app/ul/browse/${encodeURIComponent(standIn.link())}?ref=${encodeURIComponent(standIn.origin)}`,
    );
    await context.close();
  });
});
