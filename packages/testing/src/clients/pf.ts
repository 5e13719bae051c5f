import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { imageProgram } from '../stack/image.ts';
import { stackFile } from '../stack/stack.ts';

const run = promisify(execFile);

/** Runs `pf … --json` against the stack of stackFile(), as a user would, and parses its output. */
export async function pf(...args: string[]): Promise<unknown> {
  const { stdout } = await run(process.execPath, [imageProgram(), 'pf', ...args, '--json'], {
    env: { ...process.env, PF_DATA: path.dirname(stackFile()) },
  });
  return JSON.parse(stdout);
}

/** A `pf` command that runs until something happens or it is interrupted. */
export interface RunningPf {
  /** Resolves with the next line, a JSON document; null when the command has ended. */
  next(): Promise<unknown>;
  /** Sends SIGINT, like Ctrl-C. */
  interrupt(): void;
  /** The whole output, when it has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }>;
}

/** Starts `pf … --json` against the stack whose stack.json is in this folder. */
export function startPf(data: string, ...args: string[]): RunningPf {
  const child = spawn(process.execPath, [imageProgram(), 'pf', ...args, '--json'], {
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
      output: lines.join('\n'),
      errors: complaints,
    })),
  };
}
