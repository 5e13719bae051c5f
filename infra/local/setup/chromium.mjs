// Chromium, in which the tests open the pages: its headless shell, unpacked from Debian's packages into .tools. The
// whole browser does three times the work for a page; it is taken where the shell cannot be had.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { debian, hasDebian } from './debian.mjs';
import { isThere, run } from './run.mjs';
import { say, SetupError, step } from './say.mjs';

const PACKAGES = ['chromium-headless-shell', 'chromium-common'];
/** The whole browser, as packages call it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const WAYS_OUT =
  'The tests of the pages need Chromium or Chrome on the PATH, or its path in CHROMIUM: on Debian ' +
  '`apt-get install chromium`.';
const OPTIONS = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];

/**
 * @param {string} tools
 * @returns {Promise<string | undefined>} the browser's path; undefined where it is on the PATH
 */
export async function chromium(tools) {
  if (process.env.CHROMIUM) return undefined;
  const folder = path.join(tools, 'chromium');
  if ((await hasDebian()) && !existsSync(folder))
    await step("Chromium's shell from Debian's packages", () => debian(PACKAGES, folder)).catch(() =>
      say('    A whole Chromium is used instead.'),
    );
  const shell = path.join(folder, 'usr', 'lib', 'chromium', 'chromium-headless-shell');
  // Where no browser is installed, its libraries may be missing.
  if (await isThere(shell)) return shell;
  for (const name of NAMES) if (await isThere(name)) return undefined;
  if (process.getuid?.() !== 0 || !(await hasDebian())) throw new SetupError(WAYS_OUT);
  await step("Chromium from Debian's packages", installWhole);
  return undefined;
}

async function installWhole() {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = () => run('apt-get', ['install', ...OPTIONS, 'chromium'], { env });
  try {
    await install().catch(async () => {
      // The lists of packages are absent or old.
      await run('apt-get', ['update'], { env });
      await install();
    });
  } catch (error) {
    throw new SetupError(`${error instanceof Error ? error.message : error}\n\n${WAYS_OUT}`);
  }
}
