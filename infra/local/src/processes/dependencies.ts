import path from 'node:path';
import type { Reaper } from './reaper.ts';
import type { ProcessSpec } from './process-spec.ts';
import type { Settings } from '../stack/settings.ts';
import { Supervised } from './supervised-process.ts';
import type { Terminal } from './terminal.ts';

/** What the processes of one running stack depend on. */
export interface StackDependencies {
  readonly settings: Settings;
  readonly reaper: Reaper;
  readonly terminal: Terminal;
  readonly environment: NodeJS.ProcessEnv;
  /**
   * Called with every process before it runs, so that an interrupted start can stop it.
   * @throws Error when the stack is already stopping
   */
  readonly started: (process: Supervised) => void;
  /** Called when a program started or ended: the recorded process ids are stale. */
  readonly changed: () => void;
}

/** Creates the supervised process and registers it with the stack, without starting it. */
export function superviseOn(
  { settings, reaper, terminal, environment, started, changed }: StackDependencies,
  spec: ProcessSpec,
): Supervised {
  const supervised = new Supervised(spec, {
    logs: path.join(settings.data, 'logs'),
    environment,
    reaper,
    say: terminal.line,
    changed,
  });
  started(supervised);
  return supervised;
}
