import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { stackFile } from '../stack/stack.ts';

const run = promisify(execFile);
const MAIN = path.join(import.meta.dirname, '../../../cli/dist/main.js');

/** Runs `pf … --json` against the stack of stackFile() as a user would, and parses what it prints. */
export async function pf(...args: string[]): Promise<unknown> {
  const { stdout } = await run(process.execPath, [MAIN, ...args, '--json'], {
    env: { ...process.env, PF_DATA: path.dirname(stackFile()) },
  });
  return JSON.parse(stdout);
}

/** A `pf` that goes on until something has happened, or until it is ended. */
export interface RunningPf {
  /** Resolves with the next line, a JSON document of its own; null: it has ended. */
  next(): Promise<unknown>;
  /** As Ctrl-C does. */
  interrupt(): void;
  /** All that it said, when it has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly said: string; readonly errors: string }>;
}

/** Starts `pf … --json` against the stack whose stack.json is in a folder. */
export function startPf(data: string, ...args: string[]): RunningPf {
  const child = spawn(process.execPath, [MAIN, ...args, '--json'], {
    env: { ...process.env, PF_DATA: data },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  const closed = once(reader, 'close');
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const errors = text(child.stderr);
  let read = 0;
  return {
    async next() {
      const place = read++;
      while (lines.length <= place) {
        const line = await Promise.race([once(reader, 'line'), closed.then(() => null)]);
        if (line === null && lines.length <= place) return null;
      }
      return JSON.parse(lines[place] ?? '') as unknown;
    },
    interrupt: () => void child.kill('SIGINT'),
    ended: Promise.all([exited, closed, errors]).then(([[code], , complaints]) => ({
      code,
      said: lines.join('\n'),
      errors: complaints,
    })),
  };
}
