// Chromium, in which the tests open the dashboard: from the PATH, else installed from Debian's packages. It needs too
// many libraries to be unpacked into .tools as the others are.
import { hasDebian } from './debian.mjs';
import { isThere, run } from './run.mjs';
import { SetupError, step } from './say.mjs';

/** As packages call it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const WAYS_OUT =
  'The tests of the dashboard need Chromium or Chrome on the PATH, or its path in CHROMIUM: on Debian ' +
  '`apt-get install chromium`.';
const OPTIONS = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];

export async function chromium() {
  if (process.env.CHROMIUM) return;
  for (const name of NAMES) if (await isThere(name)) return;
  if (process.getuid?.() !== 0 || !(await hasDebian())) throw new SetupError(WAYS_OUT);
  await step("Chromium from Debian's packages", async () => {
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
  });
}
