import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readStack } from '@pf/testing';
import type { Browser, Page } from 'playwright-core';
import { openBrowser, signIn, visit } from './browser.ts';
import { beginDevice } from './devices.ts';
import { clerkOf, newMember } from './shop.ts';

const { accountId, dashboard } = readStack();
const { url } = dashboard;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** Gives the browser a device that keeps passkeys and recognizes its person (CDP, domain WebAuthn). */
async function plugIn(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
}

/** Makes the browser one that offers no passkeys by itself, until the page is loaded again. */
const withoutOffer = (page: Page): Promise<unknown> =>
  page.evaluate('void (PublicKeyCredential.isConditionalMediationAvailable = async () => false)');

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^You:/ }).click();
  const signedOut = page.waitForURL('**/sign-in');
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await signedOut;
}

describe('a passkey in the browser', () => {
  it('is added, signs in, approves a program, and no longer signs in once it is removed', async () => {
    const owner = await clerkOf(dashboard);
    const person = await newMember(url, owner, { accountId }, 'viewer');
    const { context, page, complaints } = await visit(browser);
    await plugIn(page);
    await signIn(page, { url, ...person });

    const profile = `${url}/accounts/${accountId}/test/profile`;
    await page.goto(profile);
    await page.getByText('You have none.').waitFor();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name').fill('Laptop');
    await page.getByRole('dialog').getByLabel('Password').fill(person.password);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('row', { name: /Laptop.*Never/ }).waitFor();

    // The field for the e-mail address offers it, and the device accepts at once.
    const signedIn = page.waitForResponse('**/api/sign-in/passkey');
    await signOut(page);
    expect((await signedIn).status()).toBe(200);
    await page.waitForURL('**/accounts/**');
    await withoutOffer(page);
    await signOut(page);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL('**/accounts/**');

    // In place of the password.
    const { verificationUrlComplete } = await beginDevice('a program to approve');
    await page.goto(verificationUrlComplete);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Approve with a passkey' }).click();
    await page.getByRole('heading', { name: 'Connected' }).waitFor();

    await page.goto(profile);
    await page.getByRole('row', { name: /Laptop/ }).waitFor();
    expect(await page.getByRole('row', { name: /Laptop.*Never/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Remove Laptop' }).click();
    const asked = page.getByRole('dialog');
    expect(await asked.textContent()).toContain('It no longer signs you in.');
    await asked.getByLabel('Password').fill(person.password);
    await asked.getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByText('You have none.').waitFor();
    await withoutOffer(page);
    await signOut(page);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('alert').getByText('This passkey was not accepted.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await context.close();
    expect(complaints).toEqual([]);
  });
});
