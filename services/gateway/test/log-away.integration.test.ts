import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, type Cluster, startCluster } from '@pf/testing';

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
