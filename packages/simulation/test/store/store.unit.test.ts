import { describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import { isDatabaseUnavailable, type ProjectionBatch, UNSPLIT } from '@pf/database';
import { events, samples } from '@pf/domain/testing';
import { type Kernel, simulate } from '@pf/simulation/kernel';
import { SimulatedDatabase } from '@pf/simulation/store';
import { PartitionLog } from '../../../database/test/ledger/partition-log.ts';
import { storeSuite } from '../../../database/test/store/suite.ts';

describe('The simulated store', () => {
  storeSuite(
    (test) => () =>
      simulate(1, async (kernel) => {
        const database = new SimulatedDatabase(kernel, { rowsAFetch: 1 });
        await test({
          store: database.store,
          now: async () => {
            await kernel.sleep(1);
            return database.now();
          },
          addEndpoint: async (accountId) => database.addEndpoint(accountId, false),
          disableEndpoint: async (id) => {
            database.change(({ endpoints }) => {
              const endpoint = endpoints.get(id);
              if (endpoint) endpoints.set(id, { ...endpoint, disabled: true });
            });
          },
          setWebhookPosition: async (partition, position) =>
            database.change(({ webhookPositions }) => webhookPositions.set(partition, position)),
        });
        expect(database.lossyRows()).toEqual([]);
      }),
  );

  const PARTITION = 3;
  /** A database, and two batches of one intent. */
  const projecting = async (kernel: Kernel): Promise<[SimulatedDatabase, ProjectionBatch, ProjectionBatch]> => {
    const database = new SimulatedDatabase(kernel);
    await database.store.ledger.checkpoint(PARTITION);
    const log = new PartitionLog(PARTITION);
    const id = newIntentId(PARTITION);
    return [
      database,
      log.append(0n, 2n, events.of(id, events.created({ idempotencyKey: 'key' }))),
      log.append(2n, 4n, events.of(id, events.detected())),
    ];
  };
  const state = async ({ store }: SimulatedDatabase, { intents }: ProjectionBatch) => {
    const found = await store.ledger.lookUp({
      partition: PARTITION,
      ids: intents.map(({ intent }) => intent.id),
      keys: [{ accountId: samples.ACCOUNT, livemode: false, idempotencyKey: 'key' }],
      commandIds: [],
    });
    return [found.position, ...found.intents.map(({ version }) => version)];
  };

  it('is set back by a failover, to what was committed before', () =>
    simulate(1, async (kernel) => {
      const [database, first, second] = await projecting(kernel);
      await database.store.ledger.project(first);
      await kernel.sleep(1_000);
      await database.store.ledger.project(second);
      expect(await state(database, first)).toEqual([4n, 2, 2]);
      expect(database.failOver(500)).toBe(1);
      await kernel.sleep(1);
      expect(await state(database, first)).toEqual([2n, 1, 1]);
      expect(await database.store.ledger.project(second)).toBe(true);
      expect(database.failOver(3_600_000)).toBe(3);
      await kernel.sleep(1);
      expect(await state(database, first)).toEqual([0n]);
      expect([...database.tables.events.values(), ...database.tables.outcomes.values()]).toEqual([]);
    }));

  it('is unavailable until the standby is ready, and ends a load that the former server began', () =>
    simulate(1, async (kernel) => {
      const [database, first] = await projecting(kernel);
      await database.store.ledger.project(first);
      let failedOver = false;
      const each = (): void => {
        if (!failedOver) database.failOver(0, 5_000);
        failedOver = true;
      };
      const load = database.store.watchedIntents.load([samples.BASE_SEPOLIA], 0, each, UNSPLIT);
      await expect(load).rejects.toThrow('Connection terminated');
      const refused: unknown = await database.store.ledger.checkpoint(PARTITION).catch((error: unknown) => error);
      expect(isDatabaseUnavailable(refused)).toBe(true);
      await kernel.sleep(5_000);
      expect(await state(database, first)).toEqual([2n, 1, 1]);
    }));

  it.each([
    ['lost', { lostRequests: 1, lostReplies: 0 }, [0n]],
    ['executed without a reply', { lostRequests: 0, lostReplies: 1 }, [2n, 1, 1]],
  ])('has a statement that fails for its client %s', (_how, faults, after) =>
    simulate(1, async (kernel) => {
      const [database, first] = await projecting(kernel);
      Object.assign(kernel.network, faults);
      const failure: unknown = await database.store.ledger.project(first).catch((error: unknown) => error);
      expect(isDatabaseUnavailable(failure)).toBe(true);
      Object.assign(kernel.network, { lostRequests: 0, lostReplies: 0 });
      expect(await state(database, first)).toEqual(after);
    }),
  );

  it('cancels statements, which then have done nothing', () =>
    simulate(1, async (kernel) => {
      const [database, first] = await projecting(kernel);
      database.canceled = 1;
      const failure: unknown = await database.store.ledger.project(first).catch((error: unknown) => error);
      expect(isDatabaseUnavailable(failure)).toBe(true);
      database.canceled = 0;
      expect(await state(database, first)).toEqual([0n]);
    }));
});
