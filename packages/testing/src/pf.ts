import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { stackFile } from './stack.ts';

const run = promisify(execFile);
const MAIN = path.join(import.meta.dirname, '../../cli/dist/main.js');

/** Runs `pf … --json` against the stack of stackFile() as a user would, and parses what it prints. */
export async function pf(...args: string[]): Promise<unknown> {
  const { stdout } = await run(process.execPath, [MAIN, ...args, '--json'], { env: { ...process.env, PF_DATA: path.dirname(stackFile()) } });
  return JSON.parse(stdout);
}
