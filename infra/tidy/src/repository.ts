import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../../..');

/** Written by programs from a source in this repository; `npm run generate` makes them. */
const GENERATED = [
  /^docs\/reference\/((api|errors|events|lifecycle|metrics)\.md|events\.schema\.json)$/,
  /^packages\/testing\/contracts\/\w+\.json$/,
  /^infra\/observability\/(grafana|prometheus)\//,
  /\/redis-users\.acl$/,
  /^k8s\/chart\/files\//,
  /^k8s\/components\/monitoring\/prometheus-rule\.yaml$/,
  /^packages\/client\/src\/generated\//,
];

/** Not ours to format: lockfiles, checksums, patches, recorded data, and migrations, which never change again. */
const FOREIGN = [
  /^pnpm-lock\.yaml$/,
  /^infra\/k8s-checks\/cluster\/go\.(mod|sum)$/,
  /^infra\/kafka\/jars\.sha256$/,
  /^patches\//,
  /\/fixtures\//,
  /^packages\/database\/prisma\/migrations\//,
  /\.(png|ico|svg|webp)$/,
];

const matches = (patterns: readonly RegExp[]) => (file: string) => patterns.some((pattern) => pattern.test(file));
export const isGenerated = matches(GENERATED);
const isForeign = matches(FOREIGN);

const contents = new Map<string, string>();

/** @param file a path from the root */
export function read(file: string): string {
  let text = contents.get(file);
  if (text === undefined) {
    text = readFileSync(path.join(root, file), 'utf8');
    contents.set(file, text);
  }
  return text;
}

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });

/** Every file that git tracks, as a path from the root. */
export const files: readonly string[] = git('ls-files', '-z')
  .split('\0')
  .filter((file) => file !== '' && existsSync(path.join(root, file)));

/** The files whose text people read and edit. */
export const checked = files.filter((file) => !isForeign(file));

const directories = new Set(files.flatMap((file) => parentsOf(file)));

function parentsOf(file: string): readonly string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

const known = new Set(files);

/** @param name a path from the root of a file or a folder */
export const exists = (name: string): boolean => known.has(name) || directories.has(name.replace(/\/$/, ''));

/** Whether a file's path is `name` or ends with it: `src/port.ts` names `packages/chains/src/port.ts`. */
export const existsSomewhere = (name: string): boolean =>
  exists(name) || files.some((file) => file.endsWith(`/${name}`));

/** `file:line: message`, as editors and terminals link it. */
export const at = (file: string, line: number, message: string): string => `${file}:${line}: ${message}`;

/** Of the commits that this clone has: a shallow one has the newest. */
export const subjectsSince = (time: string): readonly string[] =>
  git('log', `--since=${time}`, '--no-merges', '--format=%s').split('\n').filter(Boolean);
