import { type Logger } from '@pf/runtime';

/** A log that keeps its messages from level `info` on, for tests that count them. */
export function recordedLog(): { readonly log: Logger; readonly messages: string[] } {
  const messages: string[] = [];
  const record = (...args: readonly unknown[]): void => {
    messages.push(String(args.at(-1)));
  };
  const log = { info: record, warn: record, error: record, debug: () => undefined } as unknown as Logger;
  return { log, messages };
}
