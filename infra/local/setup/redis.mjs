// Redis from the PATH, else unpacked from Debian's packages into .tools/redis; no package of npm's ships a server.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isThere, run } from './run.mjs';
import { SetupError, step } from './say.mjs';

const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'];
const WAYS_OUT = 'Install Redis or Valkey (`apt-get install redis-server`, `brew install redis`), or name one that runs elsewhere with REDIS_URL.';

/** @param {string} tools */
export async function redis(tools) {
  if ((await isThere('redis-server')) || (await isThere('valkey-server'))) return;
  const folder = path.join(tools, 'redis');
  if (existsSync(folder)) return;
  if (!(await isThere('apt-get')) || !(await isThere('dpkg'))) throw new SetupError(`No Redis: neither redis-server nor valkey-server is on the PATH. ${WAYS_OUT}`);
  await step("Redis from Debian's packages", async () => {
    const downloads = path.join(tools, 'redis.download');
    rmSync(downloads, { recursive: true, force: true });
    mkdirSync(downloads, { recursive: true });
    try {
      await download(downloads);
      const fresh = path.join(downloads, 'unpacked');
      for (const name of readdirSync(downloads).filter((file) => file.endsWith('.deb'))) await run('dpkg', ['-x', path.join(downloads, name), fresh]);
      renameSync(fresh, folder);
    } catch (error) {
      throw new SetupError(`${error instanceof Error ? error.message : error}\n\nRedis could not be fetched from Debian's packages. ${WAYS_OUT}`);
    } finally {
      rmSync(downloads, { recursive: true, force: true });
    }
  });
}

/** With the machine's package lists; where they are absent or old, with fresh ones of our own, for which no root is needed. */
async function download(folder) {
  if (await run('apt-get', ['download', ...PACKAGES], { cwd: folder }).then(() => true, () => false)) return;
  for (const name of ['lists/partial', 'cache/archives/partial']) mkdirSync(path.join(folder, 'apt', name), { recursive: true });
  const own = [`Dir::State::lists=${folder}/apt/lists`, `Dir::Cache=${folder}/apt/cache`, 'APT::Sandbox::User=root'].flatMap((option) => ['-o', option]);
  // A hook of the machine's own may fail without root, though the lists are there: the download tells.
  await run('apt-get', [...own, 'update']).catch(() => undefined);
  await run('apt-get', [...own, 'download', ...PACKAGES], { cwd: folder });
}
