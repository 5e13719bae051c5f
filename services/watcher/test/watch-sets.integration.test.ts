import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newIntentId, partitionOf } from '@pf/contracts';
import { createStore } from '@pf/database';
import type { ChainId, EventData, IntentId, Reference } from '@pf/domain';
import type { LogReader } from '@pf/event-log';
import { samples } from '@pf/domain/testing';
import { type Cluster, readBackingStack, startCluster } from '@pf/testing';
import { BrokenLogError, WatchSets } from '../src/watch-sets.ts';
import { type IntentLog, openIntentLog } from './intent-log.ts';

const { ACCOUNT, BASE_SEPOLIA, FIRST, request } = samples;
const BASE = 'eip155:8453' as ChainId;
const WATCH_MS = 30 * 86_400_000;

const created = (reference: string, chain = BASE_SEPOLIA): EventData['intent.created'] => ({
  ...request({ reference: reference as Reference, chain }),
  accountId: ACCOUNT,
  livemode: false,
  refundOf: null,
});

describe('WatchSets', () => {
  const stack = readBackingStack();
  let cluster: Cluster;
  let writer: IntentLog;
  let reader: LogReader;
  beforeAll(async () => {
    cluster = await startCluster(stack);
  });
  afterAll(() => cluster.close());
  beforeEach(async () => {
    writer = await openIntentLog(cluster, stack.kafka);
    reader = await cluster.log.reader('watcher-test');
  });
  afterEach(async () => {
    await reader.close();
    await writer.close();
  });
  const setsOf = (...chains: ChainId[]): WatchSets =>
    new WatchSets(createStore(cluster.database).watchedIntents, reader, chains, WATCH_MS);
  async function appendCreated(reference: string, chain?: ChainId, partition = 1): Promise<IntentId> {
    const id = newIntentId(partition);
    await writer.append(id, 'intent.created', created(reference, chain));
    return id;
  }

  it('know every intent in the log when they synchronize, each in the set of its network', async () => {
    const sets = setsOf(BASE_SEPOLIA, BASE);
    const [onTest, onLive] = [await appendCreated('0x11'), await appendCreated('0x12', BASE)];
    const [test, live] = [await sets.synchronize(BASE_SEPOLIA), await sets.synchronize(BASE)];
    expect([test.byReference('0x11' as Reference)?.id, test.byReference('0x12' as Reference)]).toEqual([
      onTest,
      undefined,
    ]);
    expect([live.byReference('0x12' as Reference)?.id, live.byReference('0x11' as Reference)]).toEqual([
      onLive,
      undefined,
    ]);
    test.release();

    const later = await appendCreated('0x13');
    const again = await sets.synchronize(BASE_SEPOLIA);
    expect(again.byReference('0x13' as Reference)?.id).toBe(later);
  });

  it('start from the projection and continue with the log after it', async () => {
    // Before the checkpoint lies what cannot be applied: whoever read the log from its beginning would stop there.
    await writer.appendGarbage(2);
    const id = await appendCreated('0x21', BASE_SEPOLIA, 2);
    await writer.append(id, 'submission_prepared', { transaction: samples.signed(FIRST), attempts: 1 });
    await writer.project(id);
    await writer.append(id, 'intent.pending', { hash: FIRST, fulfiller: samples.BOB, simulated: false });

    const set = await setsOf(BASE_SEPOLIA).synchronize(BASE_SEPOLIA);
    expect(set.byReference('0x21' as Reference)).toMatchObject({
      id,
      status: 'pending',
      submission: { hash: FIRST, broadcastAt: expect.any(Number) },
    });
  });

  it('load only those closed intents that are still watched', async () => {
    const [recent, old] = [await appendCreated('0x31'), await appendCreated('0x32')];
    for (const id of [recent, old]) {
      await writer.append(id, 'intent.cancelled', { cause: 'requested' });
      await writer.project(id);
    }
    await cluster.database.sql.query(
      `UPDATE ledger.intents SET closed_at = closed_at - interval '30 days' WHERE id = $1`,
      [old],
    );
    const set = await setsOf(BASE_SEPOLIA).synchronize(BASE_SEPOLIA);
    expect(set.byReference('0x31' as Reference)?.status).toBe('cancelled');
    expect(set.byReference('0x32' as Reference)).toBeUndefined();
  });

  it('do not change a set while a step holds it, even when another network synchronizes', async () => {
    const sets = setsOf(BASE_SEPOLIA, BASE);
    const inUse = await sets.synchronize(BASE_SEPOLIA);
    const id = await appendCreated('0x41');
    const [other] = await Promise.all([sets.synchronize(BASE), sets.synchronize(BASE)]);
    expect(inUse.byReference('0x41' as Reference)).toBeUndefined();
    other.release();
    inUse.release();
    expect(inUse.byReference('0x41' as Reference)?.id).toBe(id);
  });

  it('stop with an alarm at a missing version', async () => {
    const sets = setsOf(BASE_SEPOLIA);
    const id = await appendCreated('0x51', BASE_SEPOLIA, 3);
    (await sets.synchronize(BASE_SEPOLIA)).release();
    writer.withhold(id, 'intent.detected', {});
    await writer.append(id, 'intent.cancelled', { cause: 'requested' });
    await expect(sets.synchronize(BASE_SEPOLIA)).rejects.toThrow(BrokenLogError);
    await expect(sets.synchronize(BASE_SEPOLIA)).rejects.toMatchObject({
      message: expect.stringContaining(`partition ${partitionOf(id)} `),
      cause: { name: 'VersionGapError' },
    });
  });
});
