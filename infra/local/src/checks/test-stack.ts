import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { PORTS } from '../stack/settings.ts';
import { isFree } from '../processes/sockets.ts';
import { stackFile } from '../stack/stack.ts';

/** A whole stack for the tests, beside whatever else runs on this machine. */
export interface TestStack {
  /** Its stack.json. */
  readonly file: string;
  stop(): Promise<void>;
}

/** Above the usual ports of other programs, and below the range from which the kernel picks ephemeral ports. */
const SHIFTS = Array.from({ length: 90 }, (_, index) => 6000 + index * 200);

async function freeShift(): Promise<number> {
  const start = Math.floor(Math.random() * SHIFTS.length);
  for (const shift of [...SHIFTS.slice(start), ...SHIFTS.slice(0, start)]) {
    const free = await Promise.all(Object.values(PORTS).map(({ defaultPort }) => isFree(defaultPort + shift)));
    if (free.every(Boolean)) return shift;
  }
  throw new Error('No free range of ports for the test stack. End other stacks, then try again.');
}

/** Hours of Base: a chain that restarts within a run cuts the connections of whatever test is on it. */
const CHAIN_BLOCKS = '100000';

/** The environment for the test stack: its own folder and ports, without variables that move single ports. */
function environmentFor(data: string, shift: number, base: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {
    ...base,
    PF_DATA: data,
    PF_PORT_SHIFT: String(shift),
    PF_CHAIN_BLOCKS: CHAIN_BLOCKS,
  };
  for (const { variable } of Object.values(PORTS)) delete environment[variable];
  return environment;
}

/**
 * Starts the stack as `npm start` does; resolves when everything in it is ready.
 * @throws Error with the stack's log when it does not start
 */
export async function startTestStack(main: string, data: string, environment: NodeJS.ProcessEnv): Promise<TestStack> {
  const logFile = path.join(data, 'stack.log');
  await mkdir(data, { recursive: true, mode: 0o700 });
  const log = await open(logFile, 'a');
  const child: ChildProcess = spawn(
    process.execPath,
    ['--conditions=source', '--disable-warning=ExperimentalWarning', main, 'start'],
    {
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
      env: environmentFor(data, await freeShift(), environment),
      detached: true,
    },
  );
  await log.close();
  child.send('built');
  const exited = once(child, 'exit');
  const up = new Promise<boolean>((resolve) => {
    child.on('message', (message) => void (message === 'up' && resolve(true)));
    child.once('exit', () => resolve(false));
  });
  if (!(await up)) throw new Error(`The test stack did not start:\n${await readFile(logFile, 'utf8')}`);
  return {
    file: stackFile(data),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
