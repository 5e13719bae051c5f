// Debian's packages, unpacked into a folder: no root, nothing installed.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { isThere, run } from './run.mjs';

/** @returns {Promise<boolean>} whether this machine has what it takes */
export const hasDebian = async () => (await isThere('apt-get')) && (await isThere('dpkg'));

/**
 * Unpacks packages into a folder that is not there yet; all of them or nothing.
 * @param {string[]} packages
 * @param {string} folder
 * @param {RegExp} [needed] which of the packages that they depend on are unpacked, too, by name; none without it
 */
export async function debian(packages, folder, needed) {
  const downloads = `${folder}.download`;
  rmSync(downloads, { recursive: true, force: true });
  mkdirSync(downloads, { recursive: true });
  try {
    await download(packages, downloads, needed);
    const fresh = path.join(downloads, 'unpacked');
    for (const name of readdirSync(downloads).filter((file) => file.endsWith('.deb')))
      await run('dpkg', ['-x', path.join(downloads, name), fresh]);
    keepLinksInside(fresh);
    renameSync(fresh, folder);
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
}

/**
 * With the machine's package lists; where they are absent or old, with fresh ones of our own, for which no root is
 * needed.
 */
async function download(packages, folder, needed) {
  const get = async (options) => {
    const all = needed ? await withNeeded(packages, folder, needed, options) : packages;
    await run('apt-get', [...options, 'download', ...all], { cwd: folder });
  };
  if (
    await get([]).then(
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
  await get(own);
}

/** Asks what an installation on a machine with no package at all would install. */
async function withNeeded(packages, folder, needed, options) {
  const nothing = path.join(folder, 'status');
  writeFileSync(nothing, '');
  const simulated = ['-s', 'install', '--no-install-recommends', '-o', `Dir::State::status=${nothing}`, ...packages];
  const names = (await run('apt-get', [...options, ...simulated])).match(/(?<=^Inst )\S+/gm) ?? [];
  return names.filter((name) => packages.includes(name) || needed.test(name));
}

/** Links to files by their place on an installed machine lead to the unpacked ones, where these are among them. */
function keepLinksInside(root, folder = root) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const link = path.join(folder, entry.name);
    if (entry.isDirectory()) keepLinksInside(root, link);
    if (!entry.isSymbolicLink()) continue;
    const target = readlinkSync(link);
    if (!path.isAbsolute(target)) continue;
    const inside = path.join(root, target);
    if (!existsSync(inside)) continue;
    rmSync(link);
    symlinkSync(path.relative(folder, inside), link);
  }
}
