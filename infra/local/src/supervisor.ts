import { startBacking } from './backing.ts';
import { startGuard } from './guard.ts';
import { identify, takeOwnership } from './owner.ts';
import { portsNeeded, requireFreePorts } from './ports.ts';
import type { Settings } from './settings.ts';
import { stackFile, writeStack, type Stack } from './stack.ts';
import type { Supervised } from './supervised.ts';
import type { Terminal } from './terminal.ts';

interface Order {
  readonly settings: Settings;
  readonly environment: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
  readonly withServices: boolean;
}

/** Resolves when a person or the bootstrap wants the stack to end. */
function endWanted(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
    // The bootstrap that started us is gone: so is whoever would have pressed Ctrl-C.
    process.once('disconnect', () => resolve('the bootstrap ended'));
  });
}

/**
 * Runs the stack until it is told to end, and ends everything in order: services first, then what they stand on.
 * @throws Error with what could not be started
 */
export async function supervise({ settings, environment, terminal, withServices }: Order): Promise<void> {
  const end = endWanted();
  const running: Supervised[] = [];
  let phase: 'starting' | 'up' | 'ending' = 'starting';
  // Somebody does not want to wait for the start: what runs is ended, which makes the start fail.
  void end.then(() => {
    if (phase === 'starting') for (const part of running) void part.stop();
    phase = 'ending';
  });
  const owner = await takeOwnership(settings.data, terminal.line);
  let stack: Omit<Stack, 'pids'> | null = null;
  let writing = Promise.resolve();

  /** Process ids changed: write them where the next start and where scripts look. */
  function changed(): void {
    const alive = running.flatMap(({ part, pid }) => (pid === null ? [] : [[part.name, pid] as const]));
    writing = writing.then(async () => {
      await owner.children(alive.map(([, pid]) => identify(pid)));
      if (stack) await writeStack(settings.data, { ...stack, pids: Object.fromEntries(alive) });
    });
  }

  const guard = startGuard();
  function started(part: Supervised): void {
    if (phase === 'ending') throw new Error('Stopped while it was starting.');
    running.push(part);
  }
  try {
    await requireFreePorts(settings, portsNeeded(settings, withServices));
    const backing = await startBacking({ settings, environment, terminal, guard, changed, started });
    phase = phase === 'ending' ? phase : 'up';
    stack = backing.addresses;
    changed();
    await writing;
    terminal.line(`\nBacking parts run. ${stackFile(settings.data)} says where. Ctrl-C stops them.`);
    await end;
    terminal.line('\nStopping');
    await terminal.step('backing parts', () => backing.stop());
  } finally {
    await Promise.all(running.map((part) => part.stop()));
    await writing;
    guard.close();
    await owner.release();
  }
}
