import { describe, expect, it } from '@jest/globals';
import { eventIdOf, newCommandId, newIntentId, type Outcome } from '@pf/contracts';
import {
  type AccountId,
  BLOCKS_BEHIND_MS,
  type ChainId,
  type CommandId,
  type Instant,
  type IntentId,
  type PaymentIntent,
  type TransactionHash,
} from '@pf/domain';
import { deposits, events, type ExpectedEvent, samples } from '@pf/domain/testing';
import {
  type DeliverableEvent,
  type DeliveryBatch,
  type IntentOwner,
  isDatabaseUnavailable,
  type LedgerStore,
  type NewDelivery,
  type Overdue,
  type ProjectedOutcome,
  type ProjectionBatch,
  ProjectionGapError,
  type Store,
  UNSPLIT,
  type WantedAmount,
} from '../../src/index.ts';
import { DepositLog, newDeposit } from '../ledger/deposit-log.ts';
import { NOW, PartitionLog } from '../ledger/partition-log.ts';
import { deliverableEvent } from '../webhooks/deliverable-event.ts';

/** An empty store, and what the port itself does not offer. */
export interface StoreUnderTest {
  readonly store: Store;
  /** The store's own time. */
  readonly now: () => Promise<Instant>;
  /** Adds an account with one URL in test mode; returns the id of the URL. */
  addEndpoint(accountId: AccountId): Promise<string>;
  disableEndpoint(id: string): Promise<void>;
  setWebhookPosition(partition: number, position: bigint): Promise<void>;
}

const PARTITION = 3;
const OWNER: IntentOwner = { accountId: samples.ACCOUNT, livemode: false };
const CHAIN = samples.BASE_SEPOLIA;
const OTHER_CHAIN = 'eip155:8453' as ChainId;
/** Long enough that no lease expires by itself during a test. */
const LONG_MS = 600_000;
/** A lease that has expired when it is granted. */
const EXPIRED_MS = -1;

/** A partition of the log whose events are projected one batch after the other. */
class Projecting {
  readonly log: PartitionLog;
  readonly #store: Store;
  #position = 0n;

  constructor(store: Store, partition = PARTITION) {
    this.#store = store;
    this.log = new PartitionLog(partition);
  }

  get position(): bigint {
    return this.#position;
  }

