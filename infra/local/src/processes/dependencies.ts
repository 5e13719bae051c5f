import path from 'node:path';
import type { Guard } from './reaper.ts';
import type { Part } from './process-spec.ts';
import type { Settings } from '../stack/settings.ts';
import { Supervised } from './supervised-process.ts';
import type { Terminal } from './terminal.ts';

/** What every part of one running stack stands on. */
export interface StackDependencies {
  readonly settings: Settings;
  readonly guard: Guard;
  readonly terminal: Terminal;
  readonly environment: NodeJS.ProcessEnv;
  /**
   * Learns of every part before it runs, so that an interrupted start can end it; throws when the end has come already.
   */
  readonly started: (part: Supervised) => void;
  /** A program started or ended: what is written about process ids is stale. */
  readonly changed: () => void;
}

/** A part under supervision, known to whoever ends the stack, not yet started. */
export function superviseOn(
  { settings, guard, terminal, environment, started, changed }: StackDependencies,
  part: Part,
): Supervised {
  const supervised = new Supervised(part, {
    logs: path.join(settings.data, 'logs'),
    environment,
    guard,
    say: terminal.line,
    changed,
  });
  started(supervised);
  return supervised;
}
