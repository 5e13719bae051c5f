import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Block } from './blocks.ts';
import { COMPLAINTS, PLACE } from './complaints.ts';
import { run } from '../tools.ts';

/** What a person's machine has: they run as they are. */
const TOOLS = ['base64', 'bash', 'cat', 'date', 'grep', 'head', 'openssl', 'sh', 'sort', 'tail'];

export interface ShellOptions {
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

/**
 * Runs blocks one after the other in one bash that finds no programs but those it is given: a program that no check
 * knows is a complaint. A command whose last part finds nothing, as grep does, is none.
 * @returns the complaints
 */
export async function runInShell(blocks: readonly Block[], options: ShellOptions): Promise<readonly string[]> {
  const { folder, programs, environment, tools = [], placeholders } = options;
  const bin = path.join(folder, 'bin');
  const complaints = path.join(folder, 'complaints');
  await mkdir(bin, { recursive: true });
  for (const tool of [...TOOLS, ...tools]) await symlink(onPath(tool), path.join(bin, tool));
  for (const [name, text] of Object.entries(programs)) await writeFile(path.join(bin, name), text, { mode: 0o755 });
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
