import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readStack, until } from '@pf/testing';
import type { Browser, Page } from 'playwright-core';
import { openBrowser, visit } from './browser.ts';

const { accountId, dashboard } = readStack();
/** More than any page has of what can be focused before what is looked for. */
const STEPS = 60;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** What a screen reader calls the element that has the focus. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const element = document.activeElement;
    const label = element?.getAttribute('aria-label') ?? element?.labels?.[0]?.textContent;
    return (label ?? element?.textContent ?? '').trim();
  })()`);

/** Waits until the focus is on what is called so: it moves a moment after what it moves to is there. */
const focusOn = (page: Page, name: RegExp): Promise<unknown> =>
  until(`the focus on ${String(name)}`, async () => name.test(await focused(page)));

async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (name.test(now)) return;
    passed.push(now);
  }
  throw new Error(`${String(name)} cannot be reached with Tab, only: ${passed.join(' | ')}`);
}

describe('the dashboard', () => {
  it('can be used with the keyboard alone, from the sign-in to a key that is revoked', async () => {
    const { context, page, complaints } = await visit(browser);
    const keys = page.keyboard;
    await page.goto(`${dashboard.url}/sign-in`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await focusOn(page, /^E-mail$/);
    await keys.type(dashboard.email);
    await tabTo(page, /^Password$/);
    await keys.type(dashboard.password);
    await keys.press('Enter');
    await page.waitForURL('**/accounts/**');

    await page.goto(`${dashboard.url}/accounts/${accountId}/test/home`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await keys.press('Tab');
    await focusOn(page, /^Skip to the page$/);
    await keys.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await focusOn(page, /^Search$/);
    await keys.type('api keys');
    await keys.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    // A screen reader reads out where its user has come to.
    await focusOn(page, /^API keys$/);

    await tabTo(page, /^New test key$/);
    await keys.press('Enter');
    await page.getByRole('dialog').waitFor();
    await focusOn(page, /^Name/);
    await keys.type('By keyboard');
    await keys.press('Enter');
    await page.getByRole('heading', { name: 'Copy your key now' }).waitFor();
    await tabTo(page, /^I have copied it$/);
    await keys.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await tabTo(page, /^Revoke By keyboard$/);
    await keys.press('Enter');
    await page.getByRole('dialog').waitFor();
    await keys.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await focusOn(page, /^Revoke By keyboard$/);
    await keys.press('Enter');
    await tabTo(page, /^Revoke key$/);
    await keys.press('Enter');
    await page.getByText('The key is revoked.').first().waitFor();
    await context.close();
    expect(complaints).toEqual([]);
  });
});
