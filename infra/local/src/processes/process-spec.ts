import type { PortName } from '../stack/settings.ts';

/** How a program is started. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Another user to run as (Postgres refuses root). */
  readonly user?: { readonly uid: number; readonly gid: number };
}

/** One program of the stack: a backing part or a service. */
export interface Part {
  /** As in stack.json's `pids`, and the name of its log. */
  readonly name: string;
  /** For people. */
  readonly label: string;
  /** The ports it will listen on. */
  readonly ports: readonly PortName[];
  /** What ends it in order. */
  readonly stopSignal: 'SIGTERM' | 'SIGINT';
  /**
   * What ends it when no supervisor can do it in order: services are made for a kill, and would wait for what goes
   * beside them.
   */
  readonly orphanSignal: 'SIGKILL' | 'SIGTERM' | 'SIGINT';
  /** How long it may take to end before it is killed, in milliseconds. */
  readonly stopMs: number;
  /** Before every start, also a restart: folders, one-time initialization, left-overs of a kill. */
  prepare(): Promise<void>;
  command(): Command;
  /** True when it answers. Asked again and again; must come back within about a second. */
  ready(): Promise<boolean>;
  /** True when it says itself that it makes no progress: it is ended then, and started again. */
  stuck(): Promise<boolean>;
  /** Where it writes warnings as JSON lines, they are shown: services do, backing parts do not. */
  readonly jsonLogs: boolean;
}
