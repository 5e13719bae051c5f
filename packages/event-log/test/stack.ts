import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll } from '@jest/globals';
import { createEventLog, type EventLog, type EventLogOptions } from '../src/index.ts';

export { collect, until } from './waiting.ts';

export const PARTITIONS = 6;

/** The brokers of the running stack. */
function brokers(): readonly string[] {
  const file = process.env['STACK_FILE'] ?? new URL('../../../.local/stack.json', import.meta.url);
  const stack: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (typeof stack !== 'object' || stack === null || !('kafka' in stack) || typeof stack.kafka !== 'string')
    throw new Error(`${String(file)} names no kafka brokers`);
  return stack.kafka.split(',');
}

/** Options of a log that only this test uses. */
export function freshOptions(overrides: Partial<EventLogOptions> = {}): EventLogOptions {
  return {
    brokers: brokers(),
    partitions: PARTITIONS,
    clientId: 'test',
    prefix: `test-${randomBytes(6).toString('hex')}.`,
    ...overrides,
  };
}

const fresh = new Map<string | undefined, EventLog>();

/** A log with these options, with its topics created. */
export async function freshLog(options: EventLogOptions = freshOptions()): Promise<EventLog> {
  const log = createEventLog(options);
  await log.createTopics();
  fresh.set(options.prefix, log);
  return log;
}

// At the end of every file that imports this one: a thousand left-over topics slow the broker down.
afterAll(async () => {
  for (const log of fresh.values()) await log.deleteTopics();
});
