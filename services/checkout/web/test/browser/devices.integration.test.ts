import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { barriers, overflow } from '../../../../../infra/e2e/test/dashboard/browser.ts';
import { ACCOUNT, EvmWallet, HASH, status } from './opened.ts';
import { openedByTests } from './opened-by-tests.ts';
import { TERMS } from './stand-in.ts';

const visitWith = openedByTests();
const confirmed = { state: 'confirmed', confirmedAt: '2026-11-22T12:00:00.000Z' } as const;
const choose = (page: Page): Promise<void> => page.getByRole('button', { name: 'Amber' }).click();
const pay = (page: Page): Promise<void> => page.getByRole('button', { name: /^Pay 12/ }).click();
const words = (page: Page): Promise<string> => page.locator('.status .words').innerText();

/** What a browser's translation does: each text is moved into elements of its own, and comes back in other words. */
const translate = (page: Page): Promise<unknown> =>
  page.evaluate(`{
    const walker = document.createTreeWalker(document.querySelector('#root'), NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      if (text.parentElement.closest('[translate=no]') || text.textContent.trim() === '') continue;
      const font = document.createElement('font');
      font.textContent = '«' + text.textContent + '»';
      text.replaceWith(font);
    }
  }`);

describe('the payment page in a browser', () => {
  it('works without what the oldest browsers of the build lack', async () => {
    const wallet = new EvmWallet('base');
    const { page, standIn } = await visitWith({
      family: 'base',
      search: '?return=https://shop.example/o/7',
      install: async (to) => {
        await wallet.install(to);
        await to.addInitScript('delete URL.parse; delete AbortSignal.any; delete Promise.try');
      },
    });
    await page.getByRole('link', { name: "Back to Nora's Bikes" }).waitFor();
    await page.getByRole('link', { name: "Contact Nora's Bikes" }).waitFor();
    await choose(page);
    await pay(page);
    await status(page, 'Sent').waitFor();
    standIn.become(confirmed);
    await status(page, 'Paid').waitFor();
  });

  it('says what is so when the browser translates it', async () => {
    const wallet = new EvmWallet('base', {
      eth_sendTransaction: () => {
        throw new Error('Internal error');
      },
    });
    const { page, standIn } = await visitWith({ family: 'base', install: wallet.install });
    await page.getByRole('button', { name: 'Amber' }).waitFor();
    await translate(page);
    expect(await words(page)).toContain('«Waiting for your payment»');
    await choose(page);
    await page.getByRole('button', { name: /^Pay 12/ }).waitFor();
    expect(await words(page)).toContain('Ready to pay');
    await translate(page);
    await page.locator('.paying .primary').click();
    await status(page, 'Your wallet may have sent it').waitFor();
    expect(await words(page)).not.toContain('«');
    await translate(page);
    standIn.become({ ...confirmed, txSignature: HASH, fulfiller: ACCOUNT });
    await page.locator('.status.good').waitFor();
    expect(await words(page)).toMatch(/^Paid\n/);
    await page.locator('.receipt').waitFor();
  });

  it('leaves amounts, names and addresses as they are when the browser translates it', async () => {
    const { page } = await visitWith({ family: 'base' });
    await status(page, 'Waiting').waitFor();
    await translate(page);
    expect(await page.locator('#amount .number').innerText()).toBe('12.345678');
    expect(await page.locator('.payee bdi').innerText()).toBe("Nora's Bikes");
    expect(await page.locator('.summary .groups .hidden').first().textContent()).toBe(TERMS.base.requestor);
  });

  it('says beside the address what a payment by hand means, unless one pays', async () => {
    const { page, standIn } = await visitWith({ family: 'base', viewport: { width: 320, height: 640 } });
    const hint = page.getByText('What you send there by hand does not count');
    await hint.waitFor();
    expect(await hint.textContent()).toContain("contact Nora's Bikes");
    expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
    standIn.intent = { ...standIn.intent, attribution: 'amount' };
    await page.reload();
    await page.locator('.transfer').waitFor();
    expect(await hint.count()).toBe(0);
  });

  it('gives the whole link to whoever has the wallet in another browser', async () => {
    const { page, standIn } = await visitWith({ family: 'base', search: '?lang=en' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the whole link' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(standIn.link('?lang=en'));
    expect(await page.evaluate('document.documentElement.innerHTML')).not.toContain(standIn.secret);
  });

  it('goes on saying that it is sent where no node ever shows what the wallet has named', async () => {
    const wallet = new EvmWallet('base');
    const { page, standIn } = await visitWith({
      family: 'base',
      install: async (to) => {
        await to.clock.install();
        await wallet.install(to);
      },
      prepare: (prepared) => {
        for (let times = 0; times < 200; times += 1)
          prepared.refuse('submit', { status: 503, code: 'transaction.not_visible', details: { retry_after: 1 } });
      },
    });
    await choose(page);
    await pay(page);
    await status(page, 'Your wallet has sent it').waitFor();
    for (let minutes = 0; minutes < 20; minutes += 1) await page.clock.fastForward('01:00');
    expect(await words(page)).toMatch(/^Your wallet has sent it/);
    await page.getByRole('button', { name: 'Start again' }).waitFor();
    expect(await page.getByRole('button', { name: 'Amber' }).count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    standIn.become({ ...confirmed, txSignature: HASH, fulfiller: ACCOUNT });
    await page.clock.fastForward('01:00');
    await status(page, 'Paid').waitFor();
  });
});
