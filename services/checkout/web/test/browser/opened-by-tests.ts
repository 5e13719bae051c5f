import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../../../../../infra/e2e/test/dashboard/browser.ts';
import { open, type Opened, type Setting } from './opened.ts';

/**
 * Opens a page in each test of this file, and closes it after the test, which fails if the browser had a complaint: of
 * a script that failed, or of something that the policy has refused.
 */
export function openedByTests(): (setting: Setting) => Promise<Opened> {
  let browser: Browser;
  let opened: Opened | undefined;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterEach(async () => {
    const complaints = opened?.complaints;
    await opened?.close();
    opened = undefined;
    expect(complaints).toEqual([]);
  });
  afterAll(() => browser.close());
  return async (setting) => (opened = await open(browser, setting));
}
