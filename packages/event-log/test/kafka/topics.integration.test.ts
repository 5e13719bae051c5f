import { describe, expect, it, jest } from '@jest/globals';
import { createEventLog } from '../../src/index.ts';
import { freshLog, freshOptions, until } from '../stack.ts';

// A busy machine is slow, not wrong.
jest.setTimeout(30_000);

describe('the topics', () => {
  it('are created as needed, and creating them again changes nothing', async () => {
    const log = await freshLog();
    await log.createTopics();
    await expect(log.verifyTopics()).resolves.toBeUndefined();
  });

  it('are deleted only where they belong to nobody else', async () => {
    const log = await freshLog();
    await log.deleteTopics();
    // The other brokers, and this one's metadata, hear of it a moment later.
    await until(
      () =>
        log.verifyTopics().then(
          () => false,
          (error: Error) => error.message.includes('intent.dead does not exist'),
        ),
      'the topics to be gone',
    );
    await expect(createEventLog({ ...freshOptions(), prefix: '' }).deleteTopics()).rejects.toThrow('without a prefix');
  });

  it('are missed by name when they are not there', async () => {
    const options = freshOptions();
    await expect(createEventLog(options).verifyTopics()).rejects.toThrow(
      `${options.prefix}intent.events does not exist`,
    );
  });

  it('are refused with every difference when the cluster has them otherwise', async () => {
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

describe('readiness', () => {
  it('is a broker that answers', async () => {
    expect(await createEventLog(freshOptions()).ready(2_000)).toBe(true);
  });

  it('is missing where nobody listens, within the time given', async () => {
    const began = performance.now();
    expect(await createEventLog(freshOptions({ brokers: ['127.0.0.1:9'] })).ready(500)).toBe(false);
    expect(performance.now() - began).toBeLessThan(1_500);
  });
});
