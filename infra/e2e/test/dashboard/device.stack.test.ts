import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readStack } from '@pf/testing';
import type { Browser } from 'playwright-core';
import { barriers, openBrowser, overflow, PHONE, signIn, visit, type Visitor } from './browser.ts';
import { beginDevice, pollDevice } from './devices.ts';

const { dashboard } = readStack();
const { url } = dashboard;

let browser: Browser;
let visitor: Visitor;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
afterEach(async () => {
  await visitor.context.close();
  expect(visitor.complaints).toEqual([]);
});

describe('/device in the browser', () => {
  it('asks the person to sign in, shows which program requests what, and connects it', async () => {
    visitor = await visit(browser, { viewport: PHONE });
    const { page } = visitor;
    const name = `<b>pf</b> on laptop ${Date.now()}`;
    const { deviceCode, userCode, verificationUrlComplete } = await beginDevice(name);
    await page.goto(verificationUrlComplete);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('E-mail').fill(dashboard.email);
    await page.getByLabel('Password').fill(dashboard.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL('**/device');
    expect(await page.getByLabel('Code').inputValue()).toBe(userCode);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    const text = await page.getByRole('main').textContent();
    for (const part of [
      name,
      userCode,
      dashboard.email,
      'owner',
      'Did you start this yourself?',
      'show that it is you',
    ])
      expect(text).toContain(part);
    // For some seconds the button that was pressed is announced by an element that axe takes for a picture.
    await page.locator('[data-live-announcer] [role="img"]').first().waitFor({ state: 'detached' });
    expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
    // Two clicks are not enough: whoever holds the open browser would approve with them.
    await page.getByLabel('Password').fill('a wrong password');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('alert').getByText('The e-mail address or the password is wrong.').waitFor();
    await page.getByLabel('Password').fill(dashboard.password);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Connected' }).waitFor();
    const { secret = '' } = await pollDevice(deviceCode);
    const headers = { authorization: `Bearer ${secret}` };
    expect((await fetch(`${url}/api/session`, { headers })).status).toBe(200);

    // The profile lists it, and takes it back.
    await page.goto(url);
    await page.waitForURL('**/test/home');
    await page.goto(page.url().replace(/home$/, 'profile'));
    await page.getByRole('button', { name: `Revoke ${name}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await fetch(`${url}/api/session`, { headers })).status).toBe(401);
  });

  it('says when no program waits for the code, and denies', async () => {
    visitor = await visit(browser);
    const { page } = visitor;
    await signIn(page, dashboard);
    await page.goto(`${url}/device`);
    await page.getByLabel('Code').fill('BBBB-BBBB');
    await page.getByRole('button', { name: 'Continue' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('No program is waiting for this code.');
    const { deviceCode, userCode } = await beginDevice('a program of another');
    await page.getByLabel('Code').fill(userCode.toLowerCase());
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'Denied' }).waitFor();
    expect((await pollDevice(deviceCode)).error?.code).toBe('device.access_denied');
  });
});
