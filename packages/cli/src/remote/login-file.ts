import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadConfig } from '@pf/runtime';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';

const login = z.object({ url: z.url(), token: z.string().min(1) });

/** Where and with what `pf login` has logged in. */
export interface Login {
  /** The origin of the dashboard. */
  readonly url: string;
  /** A personal token: it goes to this origin only. */
  readonly token: string;
}

const FILE = 'login.json';

/** The folder of the user's configuration (XDG Base Directory Specification); null if the environment names none. */
function folderOf(environment: NodeJS.ProcessEnv | undefined): string | null {
  const { XDG_CONFIG_HOME: config, HOME: home } = loadConfig(
    { XDG_CONFIG_HOME: z.string().optional(), HOME: z.string().optional() },
    environment,
  );
  // The specification ignores relative paths.
  if (config !== undefined && path.isAbsolute(config)) return path.join(config, 'pf');
  return home === undefined ? null : path.join(home, '.config', 'pf');
}

/** The login of the user; null if there is none. @throws CliError if the file is damaged */
export async function readLogin(environment?: NodeJS.ProcessEnv): Promise<Login | null> {
  const folder = folderOf(environment);
  if (folder === null) return null;
  const file = path.join(folder, FILE);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
  try {
    return login.parse(JSON.parse(text));
  } catch (cause) {
    throw new CliError(`${file} is not a valid login. Delete it, then log in with \`pf login\`.`, { cause });
  }
}

/** Keeps a login for this user alone. @returns the file */
export async function saveLogin(login: Login, environment?: NodeJS.ProcessEnv): Promise<string> {
  const folder = folderOf(environment);
  if (folder === null)
    throw new CliError('Neither XDG_CONFIG_HOME nor HOME is set, so the login cannot be stored. Set one of them.');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // It may have been there with other rights.
  await chmod(folder, 0o700);
  const file = path.join(folder, FILE);
  const next = `${file}.${process.pid}`;
  // A file of its own, so that the token is never in one that others may read.
  await rm(next, { force: true });
  await writeFile(next, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(next, file);
  return file;
}

export async function forgetLogin(environment?: NodeJS.ProcessEnv): Promise<void> {
  const folder = folderOf(environment);
  if (folder !== null) await rm(path.join(folder, FILE), { force: true });
}

/** The login, unless the environment names something else to work on by one of these variables. */
export async function loginUnless(names: readonly string[], environment?: NodeJS.ProcessEnv): Promise<Login | null> {
  const named = loadConfig(Object.fromEntries(names.map((name) => [name, z.string().optional()])), environment);
  return names.some((name) => named[name] !== undefined) ? null : readLogin(environment);
}
