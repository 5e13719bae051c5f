import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePorts, readBackingStack, until } from '@pf/testing';

const MAIN = path.join(import.meta.dirname, '../../src/main.ts');

/** Ended, but not yet reaped by its parent: an init may take seconds for that. */
const isZombie = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) &&
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.startsWith('Z') === true;

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch {
    return false;
  }
};

interface StackFile {
  readonly pids: Record<string, number>;
  readonly chains: Record<'base' | 'tempo', { readonly rpcUrl: string }>;
  /** The file's permissions. */
  readonly mode: number;
}

/** Runs supervisors that start their own Redis, Base and Tempo, and use the shared test stack for the rest. */
export interface SupervisedStack {
  readonly data: string;
  readonly redisPort: number;
  /** Starts a supervisor on the folder; `extra` changes its environment. */
  start(extra?: Record<string, string>): Supervisor;
  /** stack.json as it is now. */
  file(): StackFile;
  /** The process ids that the supervisor recorded for the next start. */
  children(): number[];
  close(): Promise<void>;
}

interface Supervisor {
  readonly pid: number;
  /** Its output at the terminal so far. */
  output(): string;
  /** Resolves when its processes run. */
  up(): Promise<void>;
  end(signal: NodeJS.Signals): Promise<number | null>;
  readonly exited: Promise<number | null>;
}

export async function supervisedStack(): Promise<SupervisedStack> {
  const data = await mkdtemp(path.join(os.tmpdir(), 'pf-supervised-'));
  const [redisPort = 0, basePort = 0, tempoPort = 0] = await freePorts(3);
  const shared = readBackingStack();
  const supervisors = new Set<ChildProcess>();
  const environment = {
    ...process.env,
    PF_DATA: data,
    REDIS_URL: '',
    RPC_BASE_SEPOLIA: '',
    RPC_TEMPO_MODERATO: '',
    REDIS_PORT: String(redisPort),
    BASE_PORT: String(basePort),
    TEMPO_PORT: String(tempoPort),
    DATABASE_URL: shared.database,
    KAFKA_BROKERS: shared.kafka,
    RPC_BASE: shared.chains['baseLive']?.rpcUrl,
    // No test connects to it.
    RPC_SOLANA_DEVNET: 'http://127.0.0.1:9',
  };

  function start(extra: Record<string, string> = {}): Supervisor {
    const child = spawn(
      process.execPath,
      ['--conditions=source', '--disable-warning=ExperimentalWarning', MAIN, 'backing'],
      { env: { ...environment, ...extra }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    supervisors.add(child);
    let output = '';
    child.stderr.on('data', (text: Buffer) => (output += text.toString()));
    const exited = once(child, 'exit').then(([code]) => (supervisors.delete(child), code as number | null));
    return {
      pid: child.pid ?? 0,
      output: () => output,
      exited,
      up: async () =>
        void (await until(
          'the supervisor to report that the backing services run',
          () => output.includes('Only the backing services run'),
          60_000,
        )),
      async end(signal) {
        child.kill(signal);
        return exited;
      },
    };
  }

  return {
    data,
    redisPort,
    start,
    file() {
      const file = path.join(data, 'stack.json');
      return {
        ...(JSON.parse(readFileSync(file, 'utf8')) as Omit<StackFile, 'mode'>),
        mode: statSync(file).mode & 0o777,
      };
    },
    children() {
      const { children } = JSON.parse(readFileSync(path.join(data, 'supervisor.json'), 'utf8')) as {
        children: { pid: number }[];
      };
      return children.map(({ pid }) => pid);
    },
    async close() {
      await Promise.all([...supervisors].map((child) => (child.kill('SIGTERM'), once(child, 'exit'))));
      await rm(data, { recursive: true, force: true });
    },
  };
}
