import { describe, expect, it } from '@jest/globals';
import { createEventLog } from '../../src/index.ts';
import { freshLog, freshOptions, until } from '../stack.ts';

// A busy machine may be slow.
describe('the topics of the log', () => {
  it('are created when missing; creating them again changes nothing', async () => {
    const log = await freshLog();
    await log.createTopics();
    await expect(log.verifyTopics()).resolves.toBeUndefined();
  });

  it('are deleted only with a prefix', async () => {
    const log = await freshLog();
    await log.deleteTopics();
    // The other brokers and this one's metadata learn of it a moment later.
    await until(
      () =>
        log.verifyTopics().then(
          () => false,
          (error: Error) => error.message.includes('intent.dead does not exist'),
        ),
      'the topics to be deleted',
    );
    await expect(createEventLog({ ...freshOptions(), prefix: '' }).deleteTopics()).rejects.toThrow(
      'Only topics with a prefix can be deleted',
    );
  });

  it('are named in the error when they are missing', async () => {
    const options = freshOptions();
    await expect(createEventLog(options).verifyTopics()).rejects.toThrow(
      `${options.prefix}intent.events does not exist`,
    );
  });

  it('are rejected with every difference from the options', async () => {
    const options = freshOptions();
    await freshLog(options);
    const other = createEventLog({ ...options, partitions: 12, replication: 3 });
    await expect(other.verifyTopics()).rejects.toThrow(`${options.prefix}intent.commands has partitions 6, not 12`);
    await expect(other.verifyTopics()).rejects.toThrow(`${options.prefix}intent.dead has replicas 1, not 3`);
    await expect(other.verifyTopics()).rejects.toThrow(
      `${options.prefix}chain.observations has min.insync.replicas 1, not 2`,
    );
  });
});

describe('EventLog.ready', () => {
  it('resolves to true when a broker responds', async () => {
    expect(await createEventLog(freshOptions()).ready(2_000)).toBe(true);
  });

  it('resolves to false within the time-out when no broker listens', async () => {
    const began = performance.now();
    expect(await createEventLog(freshOptions({ brokers: ['127.0.0.1:9'] })).ready(500)).toBe(false);
    expect(performance.now() - began).toBeLessThan(1_500);
  });
});
