import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, type Cluster, startCluster } from '@pf/testing';

describe('a gateway whose log takes nothing', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  }, 60_000);
  afterAll(() => cluster.close());

  it('says that it cannot be reached now, and which intent may come to be: it has not created one', async () => {
    const gateway = await cluster.start('gateway');
    // For this gateway alone it is as if the brokers were away.
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
  }, 60_000);
});