  /** The batch after everything that is projected. */
  batch(...batch: readonly ExpectedEvent[]): ProjectionBatch {
    return this.log.append(this.#position, this.#position + BigInt(batch.length) + 1n, ...batch);
  }

  async project(...batch: readonly ExpectedEvent[]): Promise<ProjectionBatch> {
    await this.#store.ledger.checkpoint(this.log.partition);
    const made = this.batch(...batch);
    expect(await this.#store.ledger.project(made)).toBe(true);
    this.#position = made.next;
    return made;
  }
}

const outcome = (commandId: CommandId, intentId: IntentId, replayed = false): ProjectedOutcome => ({
  outcome: { kind: 'accepted', commandId, intentId, replayed, build: null, attempts: null },
  at: NOW,
});
const ids = (found: readonly PaymentIntent[]): readonly IntentId[] => found.map(({ id }) => id);
/** The intents with these ids. */
const find = async (ledger: LedgerStore, wanted: readonly IntentId[]): Promise<readonly PaymentIntent[]> =>
  (await ledger.lookUp({ partition: PARTITION, ids: wanted, keys: [], commandIds: [] })).intents;
const versions = (found: readonly PaymentIntent[]): readonly number[] => found.map(({ version }) => version);

/**
 * What every store does: that in Postgres and the simulated one.
 * @param on runs a test on an empty store
 */
export function storeSuite(on: (test: (tested: StoreUnderTest) => Promise<void>) => () => Promise<void>): void {
  describe('Projecting a batch', () => {
    it(
      'begins at 0',
      on(async ({ store: { ledger } }) => {
        expect(await ledger.checkpoint(PARTITION)).toEqual({ position: 0n, lastAt: 0 });
      }),
    );

    it(
      'has a checkpoint for each partition that is asked for, in that order, where some begin',
      on(async ({ store: { ledger } }) => {
        await ledger.checkpoint(PARTITION);
        const log = new PartitionLog(PARTITION);
        expect(await ledger.project(log.append(0n, 2n, events.of(newIntentId(PARTITION), events.created())))).toBe(
          true,
        );
        const [other, ours, again] = await ledger.checkpointAll([PARTITION + 1, PARTITION, PARTITION + 1]);
        expect([other?.position, ours, again]).toEqual([0n, await ledger.checkpoint(PARTITION), other]);
      }),
    );

    it(
      'writes it once: at another checkpoint nothing changes',
      on(async ({ store }) => {
        const { ledger } = store;
        await ledger.checkpoint(PARTITION);
        const id = newIntentId(PARTITION);
        const log = new PartitionLog(PARTITION);
        const first = log.append(0n, 2n, events.of(id, events.created()));
        expect([await ledger.project(first), await ledger.project(first)]).toEqual([true, false]);
        const second = log.append(2n, 4n, events.of(id, events.detected()));
        expect(await ledger.project({ ...second, from: 1n })).toBe(false);
        expect([versions(await find(ledger, [id])), (await ledger.checkpoint(PARTITION)).position]).toEqual([[1], 2n]);
        expect(await ledger.project(second)).toBe(true);
        expect([versions(await find(ledger, [id])), (await ledger.checkpoint(PARTITION)).position]).toEqual([[2], 4n]);
      }),
    );

    it(
      'writes nothing where the partition has no checkpoint',
      on(async ({ store }) => {
        const batch = new Projecting(store).batch(events.of(newIntentId(PARTITION), events.created()));
        expect(await store.ledger.project(batch)).toBe(false);
        expect(
          await find(
            store.ledger,
            batch.intents.map(({ intent }) => intent.id),
          ),
        ).toEqual([]);
      }),
    );

    it(
      'writes those of several partitions, except one whose checkpoint is elsewhere',
      on(async ({ store }) => {
        const { ledger } = store;
        const partitions = [PARTITION, PARTITION + 1, PARTITION + 2];
        const made = await Promise.all(
          partitions.map(async (partition) => {
            await ledger.checkpoint(partition);
            const [id, commandId] = [newIntentId(partition), newCommandId()];
            const log = new PartitionLog(partition);
            await ledger.project(log.append(0n, 2n, events.of(id, events.created())));
            const changed = log.append(2n, 4n, events.of(id, events.detected()));
            return { id, commandId, batch: { ...changed, outcomes: [outcome(commandId, id)] } };
          }),
        );
        const batches = made.map(({ batch }, index) => (index === 1 ? { ...batch, from: 1n } : batch));
        expect([...(await ledger.projectAll(batches))].sort()).toEqual([PARTITION, PARTITION + 2]);
        const found = await ledger.lookUpAll(
          made.map(({ id, commandId, batch: { partition } }) => ({
            partition,
            ids: [id],
            keys: [],
            commandIds: [commandId],
          })),
        );
        expect(found.map(({ position, intents, outcomes }) => [position, versions(intents), outcomes.length])).toEqual([
          [4n, [2], 1],
          [2n, [1], 0],
          [4n, [2], 1],
        ]);
        expect(found.map(({ intents }) => ids(intents))).toEqual(made.map(({ id }) => [id]));
      }),
    );

    it(
      'writes nothing of several partitions if an intent of one of them is at another version',
      on(async ({ store }) => {
        const other = new Projecting(store, PARTITION + 1);
        await store.ledger.checkpoint(PARTITION + 1);
        await new Projecting(store).project(events.of(newIntentId(PARTITION), events.created()));
        const log = new PartitionLog(PARTITION);
        const gap = log.append(2n, 4n, events.of(newIntentId(PARTITION), events.created()));
        const wrong = { ...gap, intents: gap.intents.map(({ intent }) => ({ intent, before: 1 })) };
        const right = other.batch(events.of(newIntentId(PARTITION + 1), events.created()));
        await expect(store.ledger.projectAll([wrong, right])).rejects.toBeInstanceOf(ProjectionGapError);
        expect((await store.ledger.checkpoint(PARTITION + 1)).position).toBe(0n);
        expect(await store.ledger.project(right)).toBe(true);
      }),
    );

    it(
      'is done by one of several writers',
      on(async ({ store }) => {
        await store.ledger.checkpoint(PARTITION);
        const batch = new Projecting(store).batch(events.of(newIntentId(PARTITION), events.created()));
        const projected = await Promise.allSettled(Array.from({ length: 5 }, () => store.ledger.project(batch)));
        expect(projected.filter((one) => one.status === 'fulfilled' && one.value)).toHaveLength(1);
        const refused = projected.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
        expect(refused.filter((error) => !isDatabaseUnavailable(error))).toEqual([]);
      }),
    );

    it.each<[string, (batch: ProjectionBatch, id: IntentId) => ProjectionBatch]>([
      [
        'is at another version',
        (batch, id) => ({
          ...batch,
          intents: batch.intents.map((one) => (one.intent.id === id ? { ...one, before: 7 } : one)),
        }),
      ],
      [
        'is missing',
        (batch, id) => ({
          ...batch,
          intents: batch.intents.map((one) =>
            one.intent.id === id ? { ...one, intent: { ...one.intent, id: newIntentId(PARTITION) } } : one,
          ),
        }),
      ],
    ])('writes nothing of it if one intent %s', (_what, damaged) =>
      on(async ({ store }) => {
        const projecting = new Projecting(store);
        const id = newIntentId(PARTITION);
        const other = newIntentId(PARTITION);
        await projecting.project(events.of(id, events.created()));
        const batch = projecting.batch(events.of(other, events.created()), events.of(id, events.detected()));
        const commandIds = batch.outcomes.map(({ outcome: { commandId } }) => commandId);
        expect(commandIds).toHaveLength(2);
        await expect(store.ledger.project(damaged(batch, id))).rejects.toBeInstanceOf(ProjectionGapError);
        expect(versions(await find(store.ledger, [id, other]))).toEqual([1]);
        expect(await store.intents.findOutcomes(commandIds)).toEqual([]);
        expect(await store.ledger.checkpoint(PARTITION)).toMatchObject({ position: projecting.position });
        expect(await store.ledger.project(batch)).toBe(true);
      })(),
    );

    it(
      'writes nothing of it if an intent that it creates exists already',
      on(async ({ store: { ledger } }) => {
        await ledger.checkpoint(PARTITION);
        const first = new PartitionLog(PARTITION).append(0n, 2n, events.of(newIntentId(PARTITION), events.created()));
        await ledger.project(first);
        const again = { ...first, from: 2n, next: 4n, events: [], outcomes: [] };
        await expect(ledger.project(again)).rejects.toBeInstanceOf(ProjectionGapError);
        expect((await ledger.checkpoint(PARTITION)).position).toBe(2n);
      }),
    );

    it(
      'writes nothing of it if one of its public events exists already',
      on(async ({ store }) => {
        const projecting = new Projecting(store);
        const id = newIntentId(PARTITION);
        const { events: listed } = await projecting.project(events.of(id, events.created()));
        const batch = projecting.batch(events.of(id, events.detected()));
        await expect(store.ledger.project({ ...batch, events: listed })).rejects.toBeInstanceOf(ProjectionGapError);
        expect(versions(await find(store.ledger, [id]))).toEqual([1]);
      }),
    );

    it(
      'never moves the last time back',
      on(async ({ store: { ledger } }) => {
        await ledger.checkpoint(PARTITION);
        const log = new PartitionLog(PARTITION);
        await ledger.project(log.append(0n, 2n, events.of(newIntentId(PARTITION), events.created())));
        await ledger.project({ ...log.append(2n, 3n), lastAt: NOW - 1_000 });
        expect((await ledger.checkpoint(PARTITION)).lastAt).toBe(NOW);
      }),
    );

    it(
      'keeps the first outcome of a command',
      on(async ({ store }) => {
        const [commandId, id] = [newCommandId(), newIntentId(PARTITION)];
        await store.ledger.checkpoint(PARTITION);
        const log = new PartitionLog(PARTITION);
        const first = { ...log.append(0n, 1n), outcomes: [outcome(commandId, id), outcome(commandId, id, true)] };
        expect(await store.ledger.project(first)).toBe(true);
        const second = { ...log.append(1n, 2n), outcomes: [outcome(commandId, id, true)] };
        expect(await store.ledger.project(second)).toBe(true);
        expect(await store.intents.findOutcomes([commandId, newCommandId()])).toEqual([outcome(commandId, id).outcome]);
      }),
    );
  });

  describe('Projecting deposits', () => {
    const { id, hash } = newDeposit(PARTITION);
    const landed = deposits.depositLanded({ arrival: deposits.arrival({ hash }) }, id);
    const lost = deposits.depositLost(deposits.arrival(), id);
    const found = async (ledger: LedgerStore, partition = PARTITION) =>
      (await ledger.lookUp({ partition, ids: [], keys: [], commandIds: [], depositIds: [id] })).deposits;

    it(
      'stores them as they were folded, one version after the other',
      on(async ({ store: { ledger } }) => {
        await ledger.checkpoint(PARTITION);
        const log = new DepositLog(PARTITION);
        const first = log.append(0n, 2n, landed);
        expect([await ledger.project(first), await ledger.project(first)]).toEqual([true, false]);
        expect(await found(ledger)).toEqual(first.deposits?.map(({ deposit }) => deposit));
        const both = log.append(2n, 5n, lost, landed);
        expect(await ledger.project(both)).toBe(true);
        expect(await found(ledger)).toEqual(both.deposits?.map(({ deposit }) => deposit));
        expect(await found(ledger)).toMatchObject([{ version: 3, level: 'confirmed' }]);
        expect(await found(ledger, PARTITION + 1)).toEqual([]);
      }),
    );

    it(
      'finds a deposit for its owner only',
      on(async ({ store: { ledger, intents } }) => {
        await ledger.checkpoint(PARTITION);
        await ledger.project(new DepositLog(PARTITION).append(0n, 1n, landed));
        expect(await intents.findDeposit(id, OWNER)).toMatchObject({ id, version: 1 });
        expect(await intents.findDeposit(id, { ...OWNER, livemode: true })).toBeNull();
        expect(await intents.findDeposit(id, { ...OWNER, accountId: samples.OTHER_ACCOUNT })).toBeNull();
      }),
    );

    it(
      'writes nothing of a batch where one is at another version',
      on(async ({ store: { ledger } }) => {
        await ledger.checkpoint(PARTITION);
        const log = new DepositLog(PARTITION);
        const first = log.append(0n, 2n, landed);
        const second = log.append(2n, 4n, lost);
        await expect(ledger.project({ ...second, from: 0n })).rejects.toThrow(ProjectionGapError);
        expect(await ledger.project(first)).toBe(true);
        await expect(ledger.project({ ...first, from: 2n })).rejects.toThrow(ProjectionGapError);
        expect([await found(ledger), (await ledger.checkpoint(PARTITION)).position]).toMatchObject([
          [{ version: 1 }],
          2n,
        ]);
      }),
    );
  });

  describe('The projection', () => {
    it(
      'returns intents as they were projected',
      on(async ({ store }) => {
        const projecting = new Projecting(store);
        const [id, paid] = [newIntentId(PARTITION), newIntentId(PARTITION)];
        const { intents } = await projecting.project(
          events.of(id, events.created({ metadata: { 'a key': 'väl"ue' }, idempotencyKey: 'one' })),
          ...[events.created(), events.built(), events.prepared(samples.FIRST), events.confirmed(samples.FIRST)].map(
            (event) => events.of(paid, event),
          ),
        );
        const found = await find(store.ledger, [paid, id, newIntentId(PARTITION), paid]);
        expect(new Map(found.map((intent) => [intent.id, intent]))).toEqual(
          new Map(intents.map(({ intent }) => [intent.id, intent])),
        );
        expect(found).toHaveLength(2);
      }),
    );

    it(
      'finds an intent for its owner only',
      on(async ({ store }) => {
        const id = newIntentId(PARTITION);
        await new Projecting(store).project(events.of(id, events.created()));
        const { intents } = store;
        expect(await intents.findIntent(id, OWNER)).toMatchObject({ id, version: 1 });
        expect(await intents.findIntent(id, { ...OWNER, livemode: true })).toBeNull();
        expect(await intents.findIntent(id, { ...OWNER, accountId: samples.OTHER_ACCOUNT })).toBeNull();
        expect(await intents.findIntent(newIntentId(PARTITION), OWNER)).toBeNull();
      }),
    );

    it(
      'finds the other intent for which a payment was reported',
      on(async ({ store }) => {
        const [id, other] = [newIntentId(PARTITION), newIntentId(PARTITION)];
        const reported = events.mismatchedPayment(samples.UNKNOWN, samples.UNPROVEN, 'reference');
        await new Projecting(store).project(events.of(id, events.created()), events.of(id, reported));
        const { intents } = store;
        const landing = samples.landing(samples.UNKNOWN);
        expect(await intents.findReported(landing, OWNER, other, NOW)).toBe(id);
        expect(await intents.findReported(landing, OWNER, id, NOW)).toBeNull();
        expect(await intents.findReported(samples.landing(samples.FIRST), OWNER, other, NOW)).toBeNull();
        const less = samples.landing(samples.UNKNOWN, { amount: 1n });
        expect(await intents.findReported(less, OWNER, other, NOW)).toBeNull();
        expect(await intents.findReported(landing, { ...OWNER, livemode: true }, other, NOW)).toBeNull();
        expect(await intents.findReported(landing, OWNER, other, NOW + 86_400_000)).toBeNull();
      }),
    );

    it(
      'finds, of several intents for which a payment was reported, the one of the newest report',
      on(async ({ store }) => {
        const all = Array.from({ length: 8 }, () => newIntentId(PARTITION));
        const reported = events.mismatchedPayment(samples.UNKNOWN, samples.UNPROVEN, 'reference');
        const projecting = new Projecting(store);
        for (const id of all) await projecting.project(events.of(id, events.created()), events.of(id, reported));
        // Of the same time: then the last by its id.
        const [newest] = all.toSorted((one, other) => (eventIdOf(one, 2) < eventIdOf(other, 2) ? 1 : -1));
        const landing = samples.landing(samples.UNKNOWN);
        expect(await store.intents.findReported(landing, OWNER, newIntentId(PARTITION), NOW)).toBe(newest);
      }),
    );

    it(
      'finds the newest intent of an idempotency key',
      on(async ({ store }) => {
        const [older, newer] = [newIntentId(PARTITION), newIntentId(PARTITION)];
        // Created a day apart.
        const day = 86_400_000;
        const apart = new Projecting(store);
        const batch = apart.batch(
          ...[older, newer].map((id) => events.of(id, events.created({ idempotencyKey: 'two' }))),
        );
        const moved = batch.intents.map(({ intent }, index) => ({
          intent: { ...intent, id: newIntentId(PARTITION), createdAt: NOW + index * day },
          before: 0,
        }));
        await store.ledger.checkpoint(PARTITION);
        await store.ledger.project({ ...batch, intents: moved, events: [] });
        const newest = moved[1]?.intent.id;
        expect(await store.intents.findIntentByKey('two', OWNER, NOW + day)).toMatchObject({ id: newest });
        expect(await store.intents.findIntentByKey('two', OWNER, NOW + day + 1)).toBeNull();
        expect(await store.intents.findIntentByKey('three', OWNER, 0)).toBeNull();
        expect(await store.intents.findIntentByKey('two', { ...OWNER, livemode: true }, 0)).toBeNull();
        const wanted = { partition: PARTITION, ids: [], commandIds: [] };
        const { intents: found } = await store.ledger.lookUp({
          ...wanted,
          keys: [
            { ...OWNER, idempotencyKey: 'two' },
            { ...OWNER, livemode: true, idempotencyKey: 'two' },
            { ...OWNER, idempotencyKey: 'three' },
          ],
        });
        expect(ids(found)).toEqual([newest]);
      }),
    );

    it(
      'is looked up with the checkpoint of the same snapshot',
      on(async ({ store }) => {
        const { ledger } = store;
        const wanted = { partition: PARTITION, ids: [], keys: [], commandIds: [] };
        expect(await ledger.lookUp(wanted)).toEqual({
          position: 0n,
          intents: [],
          outcomes: [],
          deposits: [],
          cold: [],
        });
        const projecting = new Projecting(store);
        const id = newIntentId(PARTITION);
        await projecting.project(events.of(id, events.created()));
        await new Projecting(store, PARTITION + 1).project(events.of(newIntentId(PARTITION + 1), events.created()));
        expect(await ledger.lookUp({ ...wanted, ids: [id] })).toMatchObject({
          position: projecting.position,
          intents: [{ id, version: 1 }],
        });
        await projecting.project(events.of(id, events.detected()));
        expect(await ledger.lookUp({ ...wanted, ids: [id] })).toMatchObject({
          position: projecting.position,
          intents: [{ id, version: 2 }],
        });
      }),
    );

    it(
      'is looked up by keys of one partition that have made their intents in another',
      on(async ({ store }) => {
        const id = newIntentId(PARTITION + 1);
        await new Projecting(store, PARTITION + 1).project(events.of(id, events.created({ idempotencyKey: 'three' })));
        const wanted = { ids: [], commandIds: [] };
        const key = { ...OWNER, idempotencyKey: 'three' };
        const found = await store.ledger.lookUpAll([
          { ...wanted, partition: PARTITION + 1, keys: [{ ...key, idempotencyKey: 'none' }] },
          { ...wanted, partition: PARTITION, keys: [{ ...key, livemode: true }, key] },
        ]);
        expect(found.map(({ intents }) => ids(intents))).toEqual([[], [id]]);
      }),
    );

    it(
      'is looked up with originals, their refunds, and outcomes',
      on(async ({ store }) => {
        const projecting = new Projecting(store);
        const paid = [events.created(), events.confirmed(samples.FIRST)];
        const { outcomes } = await projecting.project(
          ...paid.map((event) => events.of(samples.INTENT, event)),
          events.refundCreated(samples.REFUND),
          events.refundLinked(samples.REFUND),
          events.refundCreated(samples.SUCCESSOR),
        );
        const known = outcomes.map((one) => one.outcome);
        const wanted = { partition: PARTITION, keys: [], commandIds: [...known.slice(0, 2).map(idOf), newCommandId()] };
        const { intents, outcomes: found } = await store.ledger.lookUp({ ...wanted, ids: [samples.SUCCESSOR] });
        expect(new Set(ids(intents))).toEqual(new Set([samples.SUCCESSOR, samples.INTENT, samples.REFUND]));
        expect(new Set(found.map(idOf))).toEqual(new Set(known.slice(0, 2).map(idOf)));
        expect(found).toEqual(expect.arrayContaining(known.slice(0, 2)));
        const original = await store.ledger.lookUp({ ...wanted, ids: [samples.INTENT] });
        expect(new Set(ids(original.intents))).toEqual(new Set([samples.INTENT, samples.REFUND]));
      }),
    );

    it(
      'names overdue intents, the longest overdue first, of the partitions that are asked for',
      on(async ({ store }) => {
        const { ledger } = store;
        const [first, second, later, closed, pending] = Array.from({ length: 5 }, () => newIntentId(PARTITION));
        if (!first || !second || !later || !closed || !pending) throw new Error('five ids');
        const expiring = (id: IntentId, ttlSeconds: number) => events.of(id, events.created({ ttlSeconds }));
        await new Projecting(store).project(
          expiring(later, 200),
          expiring(second, 120),
          expiring(first, 60),
          expiring(closed, 60),
          events.of(closed, events.cancelled()),
          expiring(pending, 90),
          events.of(pending, events.pending(samples.FIRST)),
        );
        const elsewhere = newIntentId(PARTITION + 1);
        await new Projecting(store, PARTITION + 1).project(expiring(elsewhere, 60));
        const due = NOW + 120_000;
        const overdue = async (partitions: readonly number[], now: Instant, limit: number, after?: Overdue) => {
          const found = await ledger.overdue(partitions, now, limit, new Map(after && [[PARTITION, after]]));
          return new Map([...found].map(([partition, intents]) => [partition, intents.map(({ id }) => id)]));
        };
        expect(await overdue([PARTITION, 9], due, 10)).toEqual(new Map([[PARTITION, [first, pending, second]]]));
        expect(await overdue([PARTITION], due, 2)).toEqual(new Map([[PARTITION, [first, pending]]]));
        expect(await overdue([PARTITION], due, 2, { id: pending, expiresAt: NOW + 90_000 })).toEqual(
          new Map([[PARTITION, [second]]]),
        );
        expect(await overdue([PARTITION, PARTITION + 1], NOW + 60_000, 10)).toEqual(
          new Map([
            [PARTITION, [first]],
            [PARTITION + 1, [elsewhere]],
          ]),
        );
        expect(await overdue([PARTITION], NOW + 59_999, 10)).toEqual(new Map());
        expect(await overdue([], due, 10)).toEqual(new Map());
        const ties = await overdue([PARTITION], NOW + 60_000, 1, { id: '' as IntentId, expiresAt: NOW + 60_000 });
        expect(ties).toEqual(new Map([[PARTITION, [first]]]));
      }),
    );

    it(
      'gives watchers the open and recently closed intents, with the positions up to which they are complete',
      on(async (tested) => {
        const { store } = tested;
        const projecting = new Projecting(store);
        const [open, closed, elsewhere] = Array.from({ length: 3 }, () => newIntentId(PARTITION));
        if (!open || !closed || !elsewhere) throw new Error('three ids');
        await projecting.project(
          events.of(open, events.created()),
          events.of(closed, events.created()),
          events.of(closed, events.cancelled()),
          events.of(elsewhere, events.created({ chain: OTHER_CHAIN })),
        );
        const loaded = async (chains: readonly ChainId[], closedAfter: Instant) => {
          const seen: IntentId[] = [];
          const positions = await store.watchedIntents.load(chains, closedAfter, ({ id }) => seen.push(id), UNSPLIT);
          return { seen: new Set(seen), positions };
        };
        const positions = new Map([[PARTITION, projecting.position]]);
        expect(await loaded([CHAIN], NOW - 1)).toEqual({ seen: new Set([open, closed]), positions });
        expect(await loaded([CHAIN], NOW)).toEqual({ seen: new Set([open]), positions });
        expect(await loaded([CHAIN, OTHER_CHAIN], NOW)).toEqual({ seen: new Set([open, elsewhere]), positions });
        expect(ids(await store.watchedIntents.find([closed, newIntentId(PARTITION)]))).toEqual([closed]);
        expect(await store.watchedIntents.rebuilds()).toBe(0);
      }),
    );

    it(
      'keeps the wallets that are watched for deposits, each with its earliest beginning and its latest end',
      on(async ({ store: { watchedIntents } }) => {
        const wallet = {
          chain: CHAIN,
          recipient: samples.ALICE,
          accountId: samples.ACCOUNT,
          since: NOW,
          until: NOW + 9,
        };
        const other = { ...wallet, recipient: samples.BOB, until: NOW + 1 };
        const elsewhere = { ...wallet, chain: OTHER_CHAIN };
        const found = async (after: Instant, chain = CHAIN) => {
          const all: (typeof wallet)[] = [];
          await watchedIntents.wallets([chain], after, UNSPLIT, (one) => all.push(one));
          return all.toSorted((one, two) => one.until - two.until);
        };
        await watchedIntents.keepWallets([]);
        await watchedIntents.keepWallets([wallet, other, elsewhere]);
        await watchedIntents.keepWallets([{ ...wallet, since: NOW - 5, until: NOW + 3 }]);
        expect(await found(NOW)).toEqual([other, { ...wallet, since: NOW - 5 }]);
        await watchedIntents.forgetWallets([CHAIN], NOW + 2);
        expect(await found(NOW)).toEqual([{ ...wallet, since: NOW - 5 }]);
        expect(await found(NOW + 9)).toEqual([]);
        expect(await found(NOW, OTHER_CHAIN)).toEqual([elsewhere]);
        const many = Array.from({ length: 4_500 }, (_, at) => ({ ...wallet, accountId: `acc_${at}` as AccountId }));
        await watchedIntents.keepWallets(many);
        expect(new Set((await found(NOW)).map(({ accountId }) => accountId)).size).toBe(many.length + 1);
      }),
    );
  });

  describe('Signed transactions', () => {
    const bytes = new Uint8Array([1, 2, 255]);
    const kept = (hash: TransactionHash, chain = CHAIN) => ({ intentId: samples.INTENT, chain, hash, bytes });

    it(
      'are found by chain and hash',
      on(async ({ store: { signedTransactions } }) => {
        await signedTransactions.keep(kept(samples.FIRST));
        await signedTransactions.keep(kept(samples.SECOND, OTHER_CHAIN));
        const found = await signedTransactions.find(CHAIN, [samples.FIRST, samples.SECOND, samples.UNKNOWN]);
        expect([...found].map(([hash, raw]) => [hash, [...raw]])).toEqual([[samples.FIRST, [...bytes]]]);
        expect(await signedTransactions.find(CHAIN, [])).toEqual(new Map());
      }),
    );

    it(
      'keep their bytes when they are stored again',
      on(async ({ store: { signedTransactions } }) => {
        await signedTransactions.keep(kept(samples.FIRST));
        await signedTransactions.keep({ ...kept(samples.FIRST), bytes: new Uint8Array([9]) });
        const found = await signedTransactions.find(CHAIN, [samples.FIRST]);
        expect([...(found.get(samples.FIRST) ?? [])]).toEqual([...bytes]);
      }),
    );

    it(
      'are forgotten by age, unless they are needed',
      on(async ({ store: { signedTransactions }, now }) => {
        const { FIRST, SECOND, UNKNOWN } = samples;
        for (const hash of [FIRST, SECOND]) await signedTransactions.keep(kept(hash));
        await signedTransactions.keep(kept(UNKNOWN, OTHER_CHAIN));
        const before = await now();
        expect(await signedTransactions.forget(CHAIN, UNSPLIT, before - LONG_MS, [], [])).toBe(0);
        expect(await signedTransactions.forget(CHAIN, UNSPLIT, before + LONG_MS, [SECOND], [])).toBe(1);
        expect([...(await signedTransactions.find(CHAIN, [FIRST, SECOND])).keys()]).toEqual([SECOND]);
        expect([...(await signedTransactions.find(OTHER_CHAIN, [UNKNOWN])).keys()]).toEqual([UNKNOWN]);
      }),
    );

    it(
      'are kept for an intent whose needs are not known',
      on(async ({ store: { signedTransactions }, now }) => {
        const { FIRST, SECOND, REFUND } = samples;
        await signedTransactions.keep(kept(FIRST));
        await signedTransactions.keep({ ...kept(SECOND), intentId: REFUND });
        expect(await signedTransactions.forget(CHAIN, UNSPLIT, (await now()) + LONG_MS, [], [samples.INTENT])).toBe(1);
        expect([...(await signedTransactions.find(CHAIN, [FIRST, SECOND])).keys()]).toEqual([FIRST]);
      }),
    );

    it(
      'are as young as the last time they were stored',
      on(async ({ store: { signedTransactions }, now }) => {
        await signedTransactions.keep(kept(samples.FIRST));
        let between = await now();
        for (const first = between; between <= first + 1;) between = await now();
        await signedTransactions.keep(kept(samples.FIRST));
        expect(await signedTransactions.forget(CHAIN, UNSPLIT, between - 1, [], [])).toBe(0);
      }),
    );
  });

  describe('The lease of a network', () => {
    it(
      'goes to one of two concurrent holders, and after its release to another in a later epoch',
      on(async (tested) => {
        const { watches } = tested.store;
        const [first, second] = await Promise.all([
          watches.acquire(CHAIN, UNSPLIT, 'one', LONG_MS),
          watches.acquire(CHAIN, UNSPLIT, 'two', LONG_MS),
        ]);
        const winner = first ?? second;
        expect([first, second].filter((lease) => lease !== null)).toEqual([winner]);
        if (!winner) throw new Error('neither holder got the lease');
        await watches.release(winner);
        expect(await watches.acquire(CHAIN, UNSPLIT, 'three', LONG_MS)).toMatchObject({
          epoch: winner.epoch + 1n,
          cursor: null,
        });
      }),
    );

    it(
      'keeps the cursor for the next holder, and refuses renewals, cursors and releases of the former one',
      on(async ({ store: { watches } }) => {
        const former = await watches.acquire(CHAIN, UNSPLIT, 'one', EXPIRED_MS);
        if (!former) throw new Error('the lease is free');
        expect(await watches.moveCursor(former, { block: '100' })).toBe(true);
        const next = await watches.acquire(CHAIN, UNSPLIT, 'two', LONG_MS);
        expect(next).toMatchObject({ epoch: 2n, cursor: { block: '100' } });

        expect(await watches.moveCursor(former, { block: '99' })).toBe(false);
        expect(await watches.renew(former, LONG_MS)).toBe(false);
        await watches.release(former);
        expect(await watches.acquire(CHAIN, UNSPLIT, 'three', LONG_MS)).toBeNull();
        if (!next) throw new Error('the lease had expired');
        expect(await watches.renew(next, EXPIRED_MS)).toBe(true);
        expect(await watches.acquire(CHAIN, UNSPLIT, 'three', LONG_MS)).toMatchObject({
          epoch: 3n,
          cursor: { block: '100' },
        });
      }),
    );

    it(
      'has bookmarks, which are stored with its cursor, and none of a former holder',
      on(async ({ store: { watches } }) => {
        const former = await watches.acquire(CHAIN, UNSPLIT, 'one', EXPIRED_MS);
        if (!former) throw new Error('the lease is free');
        const first = new Map([
          ['alice', '1'],
          ['bob', '2'],
        ]);
        expect(await watches.moveCursor(former, { block: '100' }, first)).toBe(true);
        const changed = new Map<string, string | null>([
          ['alice', '3'],
          ['bob', null],
          ['carol', '4'],
        ]);
        expect(await watches.moveCursor(former, { block: '101' }, changed)).toBe(true);
        const next = await watches.acquire(CHAIN, UNSPLIT, 'two', LONG_MS);
        expect(next).toMatchObject({ cursor: { block: '101' } });
        expect(await watches.moveCursor(former, { block: '102' }, first)).toBe(false);
        expect([...(await watches.bookmarks(CHAIN, UNSPLIT))].sort()).toEqual([
          ['alice', '3'],
          ['carol', '4'],
        ]);
        expect((await watches.bookmarks(OTHER_CHAIN, UNSPLIT)).size).toBe(0);
      }),
    );

    it(
      'is not granted to a watcher of a shard while the network is not split',
      on(async ({ store: { watches } }) => {
        const shard = { index: 1, count: 2 };
        expect(await watches.acquire(CHAIN, shard, 'one', LONG_MS)).toBeNull();
        await watches.acquire(CHAIN, UNSPLIT, 'one', EXPIRED_MS);
        expect(await watches.acquire(CHAIN, shard, 'one', LONG_MS)).toBeNull();
        expect(await watches.shards(CHAIN)).toBe(1);
      }),
    );

    it(
      'is granted again at once to the holder whose response was lost',
      on(async ({ store: { watches } }) => {
        await watches.acquire(CHAIN, UNSPLIT, 'one', LONG_MS);
        expect(await watches.acquire(CHAIN, UNSPLIT, 'one', LONG_MS)).toMatchObject({ epoch: 2n });
      }),
    );

    it(
      'is one for each network',
      on(async ({ store: { watches } }) => {
        await watches.acquire(CHAIN, UNSPLIT, 'one', LONG_MS);
        expect(await watches.acquire(OTHER_CHAIN, UNSPLIT, 'two', LONG_MS)).toMatchObject({
          chain: OTHER_CHAIN,
          epoch: 1n,
        });
      }),
    );
  });

  describe('Recording deliveries', () => {
    const event = (accountId: AccountId, livemode = false): DeliverableEvent =>
      deliverableEvent({ accountId, livemode }, { partition: PARTITION });
    const shop = 'acct_shop' as AccountId;
    const at = new Date(NOW);
    const batch = (from: bigint, next: bigint, ...batched: readonly DeliverableEvent[]) => ({
      partition: PARTITION,
      from,
      next,
      events: batched,
    });
    /** The deliveries of one batch; null where it is not at its position. */
    const record = async ({ webhooks }: Store, one: DeliveryBatch): Promise<readonly NewDelivery[] | null> => {
      const { moved, due } = await webhooks.recordDeliveries([one], at);
      return moved.has(one.partition) ? due : null;
    };

    it(
      'writes deliveries together with the position in the log or not at all',
      on(async (tested) => {
        const { webhooks } = tested.store;
        const endpointId = await tested.addEndpoint(shop);
        expect(await webhooks.positions([PARTITION, 5])).toEqual(
          new Map([
            [PARTITION, 0n],
            [5, 0n],
          ]),
        );
        const made = await record(tested.store, batch(0n, 7n, event(shop), event(shop)));
        expect(made).toMatchObject(Array.from({ length: 2 }, () => ({ endpointId })));
        expect(new Set(made?.map(({ id }) => id)).size).toBe(2);
        expect(await record(tested.store, batch(0n, 9n, event(shop)))).toBeNull();
        expect(await webhooks.positions([PARTITION])).toEqual(new Map([[PARTITION, 7n]]));
        expect(await record(tested.store, batch(7n, 9n))).toEqual([]);
        expect(await webhooks.positions([PARTITION])).toEqual(new Map([[PARTITION, 9n]]));
      }),
    );

    it(
      'is refused for a partition without a position',
      on(async ({ store }) => {
        expect(await record(store, batch(0n, 7n))).toBeNull();
      }),
    );

    it(
      'is done by one of several readers of the same batch',
      on(async (tested) => {
        await tested.addEndpoint(shop);
        const { webhooks } = tested.store;
        await webhooks.positions([PARTITION]);
        const events = [event(shop), event(shop)];
        const written = await Promise.all(
          Array.from({ length: 5 }, () => record(tested.store, batch(0n, 2n, ...events))),
        );
        expect(written.filter((made) => made !== null)).toHaveLength(1);
      }),
    );

    it(
      'is done for several partitions at once, without those that another reader has moved',
      on(async (tested) => {
        await tested.addEndpoint(shop);
        const { webhooks } = tested.store;
        await webhooks.positions([PARTITION, 5]);
        const [mine, others] = [event(shop), event(shop)];
        const batches = [{ ...batch(1n, 4n, others), partition: 5 }, batch(0n, 2n, mine)];
        const { moved, due } = await webhooks.recordDeliveries(batches, at);
        expect(moved).toEqual(new Set([PARTITION]));
        expect(due).toHaveLength(1);
        expect(await webhooks.positions([PARTITION, 5])).toEqual(
          new Map([
            [PARTITION, 2n],
            [5, 0n],
          ]),
        );
      }),
    );

    it(
      'writes no delivery twice if the position is set back and the log is read again',
      on(async (tested) => {
        await tested.addEndpoint(shop);
        const { webhooks } = tested.store;
        await webhooks.positions([PARTITION]);
        const events = [event(shop), event(shop)];
        expect(await record(tested.store, batch(0n, 2n, ...events))).toHaveLength(2);
        await tested.setWebhookPosition(PARTITION, 0n);
        const [added, ...rest] = [event(shop), ...events];
        expect(await record(tested.store, batch(0n, 3n, added, ...rest))).toHaveLength(1);
      }),
    );

    it(
      'delivers to the enabled URLs of the event’s account and mode',
      on(async (tested) => {
        const endpointId = await tested.addEndpoint(shop);
        await tested.disableEndpoint(await tested.addEndpoint('acct_gone' as AccountId));
        const { webhooks } = tested.store;
        await webhooks.positions([PARTITION]);
        const made = await record(
          tested.store,
          batch(
            0n,
            4n,
            event(shop),
            event(shop, true),
            event('acct_gone' as AccountId),
            event('acct_other' as AccountId),
          ),
        );
        expect(made?.map((delivery) => delivery.endpointId)).toEqual([endpointId]);
      }),
    );
  });

  describe('Reserving an amount', () => {
    const recipient = samples.ALICE;
    const at = NOW;
    const until = NOW + 60_000;
    const wanted = (change: Partial<WantedAmount> = {}): WantedAmount => ({
      intentId: newIntentId(PARTITION),
      ...OWNER,
      chain: CHAIN,
      tokenAddress: samples.USDC,
      recipient,
      asked: 10_000_000n,
      step: 1n,
      max: 9_999n,
      round: 10_000n,
      at,
      until,
      ...change,
    });
    /** The event of a deposit of a partition, as the log tells of it. */
    const arrived = (amount: bigint, change: Partial<NonNullable<DeliverableEvent['plainArrival']>> = {}) => ({
      ...deliverableEvent(OWNER),
      eventType: 'deposit.received',
      plainArrival: {
        chain: CHAIN,
        tokenAddress: samples.USDC,
        recipient,
        amountBaseUnits: String(amount),
        at,
        ...change,
      },
    });
    const follow = async ({ webhooks }: Store, ...events: readonly DeliverableEvent[]): Promise<void> => {
      const from = (await webhooks.positions([PARTITION])).get(PARTITION) ?? 0n;
      const batch = { partition: PARTITION, from, next: from + BigInt(events.length), events };
      expect((await webhooks.recordDeliveries([batch], new Date(NOW))).moved).toEqual(new Set([PARTITION]));
    };
    const due = async ({ amounts }: Store, now = NOW): Promise<readonly unknown[]> =>
      (await amounts.takeDue(now, 10)).map(({ intentId, depositId }) => [intentId, depositId]);

    it(
      'gives each intent the smallest that is free, and again what was given up',
      on(async ({ store: { amounts } }) => {
        const second = wanted();
        const first = [await amounts.reserve(wanted()), await amounts.reserve(second), await amounts.reserve(wanted())];
        expect(first).toEqual([10_000_001n, 10_000_002n, 10_000_003n]);
        await amounts.release(second.intentId);
        expect(await amounts.reserve(wanted())).toBe(10_000_002n);
        // Amounts that are asked for differ, and what is reserved for them must, too.
        expect(await amounts.reserve(wanted({ asked: 10_000_001n }))).toBe(10_000_004n);
      }),
    );

    it(
      'keeps what an intent has, however often its create is sent',
      on(async ({ store: { amounts } }) => {
        const mine = wanted();
        const given = await Promise.all([amounts.reserve(mine), amounts.reserve(mine), amounts.reserve(mine)]);
        expect(given).toEqual([10_000_001n, 10_000_001n, 10_000_001n]);
        expect(await amounts.reserve(wanted())).toBe(10_000_002n);
      }),
    );

    it(
      'knows no difference between those of another mode, network, token or wallet and none at all',
      on(async ({ store: { amounts } }) => {
        const others: readonly Partial<WantedAmount>[] = [
          {},
          { livemode: true },
          { chain: OTHER_CHAIN },
          { tokenAddress: samples.BOB as string as WantedAmount['tokenAddress'] },
          { recipient: samples.BOB },
        ];
        for (const other of others) expect(await amounts.reserve(wanted(other))).toBe(10_000_001n);
      }),
    );

    it(
      'never gives two intents the same where many ask at once',
      on(async ({ store: { amounts } }) => {
        const given = await Promise.all(Array.from({ length: 20 }, () => amounts.reserve(wanted())));
        expect(new Set(given).size).toBe(20);
        expect(given.every((amount) => amount !== null && amount <= 10_000_020n)).toBe(true);
      }),
    );

    it(
      'has none where all are reserved, in steps of the token',
      on(async ({ store: { amounts } }) => {
        const few = { step: 10n, max: 30n, round: 1_000n };
        const given = [await amounts.reserve(wanted({ asked: 10_000_015n, ...few }))];
        for (let count = 0; count < 4; count++) given.push(await amounts.reserve(wanted(few)));
        expect(given).toEqual([10_000_025n, 10_000_010n, 10_000_020n, 10_000_030n, null]);
      }),
    );

    it(
      'is never a round one, which others pay too',
      on(async ({ store: { amounts } }) => {
        const few = { step: 10n, max: 50n, round: 100n };
        const given = [];
        for (let count = 0; count < 5; count++)
          given.push(await amounts.reserve(wanted({ asked: 10_000_080n, ...few })));
        expect(given).toEqual([10_000_090n, 10_000_110n, 10_000_120n, 10_000_130n, null]);
        // The first one would be round.
        expect(await amounts.reserve(wanted({ asked: 19_999_999n }))).toBe(20_000_001n);
        expect(await amounts.reserve(wanted({ asked: 20_000_000n }))).toBe(20_000_002n);
      }),
    );

    it(
      'is matched by the first transfer of exactly the amount, and by one alone',
      on(async ({ store }) => {
        const { amounts } = store;
        const [mine, other] = [wanted(), wanted()];
        await amounts.reserve(mine);
        await amounts.reserve(other);
        const [dust, exact, again] = [arrived(1n), arrived(10_000_001n), arrived(10_000_001n)];
        await follow(store, dust, exact, again, arrived(10_000_003n), deliverableEvent(OWNER));
        await follow(store, arrived(10_000_001n));
        expect(await amounts.takeDue(NOW, 10)).toEqual([
          {
            intentId: mine.intentId,
            depositId: exact.intentId,
            depositVersion: 1,
            accountId: OWNER.accountId,
            livemode: false,
            tries: 1,
            isSecond: false,
          },
        ]);
      }),
    );

    const OTHER_ACCOUNT = { accountId: 'acct_other' as AccountId };

    it(
      'is not one that another account has for the wallet, as long as there are others',
      on(async ({ store: { amounts } }) => {
        const few = { step: 10n, max: 30n, round: 1_000n };
        expect(await amounts.reserve(wanted({ ...few, ...OTHER_ACCOUNT }))).toBe(10_000_010n);
        expect(await amounts.reserve(wanted(few))).toBe(10_000_020n);
        expect(await amounts.reserve(wanted({ ...few, ...OTHER_ACCOUNT }))).toBe(10_000_030n);
        // The other account must not keep this one from reserving.
        const given = [];
        for (let count = 0; count < 3; count++) given.push(await amounts.reserve(wanted(few)));
        expect(given).toEqual([10_000_010n, 10_000_030n, null]);
      }),
    );

    it(
      'never gives two accounts the same where both ask at once',
      on(async ({ store: { amounts } }) => {
        const ask = (at: number) => amounts.reserve(wanted(at % 2 === 0 ? {} : OTHER_ACCOUNT));
        expect(new Set(await Promise.all(Array.from({ length: 20 }, (_, place) => ask(place)))).size).toBe(20);
      }),
    );

    it(
      'is of the account that has reserved it first, whoever reserves it later',
      on(async ({ store }) => {
        const { amounts } = store;
        const one = { step: 1n, max: 1n, round: 10n };
        const [first, second] = [wanted(one), wanted({ ...one, ...OTHER_ACCOUNT, at: at + 1 })];
        expect(await amounts.reserve(first)).toBe(10_000_001n);
        expect(await amounts.reserve(second)).toBe(10_000_001n);
        const [mine, theirs] = [arrived(10_000_001n), { ...arrived(10_000_001n), ...OTHER_ACCOUNT }];
        await follow(store, mine, theirs);
        const taken = await amounts.takeDue(NOW, 10);
        expect(new Map(taken.map(({ intentId, isSecond }) => [intentId, isSecond]))).toEqual(
          new Map([
            [first.intentId, false],
            [second.intentId, true],
          ]),
        );
        await amounts.release(first.intentId);
        expect(await amounts.takeDue(NOW + 15_000, 10)).toMatchObject([{ intentId: second.intentId, isSecond: false }]);
      }),
    );

    it(
      'is not matched by a transfer of another account or wallet, of before, or of after its time',
      on(async ({ store }) => {
        await store.amounts.reserve(wanted());
        const amount = 10_000_001n;
        await follow(
          store,
          { ...arrived(amount), accountId: 'acct_other' },
          { ...arrived(amount), livemode: true },
          arrived(amount, { chain: OTHER_CHAIN }),
          arrived(amount, { tokenAddress: samples.BOB }),
          arrived(amount, { recipient: samples.BOB }),
          arrived(amount, { at: at - BLOCKS_BEHIND_MS - 1 }),
          arrived(amount, { at: until }),
        );
        expect(await due(store)).toEqual([]);
        // The clock of its chain is behind.
        await follow(store, arrived(amount, { at: at - BLOCKS_BEHIND_MS }));
        expect(await due(store)).toHaveLength(1);
      }),
    );

    it(
      'hands a match to one of many, and again after a while until it is settled',
      on(async ({ store }) => {
        const { amounts } = store;
        const mine = wanted();
        await amounts.reserve(mine);
        const exact = arrived(10_000_001n);
        await follow(store, exact);
        const taken = await Promise.all(Array.from({ length: 5 }, () => due(store)));
        expect(taken.flat()).toEqual([[mine.intentId, exact.intentId]]);
        expect(await due(store, NOW + 14_999)).toEqual([]);
        expect(await due(store, NOW + 15_000)).toHaveLength(1);
        const match = { intentId: mine.intentId, depositId: exact.intentId as never };
        await amounts.postpone(match, NOW + 15_001);
        expect(await due(store, NOW + 15_001)).toHaveLength(1);
        await amounts.settle(match, true);
        await amounts.postpone(match, NOW);
        // Landed again after a reorg, it is assigned already; no other transfer pays the intent by itself.
        await follow(store, exact, arrived(10_000_001n));
        expect(await due(store, NOW + 600_000)).toEqual([]);
      }),
    );

    it(
      'is free for the next transfer where a match came to nothing',
      on(async ({ store }) => {
        const mine = wanted();
        await store.amounts.reserve(mine);
        const [first, second] = [arrived(10_000_001n), arrived(10_000_001n)];
        await follow(store, first);
        await store.amounts.settle({ intentId: mine.intentId, depositId: first.intentId as never }, false);
        await follow(store, second);
        expect(await due(store)).toEqual([[mine.intentId, second.intentId]]);
      }),
    );

    const lost = ({ intentId }: DeliverableEvent): DeliverableEvent => ({
      ...deliverableEvent(OWNER),
      intentId,
      eventType: 'deposit.lost',
    });

    it.each(['before', 'after'] as const)('is matched by what lands as another deposit %s a reorg is told', (when) =>
      on(async ({ store }) => {
        const mine = wanted();
        await store.amounts.reserve(mine);
        const [first, second] = [arrived(10_000_001n), arrived(10_000_001n)];
        await follow(store, first);
        expect(await due(store)).toHaveLength(1);
        await store.amounts.settle({ intentId: mine.intentId, depositId: first.intentId as never }, true);
        for (const event of when === 'before' ? [second, lost(first)] : [lost(first), second])
          await follow(store, event);
        expect(await due(store)).toEqual([[mine.intentId, second.intentId]]);
      })(),
    );

    it(
      'is matched by no deposit that is lost, and by the one that comes after it',
      on(async ({ store }) => {
        const mine = wanted();
        await store.amounts.reserve(mine);
        const [first, second, third] = [arrived(10_000_001n), arrived(10_000_001n), arrived(10_000_001n)];
        await follow(store, first, second);
        await follow(store, lost(second));
        await follow(store, lost(first), third);
        expect(await due(store)).toEqual([[mine.intentId, third.intentId]]);
        // Undone and landed again within one batch, it is the same deposit, at its latest version.
        await follow(store, lost(third), { ...third, version: 3 });
        expect(await store.amounts.takeDue(NOW, 10)).toMatchObject([{ depositId: third.intentId, depositVersion: 3 }]);
      }),
    );

    it(
      'is matched by what came while another one was judged, where that came to nothing',
      on(async ({ store }) => {
        const mine = wanted();
        await store.amounts.reserve(mine);
        const [first, second] = [arrived(10_000_001n), arrived(10_000_001n)];
        await follow(store, first, second);
        expect(await due(store)).toEqual([[mine.intentId, first.intentId]]);
        await store.amounts.settle({ intentId: mine.intentId, depositId: first.intentId as never }, false);
        expect(await due(store, NOW + 15_000)).toEqual([[mine.intentId, second.intentId]]);
      }),
    );

    it(
      'sees other unpaid intents that ask for the same',
      on(async ({ store }) => {
        const projecting = new Projecting(store);
        const [mine, rival] = [newIntentId(PARTITION), newIntentId(PARTITION)];
        await projecting.project(events.of(mine, events.created()));
        const [intent] = await find(store.ledger, [mine]);
        if (intent === undefined) throw new Error('the intent is projected');
        expect(await store.amounts.hasRival(intent, 0)).toBe(false);
        await projecting.project(events.of(rival, events.created()));
        expect(await store.amounts.hasRival(intent, 0)).toBe(true);
        await projecting.project(events.of(rival, events.cancelled()));
        const [gone] = await find(store.ledger, [rival]);
        const closedAt = gone?.closedAt ?? 0;
        expect(await store.amounts.hasRival(intent, closedAt - 1)).toBe(true);
        expect(await store.amounts.hasRival(intent, closedAt)).toBe(false);
      }),
    );

    it(
      'sees another unpaid intent that asks for the same behind a thousand newer ones',
      on(async ({ store }) => {
        const projecting = new Projecting(store);
        // Of one time, the lists have them by id.
        const ids = Array.from({ length: 1_003 }, () => newIntentId(PARTITION)).sort();
        const [mine, rival, ...newer] = ids as [IntentId, IntentId, ...IntentId[]];
        await projecting.project(
          ...[mine, rival].map((id) => events.of(id, events.created())),
          ...newer.map((id) => events.of(id, events.created({ amountBaseUnits: 1n }))),
        );
        const [intent] = await find(store.ledger, [mine]);
        if (intent === undefined) throw new Error('the intent is projected');
        expect(await store.amounts.hasRival(intent, 0)).toBe(true);
      }),
    );
  });
}

const idOf = ({ commandId }: Outcome): CommandId => commandId;
