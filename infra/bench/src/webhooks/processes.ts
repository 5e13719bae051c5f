import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { z } from 'zod';

/** Runs a file of this folder in a process of its own. */
export function run(file: string, ...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--conditions=source', path.join(import.meta.dirname, file), ...args], {
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Ends a process and waits until it is gone. */
export async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const urls = z.object({
  quick: z.array(z.string()),
  hanging: z.array(z.string()),
  dribbling: z.array(z.string()),
  control: z.string(),
});
const summary = z.object({ count: z.number(), first: z.number(), last: z.number() });
const times = z.array(z.array(z.tuple([z.string(), z.number()])));

/** Receivers in a process of their own. */
export interface Receivers extends z.infer<typeof urls> {
  /** Arrivals of distinct events at the quick URLs: how many, and the times of the first and last, ms since 1970. */
  arrived(): Promise<z.infer<typeof summary>>;
  /** Of each quick URL: the ids of its events, with the times of their first arrival. */
  times(): Promise<z.infer<typeof times>>;
  forget(): Promise<void>;
  close(): Promise<void>;
}

export async function startReceivers(counts: {
  readonly quick: number;
  readonly hanging?: number;
  readonly dribbling?: number;
}): Promise<Receivers> {
  const { quick, hanging = 0, dribbling = 0 } = counts;
  const child = run('receivers.ts', ...[quick, hanging, dribbling].map(String));
  if (!child.stdout) throw new Error('the output of the receivers is not piped');
  let text = '';
  while (!text.includes('\n')) text += String(((await once(child.stdout, 'data')) as [Buffer])[0]);
  const known = urls.parse(JSON.parse(text));
  return {
    ...known,
    arrived: async () => summary.parse(await (await fetch(known.control)).json()),
    times: async () => times.parse(await (await fetch(`${known.control}/times`)).json()),
    forget: async () => void (await fetch(known.control, { method: 'DELETE' })),
    close: () => end(child),
  };
}
