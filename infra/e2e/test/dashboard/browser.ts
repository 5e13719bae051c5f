import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { mailedLink } from './mails.ts';

/** As packages call it (infra/local/setup/chromium.mjs). */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
/** A busy machine takes its time. */
const PATIENCE_MS = 30_000;
const DESK = { width: 1_280, height: 800 };
/** The narrowest phone. */
export const PHONE = { width: 360, height: 740 };

function executable(): string {
  const named = process.env['CHROMIUM'];
  if (named !== undefined && named !== '') return named;
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter))
    for (const name of NAMES) if (existsSync(path.join(folder, name))) return path.join(folder, name);
  throw new Error('No Chromium is on the PATH. `npm test` installs it; CHROMIUM can name another.');
}

/** Root has no sandbox, and what is opened here is ours. */
export const openBrowser = (args: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: executable(),
    args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), ...args],
  });

/** A person before a browser of their own. */
export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser complained of on any page: scripts that failed, and whatever the CSP has refused. */
  readonly complaints: readonly string[];
}

export async function visit(
  browser: Browser,
  { viewport = DESK }: { readonly viewport?: typeof DESK } = {},
): Promise<Visitor> {
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce' });
  context.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  context.on('weberror', (failed) => complaints.push(failed.error().message));
  context.on('console', (message) => {
    // A response with an error status is one here; what the page does with it is what counts.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  return { context, page: await context.newPage(), complaints };
}

/** Waits until a page is complete. */
export async function complete(page: Page, heading?: string): Promise<void> {
  await page.getByRole('heading', { level: 1, ...(heading !== undefined && { name: heading }) }).waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
}

/** Goes on to another page as a link does: the application is not loaded again, which is most of the work. */
export async function turnTo(page: Page, target: string): Promise<void> {
  // The router hears of it at once. Two frames later the page before is gone.
  await page.evaluate(`new Promise((drawn) => {
    history.pushState(null, '', ${JSON.stringify(target)});
    requestAnimationFrame(() => requestAnimationFrame(drawn));
  })`);
  await complete(page);
}

/** Signs in, and waits until an account is open. */
export async function signIn(
  page: Page,
  { url, email, password }: { readonly url: string; readonly email: string; readonly password: string },
): Promise<void> {
  await page.goto(`${url}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('**/accounts/**');
}

export const PASSWORD = 'a few words in a row';

/** From the page for it to an account of an own: signs up, confirms the address by mail, signs in, names a business. */
export async function signUp(page: Page, { email, business }: { readonly email: string; readonly business: string }) {
  await page.getByLabel('Your name').fill('Nora Newcomer');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  await page.goto(await mailedLink(email, 'verify-email'));
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByLabel('Name').fill(business);
  await page.getByRole('button', { name: 'Create account' }).click();
}

/** What axe finds to be serious on a page, each with its element: in light colors everything, in dark ones contrast. */
export async function barriers(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // Only violations are described, and no page has frames: half of the time.
    const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode();
    const { violations } = await (colorScheme === 'dark' ? axe.withRules('color-contrast') : axe).analyze();
    for (const { id, impact, nodes } of violations)
      if (impact === 'serious' || impact === 'critical')
        for (const { html, failureSummary } of nodes)
          found.push(`${colorScheme}, ${id}: ${html}\n${failureSummary ?? ''}`);
  }
  return found;
}

/** Of WebP: texts stay sharp. */
const QUALITY = 75;

/** Writes what is on the screen to a file of WebP. */
export async function shoot(page: Page, file: string): Promise<void> {
  // The browser takes what is on the screen, which is a frame behind.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  const client = await page.context().newCDPSession(page);
  const { data } = await client.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await client.detach();
  await writeFile(file, Buffer.from(data, 'base64'));
}

/** By how many pixels a page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** What a camera reads from a code on the screen. */
export async function scanned(code: Locator): Promise<string> {
  await code.waitFor();
  const png = (await code.screenshot()).toString('base64');
  const reader = await code.page().context().newPage();
  // In the browser it takes a moment, in Jest's sandbox many seconds.
  await reader.addScriptTag({ path: createRequire(import.meta.url).resolve('jsqr') });
  const read = await reader.evaluate<{ readonly data: string } | null>(`(async () => {
    const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,${png}')).blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    canvas.drawImage(bitmap, 0, 0);
    const { width, height, data } = canvas.getImageData(0, 0, bitmap.width, bitmap.height);
    return jsQR(data, width, height);
  })()`);
  await reader.close();
  if (read === null) throw new Error('the code cannot be read');
  return read.data;
}
