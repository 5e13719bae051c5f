import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, type Cluster, readBackingStack, startCluster, startTcpProxy, until } from '@pf/testing';

describe('POST /intents while the event log is unavailable', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  it('returns 503 with the id of the intent that may have been created, and creates none', async () => {
    const gateway = await cluster.start('gateway');
    // For this gateway it is as if the brokers were unavailable.
    await cluster.log.deleteTopics();
    const { status, body } = await apiClient(`${gateway.url}/v1`, cluster.apiKeys.test).create({
      chain: 'eip155:84532',
      token: 'USDC',
      amount: '1',
      requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    });
    expect([status, body.error]).toMatchObject([
      503,
      { code: 'service.unavailable', details: { intent_id: expect.stringMatching(/^pi_/) } },
    ]);
    expect((await cluster.database.sql.query('SELECT FROM ledger.intents')).rows).toEqual([]);
  });
});

describe('a gateway that starts while Kafka is unavailable', () => {
  it('serves reads, refuses commands, and sends them once Kafka is back', async () => {
    const cluster = await startCluster();
    const kafka = await startTcpProxy(readBackingStack().kafka.split(',')[0] ?? '');
    try {
      await kafka.cut();
      const [gateway] = await Promise.all([
        cluster.start('gateway', { detours: { kafka: kafka.address } }),
        cluster.start('intent'),
      ]);
      const client = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
      const create = () =>
        client.create({
          chain: 'eip155:84532',
          token: 'USDC',
          amount: '1',
          requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
          idempotencyKey: 'late',
        });
      expect((await create()).body.error).toMatchObject({ code: 'service.unavailable' });
      const list = await fetch(`${gateway.url}/v1/intents`, {
        headers: { authorization: `Bearer ${cluster.apiKeys.test}` },
      });
      expect([list.status, await list.json()]).toMatchObject([200, { intents: [] }]);
      expect(await (await fetch(`${gateway.health}/readyz`)).json()).toMatchObject({
        status: 'degraded',
        checks: { database: 'ok', kafka: 'unavailable' },
      });
      await kafka.restore();
      await until('the intent to be created', async () => (await create()).status === 201);
    } finally {
      await cluster.close();
      await kafka.close();
    }
  });
});
