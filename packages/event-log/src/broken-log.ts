import { count } from '@pf/runtime';
import type { LogSink, LogTruncatedError } from './port.ts';

/** For this long a log may look shorter than it is: a new leader learns late what is committed. */
const LASTING_MS = 10_000;

/** Raises the alarm at once: records are missing for good. */
export function raiseBrokenLog(log: LogSink, error: LogTruncatedError, partition: number): void {
  count('payments.alarms', { alarm: 'broken_log' });
  log.error(
    { err: error, partition, alarm: 'broken_log', runbook: 'docs/operations/runbooks/log-unfollowable.md' },
    'the log lacks records that it had',
  );
}

/** Raises the alarm once for each state of a partition that lasts, however often it is seen. */
export class BrokenLogAlarm {
  readonly #log: LogSink;
  readonly #partition: number;
  #state: { readonly text: string; readonly since: number; told: boolean } | null = null;

  constructor(log: LogSink, partition: number) {
    this.#log = log;
    this.#partition = partition;
  }

  seen(error: LogTruncatedError): void {
    const now = performance.now();
    if (this.#state?.text !== error.message) this.#state = { text: error.message, since: now, told: false };
    if (this.#state.told || now - this.#state.since < LASTING_MS) return;
    this.#state.told = true;
    raiseBrokenLog(this.#log, error, this.#partition);
  }

  over(): void {
    this.#state = null;
  }
}
