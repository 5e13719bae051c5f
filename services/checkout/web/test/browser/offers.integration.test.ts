import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { barriers, overflow } from '../../../../../infra/e2e/test/dashboard/browser.ts';
import { EvmWallet, type Opened, type Setting, status } from './opened.ts';
import { openedByTests } from './opened-by-tests.ts';

const visitWith = openedByTests();
/** The page of a payment link. */
const visitOffers = (search = '', prepare?: Setting['prepare']): Promise<Opened> =>
  visitWith({
    family: 'base',
    install: new EvmWallet('base').install,
    kind: 'link',
    search,
    ...(prepare && { prepare }),
  });
const offers = (page: Page) => page.locator('.offers button');

describe('the page of a payment link', () => {
  it('offers the ways to pay in words, and explains those that it cannot check', async () => {
    const { page } = await visitOffers();
    await offers(page).first().waitFor();
    expect(await offers(page).allTextContents()).toEqual([
      'USDC on Base Sepoliadigital US dollars',
      'USDC on Solana devnetdigital US dollars',
      'USDC on eip155:999999This page cannot check this network, so you cannot pay this way here.',
    ]);
    expect(
      await offers(page).evaluateAll((all) => all.map((one) => (one as unknown as { disabled: boolean }).disabled)),
    ).toEqual([false, false, true]);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('12.345678');
    expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
    expect(new URL(page.url()).hash).toBe('');
  });

  it('leads to the payment that was chosen, and back to the others', async () => {
    const { page, standIn } = await visitOffers('?lang=en&return=https://shop.example/o/7');
    await offers(page).first().click();
    await status(page, 'Waiting for your payment').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/pay/${standIn.intent.id}`);
    expect(new URL(page.url()).hash).toBe('');
    expect(await page.getByRole('link', { name: "Back to Nora's Bikes" }).getAttribute('href')).toBe(
      'https://shop.example/o/7',
    );
    await page.getByRole('link', { name: 'Choose another network' }).click();
    await offers(page).first().waitFor();
    await page.getByText('You have begun to pay this way.').waitFor();
    expect(standIn.chosen).toEqual([0]);
    await offers(page).first().click();
    await status(page, 'Waiting for your payment').waitFor();
    standIn.become({ state: 'pending' });
    await status(page, 'Sent').waitFor();
    // After a payment no other one should be chosen.
    expect(await page.getByRole('link', { name: 'Choose another network' }).count()).toBe(0);
    expect(standIn.chosen).toEqual([0, 0]);
  });

  it.each([
    ['paid', 'Paid'],
    ['cancelled', 'Cancelled'],
    ['expired', 'The time has run out'],
  ] as const)('says that the link is %s', async (state, title) => {
    const { page, standIn } = await visitOffers();
    await offers(page).first().waitFor();
    const intents = [{ offer: 0, intentId: standIn.intent.id }];
    const paid = state === 'paid' ? { intents, paidBy: standIn.intent.id } : {};
    standIn.paymentLink = { ...standIn.paymentLink, state, ...paid };
    await status(page, title).waitFor();
    expect(await offers(page).count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Receipt' }).count()).toBe(state === 'paid' ? 1 : 0);
  });

  it('says what it is now when an offer can no longer be chosen', async () => {
    const { page, standIn } = await visitOffers();
    await offers(page).first().waitFor();
    standIn.paymentLink = { ...standIn.paymentLink, state: 'expired' };
    standIn.refuse('choose', { status: 409, code: 'payment_link.invalid_state' });
    await offers(page).first().click();
    await status(page, 'The time has run out').waitFor();
  });

  it('lets a person try again where the service is unavailable', async () => {
    const { page, standIn } = await visitOffers();
    await offers(page).first().waitFor();
    standIn.refuse('choose', { status: 503, code: 'service.unavailable' });
    await offers(page).first().click();
    await page.getByText('The network cannot be reached right now').waitFor();
    await offers(page).first().click();
    await status(page, 'Waiting for your payment').waitFor();
  });

  it('says so where the link is not whole', async () => {
    const { page } = await visitOffers();
    await offers(page).first().waitFor();
    await page.evaluate('sessionStorage.clear()');
    await page.reload();
    await status(page, 'This link cannot be opened').waitFor();
  });
});
