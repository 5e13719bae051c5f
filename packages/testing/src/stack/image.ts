import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const ROOT = path.join(import.meta.dirname, '../../../..');
const sources = z.array(z.string());

const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;

/** Whether a source is newer than the bundle in this repository, or one of them is missing. */
export function isImageStale(root: string): boolean {
  // The sources of the bundle. Its time is that at which the build began.
  const list = path.join(root, 'infra/docker/dist/sources.json');
  const builtAt = changedAt(list);
  if (builtAt === Infinity) return true;
  return sources
    .parse(JSON.parse(readFileSync(list, 'utf8')))
    .some((source) => changedAt(path.join(root, source)) > builtAt);
}

/**
 * The program of containers: its first argument names a service, a job or `pf` (infra/docker/src/commands.ts). Where a
 * source is newer it is bundled first, in a few seconds: a test sees an edit at once.
 * @returns its file, for Node
 * @throws Error with what the bundler says of the sources
 */
export function imageProgram(): string {
  const image = path.join(ROOT, 'infra/docker');
  if (isImageStale(ROOT))
    execFileSync(process.execPath, [path.join(image, 'bundle.mjs')], { stdio: ['ignore', 'ignore', 'pipe'] });
  return path.join(image, 'dist/main.js');
}
