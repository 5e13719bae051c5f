import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Command } from './process-spec.ts';

/** Ends every running program of the stack when this process is gone, even by kill -9. */
export interface Reaper {
  watch(pid: number, signal: string): void;
  forget(pid: number): void;
  /** Called when the supervisor has stopped all programs itself. */
  close(): void;
}

/** Starts the reaper: a POSIX shell (1 MB) that waits for the end of its input. */
export function startReaper(): Reaper {
  const script = fileURLToPath(new URL('./reaper.sh', import.meta.url));
  const watched = new Map<number, string>();
  let closed = false;
  let shell = start();

  function start(): ChildProcess {
    const child = spawn('sh', [script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    // A reaper that was killed is replaced; the new one gets the whole list, so a lost write does no harm.
    child.stdin.on('error', () => undefined);
    child.once('exit', () => {
      if (closed) return;
      shell = start();
      for (const [pid, signal] of watched) send(`+ ${pid} ${signal}`);
    });
    return child;
  }
  const send = (line: string): void => void shell.stdin?.write(`${line}\n`);

  return {
    watch(pid, signal) {
      watched.set(pid, signal.replace(/^SIG/, ''));
      send(`+ ${pid} ${signal.replace(/^SIG/, '')}`);
    },
    forget(pid) {
      watched.delete(pid);
      send(`- ${pid}`);
    },
    close() {
      closed = true;
      shell.stdin?.end();
    },
  };
}

/**
 * Starts a program in a process group of its own: the terminal's Ctrl-C reaches only the supervisor, which then stops
 * everything in order, and the reaper can kill the whole group.
 */
export function launch(command: Command, environment: NodeJS.ProcessEnv, output: number | 'pipe'): ChildProcess {
  return spawn(command.file, command.args, {
    stdio: ['ignore', output, output],
    env: { ...environment, ...command.env },
    detached: true,
    ...command.user,
  });
}
