import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createEventLog } from '@pf/event-log';
import { type Brokers, startBrokers } from '@pf/local/brokers';

const PATIENCE_MS = 60_000;

describe.each([1, 3] as const)('startBrokers with %d', (count) => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function start(): Promise<Brokers> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'pf-brokers-'));
    closing.push(() => rm(folder, { recursive: true }));
    const brokers = await startBrokers({ count, folder });
    closing.push(() => brokers.close());
    return brokers;
  }

  it('keeps acknowledged records when each broker in turn is killed and started again', async () => {
    const brokers = await start();
    const log = createEventLog({
      brokers: brokers.addresses.split(','),
      partitions: 3,
      clientId: 'test',
      replication: brokers.replication,
    });
    await log.createTopics();
    await log.verifyTopics();
    const [publisher, reader] = [await log.publisher(), await log.reader('test')];
    closing.push(
      () => publisher.close(),
      () => reader.close(),
    );
    const publish = (value: string): Promise<void> =>
      publisher.publish('intent.dead', { partition: 0, key: 'key', value }, AbortSignal.timeout(PATIENCE_MS));
    await publish('first');
    for (const broker of brokers.nodes) {
      await broker.kill();
      expect(broker.pid).toBeNull();
      // With three, two of them have every record, and are enough.
      if (count === 3) await publish(`without ${broker.id}`);
      await broker.start();
      await publish(`with ${broker.id}`);
    }
    const values: (string | null)[] = [];
    for await (const { records } of reader.read('intent.dead', 0, 0n, await reader.endOffset('intent.dead', 0)))
      values.push(...records.map(({ value }) => value));
    // A request that was repeated can write a record twice.
    expect([...new Set(values)]).toEqual([
      'first',
      ...brokers.nodes.flatMap(({ id }) => [...(count === 3 ? [`without ${id}`] : []), `with ${id}`]),
    ]);
  });
});
