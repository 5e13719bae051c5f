import { newIntentId } from '@pf/contracts';
import { addWebhookEndpoint, type DeliverableEvent, recordDeliveries, webhookPositions } from '@pf/database';
import { type Cluster, startCluster } from '@pf/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const PARTITION = 3;

describe('the position of the webhooks in the log', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await addWebhookEndpoint(cluster.database, {
      accountId: cluster.accountId,
      livemode: false,
      url: 'https://shop.example/hooks',
    });
  }, 60_000);
  afterAll(() => cluster.close());

  const event = (version: number): DeliverableEvent => {
    const intentId = newIntentId(PARTITION);
    return {
      eventId: `evt_${intentId}`,
      eventType: 'intent.created',
      intentId,
      version,
      accountId: cluster.accountId,
      livemode: false,
      traceparent: null,
      requestId: null,
    };
  };
  const record = (events: readonly DeliverableEvent[]) =>
    recordDeliveries(cluster.database, { partition: PARTITION, from: 0n, next: 5n, events, at: new Date() });

  it('stays where it was when the rows cannot be written', async () => {
    expect(await webhookPositions(cluster.database, [PARTITION])).toEqual(new Map([[PARTITION, 0n]]));
    // Too large for its column: Postgres refuses the rows after the position has been moved.
    await expect(record([event(1), event(2 ** 40)])).rejects.toThrow(/out of range/);
    expect(await webhookPositions(cluster.database, [PARTITION])).toEqual(new Map([[PARTITION, 0n]]));
    expect(await record([event(1)])).toHaveLength(1);
    expect(await webhookPositions(cluster.database, [PARTITION])).toEqual(new Map([[PARTITION, 5n]]));
  });
});
