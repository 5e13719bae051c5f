import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  addWebhookEndpoint,
  createAccount,
  type DeliverableEvent,
  recordDeliveries,
  webhookPositions,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { deliverableEvent } from './deliverable-event.ts';

const PARTITION = 3;

describe('The position of the webhooks in the log', () => {
  let own: OwnDatabase;
  let accountId: string;
  beforeAll(async () => {
    own = await createOwnDatabase();
    ({ id: accountId } = await createAccount(own.database, { name: 'shop' }));
    await addWebhookEndpoint(own.database, {
      accountId,
      livemode: false,
      url: 'https://shop.example/hooks',
    });
  });
  afterAll(() => own.close());

  const event = (version: number) =>
    deliverableEvent({ accountId, livemode: false }, { partition: PARTITION, version });
  const record = (events: readonly DeliverableEvent[]) =>
    recordDeliveries(own.database, [{ partition: PARTITION, from: 0n, next: 5n, events }], new Date());

  it('stays where it was if the deliveries cannot be written', async () => {
    expect(await webhookPositions(own.database, [PARTITION])).toEqual(new Map([[PARTITION, 0n]]));
    // Too large for its column: Postgres refuses the rows after the position has been moved.
    await expect(record([event(1), event(2 ** 40)])).rejects.toThrow(/out of range/);
    expect(await webhookPositions(own.database, [PARTITION])).toEqual(new Map([[PARTITION, 0n]]));
    expect((await record([event(1)])).due).toHaveLength(1);
    expect(await webhookPositions(own.database, [PARTITION])).toEqual(new Map([[PARTITION, 5n]]));
  });
});
