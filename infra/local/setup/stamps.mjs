// Remembers what a step was done with, so that it is skipped while nothing has changed.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** @param {(string | Buffer)[]} contents */
export function digest(...contents) {
  const hash = createHash('sha256');
  for (const content of contents) hash.update(content).update('\0');
  return hash.digest('hex');
}

/** What files hold: for few and decisive ones. @param {string[]} files */
export const contentsOf = (files) =>
  digest(...files.flatMap((file) => [file, existsSync(file) ? readFileSync(file) : 'absent']));

/** Names, sizes and times of all files below folders: for many, in milliseconds. @param {string[]} folders */
export function timesOf(folders) {
  const seen = [];
  const visit = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) visit(file);
      else {
        const { mtimeMs, size } = statSync(file);
        seen.push(`${file} ${mtimeMs} ${size}`);
      }
    }
  };
  for (const folder of folders) if (existsSync(folder)) visit(folder);
  return digest(...seen.sort());
}

/**
 * Does a step unless it was done with the same input before and its result is still there.
 * @param {{ tools: string, name: string, input: () => string, result: string, work: () => Promise<void> }} step
 *   input is asked again afterwards: a step may change what it depends on
 * @returns {Promise<boolean>} whether something was done
 */
export async function unlessDone({ tools, name, input, result, work }) {
  const stamp = path.join(tools, 'stamps', name);
  const known = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (existsSync(result) && known === input()) return false;
  await work();
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, input());
  return true;
}
