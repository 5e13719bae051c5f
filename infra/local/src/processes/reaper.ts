import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Command } from './process-spec.ts';

/** Knows every running program of the stack, and ends them all when this process is gone, even by kill -9. */
export interface Guard {
  watch(pid: number, signal: string): void;
  forget(pid: number): void;
  /** The supervisor ends in order: nothing is left to guard. */
  close(): void;
}

/** Starts the guard: a POSIX shell of 1 MB that waits for the end of its input. */
export function startGuard(): Guard {
  const script = fileURLToPath(new URL('./reaper.sh', import.meta.url));
  const watched = new Map<number, string>();
  let closed = false;
  let shell = start();

  function start(): ChildProcess {
    const child = spawn('sh', [script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    // A guard that was killed is replaced; a write that it missed is repeated to the new one.
    child.stdin.on('error', () => undefined);
    child.once('exit', () => {
      if (closed) return;
      shell = start();
      for (const [pid, signal] of watched) say(`+ ${pid} ${signal}`);
    });
    return child;
  }
  const say = (line: string): void => void shell.stdin?.write(`${line}\n`);

  return {
    watch(pid, signal) {
      watched.set(pid, signal.replace(/^SIG/, ''));
      say(`+ ${pid} ${signal.replace(/^SIG/, '')}`);
    },
    forget(pid) {
      watched.delete(pid);
      say(`- ${pid}`);
    },
    close() {
      closed = true;
      shell.stdin?.end();
    },
  };
}

/**
 * What the guard and the supervisor have in common: how a program is started so that the terminal's Ctrl-C misses it.
 */
export function launch(command: Command, environment: NodeJS.ProcessEnv, output: number | 'pipe'): ChildProcess {
  return spawn(command.file, command.args, {
    stdio: ['ignore', output, output],
    env: { ...environment, ...command.env },
    // A process group of its own: Ctrl-C reaches only the supervisor, which then stops everything in order.
    detached: true,
    ...command.user,
  });
}
