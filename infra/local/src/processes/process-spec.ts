import type { PortName } from '../stack/settings.ts';

/** How to start a program. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Another user to run as (Postgres refuses root). */
  readonly user?: { readonly uid: number; readonly gid: number };
}

/** One program of the stack: a backing service, a chain or one of our services. */
export interface ProcessSpec {
  /** Its key in `pids` of stack.json, and the name of its log file. */
  readonly name: string;
  /** Its name at the terminal. */
  readonly label: string;
  /** The ports it will listen on. */
  readonly ports: readonly PortName[];
  /** The signal that shuts it down gracefully. */
  readonly stopSignal: 'SIGTERM' | 'SIGINT';
  /**
   * The signal for when the supervisor died and cannot stop processes in order. Services get SIGKILL, which they are
   * made for: a graceful shutdown would wait for backing services that end at the same time.
   */
  readonly orphanSignal: 'SIGKILL' | 'SIGTERM' | 'SIGINT';
  /** ms that it may take to end before it is killed. */
  readonly stopMs: number;
  /** Runs before every start and restart: creates folders, initializes once, removes left-overs of a kill. */
  prepare(): Promise<void>;
  command(): Command;
  /** True when it responds. Polled; must resolve within about a second. */
  ready(): Promise<boolean>;
  /** True when it reports that it makes no progress: the supervisor then restarts it. */
  stuck(): Promise<boolean>;
  /** True when it logs JSON lines, as our services do: the terminal shows its warnings and mails. */
  readonly jsonLogs: boolean;
}
