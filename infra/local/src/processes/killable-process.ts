import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from './process-spec.ts';
import { launch, type Reaper } from './reaper.ts';
import { eventually } from './wait.ts';

/** A loaded machine starts several programs at once. */
const READY_WITHIN_MS = 120_000;

/** A program of a test or tool, which may be killed, suspended and started again. */
export interface KillableProcess {
  /** The file with its output. */
  readonly log: string;
  /** The running process, null while it is down. */
  readonly pid: number | null;
  /** Ends it with kill -9, or with another signal. Resolves when the process is gone. */
  kill(signal?: 'SIGKILL' | 'SIGTERM' | 'SIGINT' | 'SIGQUIT'): Promise<void>;
  /** Starts it again on its data. Resolves when it accepts clients. @throws Error naming its log if it does not */
  start(): Promise<void>;
  /** Suspends it (SIGSTOP) and lets it go on (SIGCONT). */
  suspend(): void;
  resume(): void;
}

export interface KillableOptions {
  /** At the beginning of messages: `Broker 2`. */
  readonly label: string;
  readonly log: string;
  readonly reaper: Reaper;
  /** Runs before every start. */
  readonly prepare: () => Promise<void>;
  readonly command: () => Command;
  /** True when it accepts clients. */
  readonly ready: () => Promise<boolean>;
}

/** Signals a program and its children. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // It ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A program that is not started yet. It ends with this process, even if this process is killed. */
export function killableProcess({ label, log, reaper, prepare, command, ready }: KillableOptions): KillableProcess {
  let child: ChildProcess | null = null;
  return {
    log,
    get pid() {
      return child?.pid ?? null;
    },
    async start() {
      if (child) throw new Error(`${label} runs already.`);
      await prepare();
      await mkdir(path.dirname(log), { recursive: true });
      const file = await open(log, 'a');
      const { file: program, ...rest } = command();
      const started = launch({ file: program, ...rest }, process.env, file.fd);
      await file.close();
      const { pid } = started;
      if (pid === undefined) {
        const [error] = (await once(started, 'error')) as [Error];
        throw new Error(`${label}: ${program} could not be started.`, { cause: error });
      }
      reaper.watch(pid, 'SIGKILL');
      child = started;
      started.once('exit', () => {
        reaper.forget(pid);
        if (child === started) child = null;
      });
      if (!(await eventually(ready, READY_WITHIN_MS, () => child !== started)))
        throw new Error(`${label} did not start. Its log: ${log}`);
    },
    async kill(signal = 'SIGKILL') {
      if (!child?.pid) return;
      const gone = once(child, 'exit');
      // Only what ends a program in order goes to its first process alone, which ends the others.
      if (signal === 'SIGKILL') signalGroup(child.pid, signal);
      else child.kill(signal);
      // A suspended process handles no other signal until it goes on.
      signalGroup(child.pid, 'SIGCONT');
      await gone;
    },
    suspend: () => void (child?.pid && signalGroup(child.pid, 'SIGSTOP')),
    resume: () => void (child?.pid && signalGroup(child.pid, 'SIGCONT')),
  };
}
