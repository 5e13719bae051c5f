import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEventLog, type EventLog } from '../../src/index.ts';
import { freshLog, freshOptions, until } from '../stack.ts';

let log: EventLog;

beforeAll(async () => {
  log = await freshLog();
  const clock = log.brokerClock();
  // The leaders of a new topic do not know that they lead for some milliseconds, each partition's for its own.
  const isReadable = async (): Promise<boolean> => {
    try {
      for (let partition = 0; partition < log.partitions; partition++) await clock.read();
      return true;
    } catch {
      return false;
    }
  };
  await until(isReadable, 'the brokers’ clock in every partition');
  await clock.close();
});

afterAll(() => log.deleteTopics());

describe('The brokers’ clock', () => {
  it('shows the time between the request and the response, in every partition in turn', async () => {
    const clock = log.brokerClock();
    for (let reading = 0; reading < log.partitions; reading++) {
      const asked = Date.now();
      const shown = await clock.read();
      // The broker runs on this machine.
      expect(shown).toBeGreaterThanOrEqual(asked - 1);
      expect(shown).toBeLessThanOrEqual(Date.now() + 1);
    }
    await clock.close();
  });

  it('cannot be read while no broker responds, and without its topic', async () => {
    const unreachable = createEventLog(freshOptions({ brokers: ['127.0.0.1:9'] })).brokerClock();
    await expect(unreachable.read()).rejects.toThrow();
    const missing = createEventLog(freshOptions()).brokerClock();
    await expect(missing.read()).rejects.toThrow();
    await Promise.all([unreachable.close(), missing.close()]);
  });
});
