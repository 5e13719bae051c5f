import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { eventually } from './wait.ts';

/** A process. Its start time tells it from a later process with the same id. */
const identity = z.object({ pid: z.number().int().positive(), started: z.string() });
export type Identity = z.infer<typeof identity>;
const record = identity.extend({ children: z.array(identity) });

/** The start of a process in clock ticks since boot; empty without /proc: then only the process id counts. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in parentheses, with any characters; the start is the 22nd (proc_pid_stat(5)).
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

export const identify = (pid: number): Identity => ({ pid, started: startOf(pid) });

function isAlive({ pid, started }: Identity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return startOf(pid) === started;
}

const fileOf = (data: string): string => path.join(data, 'supervisor.json');

async function read(data: string): Promise<z.infer<typeof record> | null> {
  const text = await readFile(fileOf(data), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return record.parse(JSON.parse(text));
  } catch {
    return null; // Truncated by a crash of the machine: no process of that boot is alive.
  }
}

/** @returns the process that runs a stack on this data folder, or null */
export async function ownerOf(data: string): Promise<number | null> {
  const found = await read(data);
  return found && isAlive(found) ? found.pid : null;
}

/** The data folder, owned by this process alone. */
export interface Ownership {
  /** Records the running programs, so that the next start can end them if this process is killed. */
  children(running: readonly Identity[]): Promise<void>;
  release(): Promise<void>;
}

/**
 * Acquires the data folder.
 * @throws Error with the process id of the supervisor that owns it
 */
export async function takeOwnership(data: string, say: (text: string) => void): Promise<Ownership> {
  await mkdir(data, { recursive: true, mode: 0o700 });
  const file = fileOf(data);
  const me = identify(process.pid);
  const claim = async (): Promise<boolean> =>
    await writeFile(file, JSON.stringify({ ...me, children: [] }), { flag: 'wx', mode: 0o600 }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      },
    );

  if (!(await claim())) {
    const former = await read(data);
    if (former && isAlive(former)) {
      throw new Error(
        `A stack already runs on ${data} (process ${former.pid}). Stop it, or choose another folder with PF_DATA ` +
          'and other ports with PF_PORT_SHIFT.',
      );
    }
    await endLeftOvers(former?.children ?? [], say);
    await rm(file, { force: true });
    if (!(await claim()))
      throw new Error(`Another stack is starting on ${data}. Wait for it, or choose another folder with PF_DATA.`);
  }

  let writing = Promise.resolve();
  return {
    children(running) {
      writing = writing.then(async () => {
        await writeFile(`${file}.new`, JSON.stringify({ ...me, children: running }), { mode: 0o600 });
        await rename(`${file}.new`, file);
      });
      return writing;
    },
    async release() {
      await writing;
      await rm(file, { force: true });
    },
  };
}

/**
 * After a kill -9 of the supervisor its reaper ends the programs. Waits for that, and ends them itself if the reaper
 * died, too.
 */
async function endLeftOvers(children: readonly Identity[], say: (text: string) => void): Promise<void> {
  const alive = (): Identity[] => children.filter(isAlive);
  if (alive().length === 0) return;
  say(
    `The last stack was killed; ending its remaining processes: ${alive()
      .map(({ pid }) => pid)
      .join(', ')}`,
  );
  const gone = async (): Promise<boolean> => alive().length === 0;
  if (await eventually(gone, 3000)) return;
  for (const { pid } of alive()) process.kill(pid, 'SIGTERM');
  if (await eventually(gone, 10_000)) return;
  for (const { pid } of alive()) process.kill(pid, 'SIGKILL');
  if (!(await eventually(gone, 5000)))
    throw new Error(
      `Processes of the last stack could not be ended: ${alive()
        .map(({ pid }) => pid)
        .join(', ')}`,
    );
}
