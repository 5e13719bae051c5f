import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Block } from './blocks.ts';
import { COMPLAINTS, PLACE } from './complaints.ts';
import { run } from '../tools.ts';

/** What a person's machine has: they run as they are. */
const TOOLS = ['base64', 'bash', 'cat', 'cp', 'date', 'grep', 'head', 'openssl', 'sh', 'sort', 'tail'];
/** Of k8s/apply. */
const TOOLS_OF_APPLY = ['mktemp', 'rm', 'sed'];
/** Of the repository, in which a person types: by links, so that nothing is written beside them. */
const FOLDERS = ['infra', 'k8s'];
/**
 * What runs in no check: `chronyc` is of a node, `docker` needs its engine, `cosign` reads what the workflow on GitHub
 * signs, and `npm` starts and asks the local stack (infra/e2e/test/guides).
 */
const NOT_RUN = ['chronyc', 'cosign', 'docker', 'npm'];

export interface ShellOptions {
  /** Of the repository. */
  readonly root: string;
  /** Of this run; the commands are run in it. */
  readonly folder: string;
  /** Programs by their names: the text of each, with its interpreter in the first line. */
  readonly programs: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Further programs that run as they are. */
  readonly tools?: readonly string[];
  /** What stands for another thing, such as an id, with what the shell is given in its place. */
  readonly placeholders: Readonly<Record<string, string>>;
}

const BEFORE = `
fail() { printf '%s: %s\\n' "$${PLACE}" "$1" >> "$${COMPLAINTS}"; }
command_not_found_handle() { fail "no check knows the program $1"; return 127; }
block() {
  export ${PLACE}=$1
  bash -n "$2" || fail 'bash does not understand it'
  source "$2"
}
`;

/** In place of a program that does nothing. */
export const NOTHING = '#!/bin/sh\n';
/** A program whose failure is a complaint. @param command of a shell */
export const complaining = (command: string): string =>
  `#!/bin/sh\n${command} "$@" && exit\nprintf '%s: %s %s\\n' "$${PLACE}" "\${0##*/} $*" failed >>"$${COMPLAINTS}"\n`;

/**
 * Runs blocks one after the other in one bash that finds no programs but those it is given: a program that no check
 * knows is a complaint. A command whose last part finds nothing, as grep does, is none.
 * @returns the complaints
 */
export async function runInShell(blocks: readonly Block[], options: ShellOptions): Promise<readonly string[]> {
  const { root, folder, programs, environment, tools = [], placeholders } = options;
  const bin = path.join(folder, 'bin');
  const complaints = path.join(folder, 'complaints');
  await mkdir(bin, { recursive: true });
  for (const name of FOLDERS) await symlink(path.join(root, name), path.join(folder, name));
  for (const tool of [...TOOLS, ...TOOLS_OF_APPLY, ...tools]) await symlink(onPath(tool), path.join(bin, tool));
  const always = {
    ...Object.fromEntries(NOT_RUN.map((name) => [name, NOTHING])),
    git: complaining(`'${onPath('git')}' -C '${root}'`),
  };
  for (const [name, text] of Object.entries({ ...always, ...programs }))
    await writeFile(path.join(bin, name), text, { mode: 0o755 });
  await writeFile(complaints, '');
  const calls = await Promise.all(
    blocks.map(async ({ place, code }, index) => {
      const file = path.join(folder, `${index}.sh`);
      const given = Object.entries(placeholders).reduce((text, [word, other]) => text.replaceAll(word, other), code);
      const left = /[\w-]*…/.exec(given.replaceAll(/#.*/g, ''))?.[0];
      if (left !== undefined) throw new Error(`${place}: no check knows what "${left}" stands for`);
      await writeFile(file, given);
      return `block '${place}' '${file}'\n`;
    }),
  );
  const script = path.join(folder, 'all.sh');
  await writeFile(script, `${BEFORE}${calls.join('')}`);
  const { stdout, stderr } = await run('bash', ['--noprofile', '--norc', script], {
    environment: { ...environment, PATH: bin, HOME: folder, [COMPLAINTS]: complaints },
    folder,
  });
  await writeFile(path.join(folder, 'output'), `${stdout}\n${stderr}`);
  return (await readFile(complaints, 'utf8')).split('\n').filter(Boolean);
}

function onPath(tool: string): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const found = folders.map((at) => path.join(at, tool)).find((at) => existsSync(at));
  if (found === undefined) throw new Error(`${tool}, which the runbooks use, is not on the PATH.`);
  return found;
}
