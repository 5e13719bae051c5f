import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readStack } from '@pf/testing';
import type { Browser } from 'playwright-core';
import { barriers, complete, openBrowser, overflow, PHONE, signIn, visit, type Visitor } from './browser.ts';
import { INSIDE, OUTSIDE } from './pages.ts';

const { dashboard, accountId } = readStack();
const { url } = dashboard;

let browser: Browser;
let visitor: Visitor;
beforeAll(async () => {
  browser = await openBrowser();
  visitor = await visit(browser, { viewport: PHONE });
});
afterAll(() => browser.close());

/** What is wrong with a page on a phone, once it is complete. */
async function faults(path: string, heading: string): Promise<readonly string[]> {
  const { page, complaints } = visitor;
  const before = complaints.length;
  await page.goto(`${url}${path}`);
  await complete(page, heading);
  const found = [...(await barriers(page))];
  const pixels = await overflow(page);
  if (pixels > 0) found.push(`it is ${pixels} pixels wider than the phone`);
  return [...found, ...complaints.slice(before)];
}

describe('a page outside of accounts', () => {
  it.each([...OUTSIDE, ['/no-such-page', 'Page not found']] as const)(
    'has no serious accessibility violation, fits on a phone and violates no CSP rule: %s',
    async (path, heading) => {
      expect(await faults(path, heading)).toEqual([]);
    },
  );
});

describe('a page for signed-in people', () => {
  beforeAll(() => signIn(visitor.page, dashboard));

  it.each(INSIDE)(
    'has no serious accessibility violation, fits on a phone and violates no CSP rule: %s',
    async (page, heading) => {
      expect(await faults(`/accounts/${accountId}/test/${page}`, heading)).toEqual([]);
    },
  );

  it('has no serious accessibility violation, fits on a phone and violates no CSP rule: /new-account', async () => {
    expect(await faults('/new-account', 'Name your business')).toEqual([]);
  });
});
