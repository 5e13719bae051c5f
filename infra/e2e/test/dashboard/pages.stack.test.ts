import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readStack } from '@pf/testing';
import type { Browser } from 'playwright-core';
import { barriers, openBrowser, overflow, PHONE, signIn, visit } from './browser.ts';

const { dashboard, accountId } = readStack();
const { url } = dashboard;

/** Every page, with what is on it when it is complete. */
const OUTSIDE = [
  ['/sign-in', 'Sign in'],
  ['/sign-up', 'Create your account'],
  ['/forgot-password', 'Set a new password'],
  ['/reset-password', 'Set a new password'],
  ['/verify-email', 'Confirm your e-mail address'],
  ['/accept-invitation', 'You are invited'],
  ['/no-such-page', 'Page not found'],
] as const;
const INSIDE = [
  ['home', 'Home'],
  ['payments', 'Payments'],
  ['attention', 'Needs attention'],
  ['developers/quickstart', 'Quickstart'],
  ['developers/keys', 'API keys'],
  ['developers/endpoints', 'Webhooks'],
  ['developers/deliveries', 'Webhooks'],
  ['developers/replays', 'Webhooks'],
  ['developers/events', 'Events'],
  ['developers/requests', 'Requests'],
  ['team', 'Team'],
  ['profile', 'Profile and security'],
] as const;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

describe('every page in the browser', () => {
  it('has no serious barrier, light and dark, fits on a phone and breaks no rule of the CSP', async () => {
    const { context, page, complaints } = await visit(browser, { viewport: PHONE });
    const found: string[] = [];
    const look = async (path: string, heading: string): Promise<void> => {
      await page.goto(`${url}${path}`);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      for (const barrier of await barriers(page)) found.push(`${path}: ${barrier}`);
      const pixels = await overflow(page);
      if (pixels > 0) found.push(`${path} is ${pixels} pixels wider than the phone`);
    };
    for (const [path, heading] of OUTSIDE) await look(path, heading);
    await signIn(page, dashboard);
    for (const [path, heading] of INSIDE) await look(`/accounts/${accountId}/test/${path}`, heading);
    await look('/new-account', 'Name your business');
    await context.close();
    expect([...found, ...complaints]).toEqual([]);
    // Twenty pages, each checked twice, on a machine that is busy with other tests.
  }, 400_000);
});
