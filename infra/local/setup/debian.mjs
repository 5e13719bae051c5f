// Debian's packages, unpacked into a folder: no root, nothing installed.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isThere, run } from './run.mjs';

/** @returns {Promise<boolean>} whether this machine has what it takes */
export const hasDebian = async () => (await isThere('apt-get')) && (await isThere('dpkg'));

/**
 * Unpacks packages into a folder that is not there yet; all of them or nothing.
 * @param {string[]} packages
 * @param {string} folder
 */
export async function debian(packages, folder) {
  const downloads = `${folder}.download`;
  rmSync(downloads, { recursive: true, force: true });
  mkdirSync(downloads, { recursive: true });
  try {
    await download(packages, downloads);
    const fresh = path.join(downloads, 'unpacked');
    for (const name of readdirSync(downloads).filter((file) => file.endsWith('.deb')))
      await run('dpkg', ['-x', path.join(downloads, name), fresh]);
    renameSync(fresh, folder);
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
}

/**
 * With the machine's package lists; where they are absent or old, with fresh ones of our own, for which no root is
 * needed.
 */
async function download(packages, folder) {
  if (
    await run('apt-get', ['download', ...packages], { cwd: folder }).then(
      () => true,
      () => false,
    )
  )
    return;
  for (const name of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(path.join(folder, 'apt', name), { recursive: true });
  const own = [
    `Dir::State::lists=${folder}/apt/lists`,
    `Dir::Cache=${folder}/apt/cache`,
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
  // A hook of the machine's own may fail without root, though the lists are there: the download tells.
  await run('apt-get', [...own, 'update']).catch(() => undefined);
  await run('apt-get', [...own, 'download', ...packages], { cwd: folder });
}
