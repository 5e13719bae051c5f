import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readBackingStack, until } from '@pf/testing';
import kafkajs from 'kafkajs';
import { createTopic } from './topic.ts';

// What docs/guide/analysts.md says of readers of intent.events, on a topic that is written to in transactions.
describe('a reader of a topic that is written to in transactions', () => {
  const topic = `analysts-${randomUUID()}`;
  const kafka = new kafkajs.Kafka({
    clientId: 'analyst',
    brokers: readBackingStack().kafka.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const admin = kafka.admin();
  const producer = kafka.producer({ transactionalId: topic, maxInFlightRequests: 1, idempotent: true });

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
    await createTopic(admin, topic);
    for (const [value, ends] of [
      ['first', 'commit'],
      ['never happened', 'abort'],
      ['second', 'commit'],
    ] as const) {
      const transaction = await producer.transaction();
      await transaction.send({ topic, messages: [{ value }] });
      await transaction[ends]();
    }
  });
  afterAll(async () => {
    await admin.deleteTopics({ topics: [topic] });
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  async function read(readUncommitted: boolean): Promise<readonly (readonly [string, string])[]> {
    const consumer = kafka.consumer({ groupId: `${topic}-${readUncommitted}`, readUncommitted });
    const found: (readonly [string, string])[] = [];
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachMessage: ({ message: { offset, value } }) => Promise.resolve(void found.push([offset, String(value)])),
    });
    await until('the last record', () => found.some(([, value]) => value === 'second'));
    await consumer.disconnect();
    return found;
  }

  it('gets only committed records with read_committed, with gaps where transactions end', async () => {
    expect(await read(false)).toEqual([
      ['0', 'first'],
      ['4', 'second'],
    ]);
  });

  it('also gets aborted records with read_uncommitted', async () => {
    expect(await read(true)).toEqual([
      ['0', 'first'],
      ['2', 'never happened'],
      ['4', 'second'],
    ]);
  });
});
