import { about, samples, watcher } from '@pf/domain/testing';
import { OpenSpan } from '@pf/runtime';
import { type Cluster, readWholeLog, startCluster, until } from '@pf/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { create, observed } from './messages.ts';
import { CommandClient, type RunningWriter, startWriter } from './running-writer.ts';

// The machine may be busy with the other processes of the stack.
describe('An intent past expiresAt', () => {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let cluster: Cluster;
  let client: CommandClient;
  let running: RunningWriter;

  beforeAll(async () => {
    cluster = await startCluster();
    client = await CommandClient.open(cluster.log, cluster.database);
    running = await startWriter(cluster, {
      wrap: (writer) => {
        const decide = writer.decide.bind(writer);
        writer.decide = async (partition, records) => {
          if (records[0]?.topic === 'chain.observations') {
            begun.resolve();
            await gate.promise;
          }
          return decide(partition, records);
        };
        return writer;
      },
    });
  });
  afterAll(async () => {
    gate.resolve();
    await running.stop();
    await client.close();
    await cluster.close();
  });

  it('is confirmed when its landing was in the log before the expiry, though not yet decided', async () => {
    const partition = 2;
    const [other, short] = [create({}, { partition }), create({ ttlSeconds: 1 }, { partition })];
    await client.execute(other);
    const { intent } = await client.execute(short);
    await until('its time to run out', () => Date.now() >= Date.parse(intent?.expiresAt ?? ''));
    // The owner is deciding another intent's observation when the landing arrives and the expiry runs.
    await client.send(observed(about(other.intentId, watcher.landed(samples.FIRST))));
    await begun.promise;
    await client.send(observed(about(short.intentId, watcher.landed(samples.SECOND))));
    await running.expiry.look();
    gate.resolve();
    const typesOf = async (): Promise<readonly string[]> =>
      (await readWholeLog(cluster)).events
        .filter(({ intentId }) => intentId === short.intentId)
        .map(({ type }) => type);
    await until('its payment', async () => (await typesOf()).includes('intent.confirmed'));
    expect(await typesOf()).not.toContain('intent.expired');
  });

  it('leaves no span open when it no longer exists', async () => {
    const ended = jest.spyOn(OpenSpan.prototype, 'end');
    const begun = jest.spyOn(OpenSpan.prototype, 'run');
    await running.owner.run(3, null, () => running.writer.expire(3, []));
    expect(begun.mock.contexts).not.toEqual([]);
    // Other spans may have begun meanwhile: the writer has other work.
    await until('each span to end', () => begun.mock.contexts.every((span) => ended.mock.contexts.includes(span)));
    jest.restoreAllMocks();
  });
});
