import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newDeliveryId, newIntentId } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import {
  acquireLanes,
  addWebhookEndpoint,
  countOutstanding,
  openAccount,
  outstandingLanes,
  releaseLanes,
  updateManagedEndpoint,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { kedaQuery } from './keda-query.ts';

const LEASE_MS = 45_000;

describe('A lane', () => {
  let own: OwnDatabase;
  let accountId: string;
  let endpointId: string;
  const now = new Date('2026-11-21T12:00:00.000Z');
  const later = (ms: number): Date => new Date(now.getTime() + ms);
  beforeAll(async () => {
    own = await createOwnDatabase();
  });
  afterAll(() => own.close());
  beforeEach(async () => {
    ({ id: accountId } = await openAccount(own.database, randomBytes(32), { name: 'lanes' }));
    endpointId = await added('https://shop.example/hooks');
  });

  const added = async (url: string): Promise<string> =>
    (await addWebhookEndpoint(own.database, { accountId, livemode: false, url }))?.id ?? '';
  const acquire = async (holder: string, at = now, ids = [endpointId]): Promise<readonly string[]> => {
    const lease = { holder, now: at, until: new Date(at.getTime() + LEASE_MS) };
    return (await acquireLanes(own.database, ids, lease)).map((lane) => lane.endpointId);
  };
  const release = async (holder: string) =>
    (await releaseLanes(own.database, [{ endpointId, heldUntil: null }], { holder, now })).get(endpointId);
  const outstand = (endpoint: string, at: Date | null) =>
    own.database.prisma.delivery.create({
      data: {
        id: newDeliveryId(),
        endpointId: endpoint,
        accountId,
        livemode: false,
        eventId: newDeliveryId(),
        eventType: 'intent.created',
        intentId: newIntentId(0),
        version: 1,
        url: 'https://shop.example/hooks',
        nextAttemptAt: at,
      },
    });

  it('has one holder at a time, until its lease ends', async () => {
    const holders = ['a', 'b', 'c', 'd'];
    const acquired = await Promise.all(holders.map((holder) => acquire(holder)));
    const winners = holders.filter((_, index) => acquired[index]?.length === 1);
    expect(winners).toHaveLength(1);
    const [winner = ''] = winners;
    const other = holders.find((holder) => holder !== winner) ?? '';
    expect(await acquire(other, later(LEASE_MS - 1))).toEqual([]);
    expect(await acquire(winner, later(LEASE_MS - 1))).toEqual([endpointId]);
    expect(await acquire(other, later(LEASE_MS))).toEqual([]);
    expect(await acquire(other, later(2 * LEASE_MS))).toEqual([endpointId]);
  });

  it('is free at once when it is released, and only its holder releases it', async () => {
    await acquire('a');
    expect(await release('b')).toBeUndefined();
    expect(await acquire('b')).toEqual([]);
    expect(await release('a')).toEqual({ woken: true, due: false });
    expect(await acquire('b')).toEqual([endpointId]);
    expect(await release('b')).toEqual({ woken: false, due: false });
  });

  it('tells its next holder until when its account has held it back, at the latest by a pause', async () => {
    const owner = { accountId: accountId as AccountId, livemode: false };
    const heldUntil = async (): Promise<Date | null | undefined> => {
      const [lane] = await acquireLanes(own.database, [endpointId], { holder: 'a', now, until: later(LEASE_MS) });
      return lane?.heldUntil;
    };
    expect(await heldUntil()).toBeNull();
    await releaseLanes(own.database, [{ endpointId, heldUntil: later(-1) }], { holder: 'a', now });
    expect(await heldUntil()).toEqual(later(-1));
    for (const paused of [true, false]) await updateManagedEndpoint(own.database, owner, endpointId, { paused }, now);
    expect(await heldUntil()).toEqual(now);
  });

  it('is neither acquired nor renewed while its URL is paused', async () => {
    const owner = { accountId: accountId as AccountId, livemode: false };
    const pause = (paused: boolean) => updateManagedEndpoint(own.database, owner, endpointId, { paused }, now);
    expect(await acquire('a')).toEqual([endpointId]);
    await pause(true);
    expect(await acquire('a', later(1))).toEqual([]);
    expect(await acquire('b', later(LEASE_MS))).toEqual([]);
    await pause(false);
    expect(await acquire('b', later(LEASE_MS))).toEqual([endpointId]);
  });

  it('holds up its deliveries itself while it is leased or paused: they are not overdue', async () => {
    const owner = { accountId: accountId as AccountId, livemode: false };
    const pause = (paused: boolean) => updateManagedEndpoint(own.database, owner, endpointId, { paused }, now);
    const dueSince = async (at: Date) => (await countOutstanding(own.database, at, 10)).dueSince;
    await own.database.sql.query('DELETE FROM service.deliveries');
    await outstand(endpointId, now);
    expect(await dueSince(later(1))).toEqual(now);
    // A slow receiver with a backlog: someone is sending to it all the time.
    await acquire('a');
    expect(await dueSince(later(LEASE_MS - 1))).toBeNull();
    // Its process has died.
    expect(await dueSince(later(LEASE_MS))).toEqual(now);
    await pause(true);
    expect(await dueSince(later(LEASE_MS))).toBeNull();
  });

  it('has deliveries that are overdue since it was released or resumed, if it was held back until then', async () => {
    const owner = { accountId: accountId as AccountId, livemode: false };
    const dueSince = async (at: Date) => (await countOutstanding(own.database, at, 10)).dueSince;
    await own.database.sql.query('DELETE FROM service.deliveries');
    await outstand(endpointId, later(-2));
    await acquire('a');
    await releaseLanes(own.database, [{ endpointId, heldUntil: later(-1) }], { holder: 'a', now });
    expect(await dueSince(later(1))).toEqual(later(-1));
    for (const paused of [true, false]) await updateManagedEndpoint(own.database, owner, endpointId, { paused }, now);
    expect(await dueSince(later(1))).toEqual(now);
  });

  it('counts for a tenth of a replica at most, however large its backlog, and for nothing while paused', async () => {
    const owner = { accountId: accountId as AccountId, livemode: false };
    const pause = (paused: boolean) => updateManagedEndpoint(own.database, owner, endpointId, { paused }, now);
    const counted = async () => Number((await own.database.sql.query<{ count: string }>(kedaQuery())).rows[0]?.count);
    await own.database.sql.query('DELETE FROM service.deliveries');
    await Promise.all(Array.from({ length: 210 }, () => outstand(endpointId, now)));
    await outstand(await added('https://other.example/hooks'), now);
    expect(await counted()).toBe(201);
    await pause(true);
    expect(await counted()).toBe(1);
  });

  it('tells its last holder that something is still due', async () => {
    await acquire('a');
    await outstand(endpointId, later(1));
    expect(await release('a')).toEqual({ woken: false, due: false });
    await acquire('a');
    await outstand(endpointId, now);
    expect(await release('a')).toEqual({ woken: false, due: true });
  });

  it('exists for the URLs that there are', async () => {
    expect(await acquire('a', now, [endpointId, 'whe_unknown'])).toEqual([endpointId]);
  });

  it('is acquired and released by many processes at once without a deadlock', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, (_, index) => added(`https://shop.example/${index}`)));
    await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (holder, index) => {
        for (let round = 0; round < 10; round += 1) {
          const turned = [...ids.slice(index * 3), ...ids.slice(0, index * 3)];
          const got = await acquire(holder, now, turned);
          await releaseLanes(
            own.database,
            got.map((endpointId) => ({ endpointId, heldUntil: null })),
            { holder, now },
          );
        }
      }),
    );
    expect(await acquire('e', now, ids)).toHaveLength(12);
  });

  it('is woken for what is outstanding: the URLs that have something, with when', async () => {
    const other = await added('https://other.example/hooks');
    const ended = await added('https://ended.example/hooks');
    await outstand(endpointId, later(20));
    await outstand(endpointId, later(10));
    await outstand(other, later(30));
    await outstand(ended, null);
    const ours = async (before: Date) =>
      (await outstandingLanes(own.database, before)).filter((wake) =>
        [endpointId, other, ended].includes(wake.endpointId),
      );
    expect(await ours(later(9))).toEqual([]);
    expect(await ours(later(10))).toEqual([{ endpointId, at: later(10) }]);
    expect(new Set(await ours(later(30)))).toEqual(
      new Set([
        { endpointId, at: later(10) },
        { endpointId: other, at: later(30) },
      ]),
    );
  });
});
