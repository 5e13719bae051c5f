import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { createEventLog, type EventLogOptions } from '../../src/index.ts';
import { createClient, PATIENT_RETRY } from '../../src/kafka/client.ts';
import { freshLog, freshOptions, until } from '../stack.ts';

// A busy machine may be slow.
describe('the topics of the log', () => {
  it('are created when missing; creating them again changes nothing', async () => {
    const log = await freshLog();
    await log.createTopics();
    await expect(log.verifyTopics()).resolves.toBeUndefined();
  });

  it('take one request for all their partitions as soon as they are created, so nothing is written twice', async () => {
    for (let round = 0; round < 5; round++) {
      const log = await freshLog();
      const [publisher, reader] = await Promise.all([log.publisher(), log.reader('test')]);
      const partitions = Array.from({ length: log.partitions }, (_, partition) => partition);
      try {
        await Promise.all(
          partitions.map((partition) => publisher.publish('intent.dead', { partition, key: 'pi_test', value: 'once' })),
        );
        const ends = await Promise.all(partitions.map((partition) => reader.endOffset('intent.dead', partition)));
        expect(ends).toEqual(partitions.map(() => 1n));
      } finally {
        await Promise.all([publisher.close(), reader.close()]);
      }
    }
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

  it.each([
    ['cleanup.policy', 'compact', 'has cleanup.policy compact, not delete'],
    ['retention.ms', '86400000', 'has retention.ms 86400000, not -1'],
    ['retention.bytes', '1073741824', 'has retention.bytes 1073741824, not -1'],
    ['unclean.leader.election.enable', 'true', 'has unclean.leader.election.enable true, not false'],
    ['message.timestamp.type', 'CreateTime', 'has message.timestamp.type CreateTime, not LogAppendTime'],
    ['compression.type', 'lz4', 'has compression.type lz4, not one of producer, zstd, gzip, uncompressed'],
    ['max.message.bytes', '500000', 'has max.message.bytes 500000, not 1048588 or more'],
  ])('are rejected when %s was set to %s', async (name, value, message) => {
    const options = freshOptions();
    const log = await freshLog(options);
    await alter(options, `${options.prefix}intent.events`, name, value);
    await until(
      () =>
        log.verifyTopics().then(
          () => false,
          (error: Error) => error.message.includes(`${options.prefix}intent.events ${message}`),
        ),
      `the rejection of ${name} ${value}`,
    );
  });

  it.each([
    ['compression.type', 'zstd'],
    ['max.message.bytes', '2097152'],
  ])('are accepted with %s %s, which their creation does not set', async (name, value) => {
    const options = freshOptions();
    const log = await freshLog(options);
    await alter(options, `${options.prefix}intent.events`, name, value);
    await expect(log.verifyTopics()).resolves.toBeUndefined();
  });
});

/** Changes one configuration of a topic, and keeps the others. */
async function alter(options: EventLogOptions, topic: string, name: string, value: string): Promise<void> {
  const admin = createClient(options, 'test', PATIENT_RETRY).admin();
  try {
    await admin.connect();
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
    });
    const kept = (resources[0]?.configEntries ?? []).filter((entry) => !entry.isDefault && entry.configName !== name);
    await admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: kafkajs.ConfigResourceTypes.TOPIC,
          name: topic,
          configEntries: [
            ...kept.map((entry) => ({ name: entry.configName, value: entry.configValue })),
            { name, value },
          ],
        },
      ],
    });
  } finally {
    await admin.disconnect();
  }
}

describe('EventLog.ready', () => {
  it('resolves to true when a broker responds', async () => {
    expect(await createEventLog(freshOptions()).ready(60_000)).toBe(true);
  });

  it('resolves to false within the time-out when no broker listens', async () => {
    const ready = createEventLog(freshOptions({ brokers: ['127.0.0.1:9'] })).ready(500);
    // Timers fire in the order of their times, however busy the machine is.
    expect(await Promise.race([ready, delay(1_500, 'late')])).toBe(false);
  });
});
