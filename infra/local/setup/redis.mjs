// Redis from the PATH, else unpacked from Debian's packages into .tools/redis; no package of npm's ships a server.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { debian, hasDebian } from './debian.mjs';
import { isThere } from './run.mjs';
import { SetupError, step } from './say.mjs';

const PACKAGES = ['redis-server', 'redis-tools'];
/** The libraries that it loads and a machine may lack. Their names have versions, which differ between releases. */
const LIBRARIES = /^lib(atomic|jemalloc|lua|lzf|ssl)/;
const WAYS_OUT =
  'Install Redis or Valkey (`apt-get install redis-server`, `brew install redis`), or name one that runs ' +
  'elsewhere with REDIS_URL.';

/** @param {string} tools */
export async function redis(tools) {
  if ((await isThere('redis-server')) || (await isThere('valkey-server'))) return;
  const folder = path.join(tools, 'redis');
  if (existsSync(folder)) return;
  if (!(await hasDebian())) throw new SetupError(`Neither redis-server nor valkey-server is on the PATH. ${WAYS_OUT}`);
  await step("Redis from Debian's packages", async () => {
    try {
      await debian(PACKAGES, folder, LIBRARIES);
    } catch (error) {
      throw new SetupError(
        `${error instanceof Error ? error.message : error}\n\n` +
          `Redis could not be fetched from Debian's packages. ${WAYS_OUT}`,
      );
    }
  });
}
