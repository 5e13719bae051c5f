import { describe, expect, it, jest } from '@jest/globals';
import { aliasOf, type WatchedIntent } from '@pf/chains';
import { isOfShard, UNSPLIT } from '@pf/database';
import {
  type ChainId,
  evolve,
  type IntentEvent,
  type IntentId,
  liveSubmission,
  type PaymentIntent,
  type Reference,
  termsOf,
  VersionGapError,
} from '@pf/domain';
import { events, samples, type ExpectedEvent } from '@pf/domain/testing';
import { hashOf } from '../src/hashed-places.ts';
import { RestingIntents } from '../src/resting-intents.ts';
import { ProjectionSetBackError, WatchedIntents } from '../src/watched-intents.ts';

const {
  ACCOUNT,
  ALICE,
  BOB,
  CAROL,
  FIRST,
  INTENT,
  OTHER_ACCOUNT,
  REFERENCE,
  REFUND,
  SECOND,
  SCENARIO_START,
  referenceOf,
} = samples;
const DAY_MS = 86_400_000;
const WATCH_MS = 30 * DAY_MS;

/** Events a second apart, numbered by their intent. */
function story(...told: readonly ExpectedEvent[]): readonly IntentEvent[] {
  const versions = new Map<IntentId, number>();
  return told.map(({ type, data, of = INTENT }, at) => {
    const version = (versions.get(of) ?? 0) + 1;
    versions.set(of, version);
    return { type, data, intentId: of, version, at: SCENARIO_START + at * 1_000 } as IntentEvent;
  });
}
function after(...told: readonly ExpectedEvent[]): WatchedIntents {
  const set = new WatchedIntents(WATCH_MS, UNSPLIT);
  for (const event of story(...told)) set.apply(event);
  return set;
}
/** A projection that has the fold of these events. */
function projectionOf(told: readonly IntentEvent[]) {
  const rows = new Map<IntentId, PaymentIntent>();
  for (const event of told) rows.set(event.intentId, evolve(rows.get(event.intentId), event));
  const asked: (readonly IntentId[])[] = [];
  const find = async (ids: readonly IntentId[]): Promise<readonly PaymentIntent[]> => {
    asked.push(ids);
    return ids.flatMap((id) => rows.get(id) ?? []);
  };
  return { rows, asked, find };
}
/** A set whose closed intents are at rest, an hour after these events. */
function atRest(...told: readonly ExpectedEvent[]) {
  const projection = projectionOf(story(...told));
  const now = SCENARIO_START + 3_600_000;
  const set = new WatchedIntents(WATCH_MS, UNSPLIT, projection.find, () => now);
  for (const event of story(...told)) set.apply(event, referenceOf(event.intentId));
  set.prune(now);
  for (const id of [...set.tired(now)]) set.rest(projection.rows.get(id) as PaymentIntent, now);
  return { ...projection, set, now };
}
/** Two references whose names of MPP have the same hash. */
function collidingReferences(chain: ChainId): readonly Reference[] {
  const seen = new Map<number, Reference>();
  for (let at = 0; ; at += 1) {
    const reference = `0x${at.toString(16).padStart(64, '0')}` as Reference;
    const key = hashOf(aliasOf({ chain, reference }) ?? '');
    const before = seen.get(key);
    if (before !== undefined) return [before, reference];
    seen.set(key, reference);
  }
}
const other = (): ExpectedEvent => events.of(REFUND, events.created({ reference: referenceOf(REFUND) }));
const ids = (intents: Iterable<WatchedIntent>): readonly IntentId[] => [...intents].map(({ id }) => id);

describe('WatchedIntents', () => {
  it('finds an intent by its reference and by its recipient', () => {
    const set = after(events.created());
    expect(set.byReference(REFERENCE)).toMatchObject({
      id: INTENT,
      status: 'created',
      terms: { requestor: ALICE },
      submission: null,
      settlement: null,
    });
    expect(set.hasRecipient(ALICE)).toBe(true);
    expect(set.hasRecipient(BOB)).toBe(false);
  });

  it('finds an intent on Tempo by the name that MPP gives it, while it is watched', () => {
    const chain = 'eip155:42431' as ChainId;
    const alias = aliasOf({ chain, reference: REFERENCE }) ?? '';
    const set = after(events.created({ chain }), events.detected());
    expect(set.byAlias(alias)).toMatchObject({ id: INTENT, terms: { reference: REFERENCE } });
    expect(set.byAlias(`${alias.slice(0, -1)}x`)).toBeUndefined();
    expect(after(events.created()).byAlias(alias)).toBeUndefined();
    const closed = after(events.created({ chain }), events.cancelled());
    closed.prune(SCENARIO_START + WATCH_MS + 2_000);
    expect(closed.byAlias(alias)).toBeUndefined();
  });

  it('tells intents apart whose names of MPP have one hash', () => {
    const chain = 'eip155:42431' as ChainId;
    const set = new WatchedIntents(WATCH_MS, UNSPLIT);
    const all = collidingReferences(chain).map((reference, at) => ({ id: `pi_${at}` as IntentId, reference }));
    for (const { id, reference } of all)
      for (const event of story(events.of(id, events.created({ chain, reference })))) set.apply(event);
    for (const { id, reference } of all)
      expect(set.byAlias(aliasOf({ chain, reference }) ?? '')).toMatchObject({ id, terms: { reference } });
    set.apply({ ...story(events.cancelled())[0], intentId: 'pi_0', version: 2 } as IntentEvent);
    set.prune(SCENARIO_START + 2 * WATCH_MS);
    expect(all.map(({ reference }) => set.byAlias(aliasOf({ chain, reference }) ?? '')?.id)).toEqual([
      undefined,
      'pi_1',
    ]);
  });

  it('ignores the intents of other shards', () => {
    const shards = [1, 2, 3].map((index) => ({ index, count: 3 }));
    for (const requestor of [ALICE, BOB, CAROL]) {
      const sets = shards.map((shard) => new WatchedIntents(WATCH_MS, shard));
      for (const event of story(events.created({ requestor }), events.detected()))
        for (const set of sets) set.apply(event);
      expect(sets.map((set) => set.hasRecipient(requestor))).toEqual(
        shards.map((shard) => isOfShard(requestor, shard)),
      );
      expect(sets.map(({ size }) => size).sort()).toEqual([0, 0, 1]);
    }
  });

  it('keeps a recipient for as long as one of its intents is watched', () => {
    const set = after(events.created(), other(), events.cancelled());
    expect(set.recipients()).toEqual([ALICE]);
    set.prune(SCENARIO_START + WATCH_MS + 2_000);
    expect([set.size, set.recipients()]).toEqual([1, [ALICE]]);
    expect(set.byReference(REFERENCE)).toBeUndefined();
  });

  it('names the accounts that own intents to a recipient, for as long as one is in memory', () => {
    const theirs = other();
    const foreign = { ...theirs, data: { ...theirs.data, accountId: OTHER_ACCOUNT } } as ExpectedEvent;
    const told = story(events.created(), foreign, events.cancelled());
    const set = new WatchedIntents(WATCH_MS, UNSPLIT);
    for (const event of told.slice(0, 2)) set.apply(event);
    expect(set.ownersOf(ALICE)).toEqual([ACCOUNT, OTHER_ACCOUNT]);
    expect(set.ownersOf(BOB)).toEqual([]);
    for (const event of told.slice(2)) set.apply(event);
    set.prune(SCENARIO_START + WATCH_MS + 2_000);
    expect(set.ownersOf(ALICE)).toEqual([OTHER_ACCOUNT]);
  });

  it('awaits a recipient for a while after its newest intent was made', () => {
    const set = after(events.created(), other());
    expect([...set.awaited()]).toEqual([ALICE]);
    set.prune(SCENARIO_START + 15 * 60_000);
    expect([...set.awaited()]).toEqual([ALICE]);
    set.prune(SCENARIO_START + 15 * 60_000 + 1_000);
    expect([...set.awaited()]).toEqual([]);
    const closed = after(events.created(), events.cancelled());
    closed.prune(SCENARIO_START + WATCH_MS + 2_000);
    expect([...closed.awaited()]).toEqual([]);
  });

  it('uses the latest amount', () => {
    const set = after(events.created(), events.updated({ amount: '1', amountBaseUnits: 1_000_000n }));
    expect(set.byReference(REFERENCE)?.terms.amount).toBe(1_000_000n);
  });

  it('lists submissions that can still land', () => {
    expect(ids(after(events.created(), events.built(), events.prepared(FIRST)).submitted())).toEqual([INTENT]);
    expect(ids(after(events.created(), events.prepared(FIRST), events.refused(FIRST)).submitted())).toEqual([]);
    const revived = after(events.created(), events.prepared(FIRST), events.refused(FIRST), events.pending(FIRST));
    expect([...revived.submitted()].map(({ submission }) => submission.hash)).toEqual([FIRST]);
    const replaced = after(events.created(), events.prepared(FIRST), events.prepared(SECOND));
    expect([...replaced.submitted()].map(({ submission }) => submission.hash)).toEqual([SECOND]);
  });

  it('expects a payment of a detected intent until it is submitted or closed, and again after a drop', () => {
    expect(ids(after(events.created(), other()).expected())).toEqual([]);
    expect(ids(after(events.created(), events.detected()).expected())).toEqual([INTENT]);
    expect(ids(after(events.created(), events.detected(), events.prepared(FIRST)).expected())).toEqual([]);
    expect(
      ids(after(events.created(), events.detected(), events.prepared(FIRST), events.refused(FIRST)).expected()),
    ).toEqual([INTENT]);
    expect(ids(after(events.created(), events.detected(), events.expired()).expected())).toEqual([]);
  });

  it('lists an intent that expired unpaid for a while', () => {
    const expired = after(events.created(), events.expired());
    expect(ids(after(events.created()).lapsed())).toEqual([]);
    expect(ids(expired.lapsed())).toEqual([INTENT]);
    expect(ids(after(events.created(), events.prepared(FIRST), events.expired(true)).lapsed())).toEqual([]);
    expect(ids(after(events.created(), events.expired(), events.confirmed(FIRST, {}, 'expired')).lapsed())).toEqual([]);
    expired.prune(SCENARIO_START + 3_600_000);
    expect([ids(expired.lapsed()), expired.size]).toEqual([[], 1]);
  });

  it('lists a settlement until it is final, and again once it is lost', () => {
    const paid = [events.created(), events.prepared(FIRST), events.pending(FIRST), events.confirmed(FIRST)];
    expect(ids(after(...paid).settling())).toEqual([INTENT]);
    expect(ids(after(...paid).submitted())).toEqual([]);
    expect(ids(after(...paid, events.finalized(FIRST)).settling())).toEqual([]);
    expect([...after(...paid, events.lost(FIRST)).settling()].map(({ settlement }) => settlement.lost)).toEqual([true]);
    expect(ids(after(...paid, events.finalized(FIRST), events.lost(FIRST)).settling())).toEqual([INTENT]);
  });

  it('drops a lost settlement whose intent has failed', () => {
    const paid = [events.created(), events.prepared(FIRST), events.pending(FIRST), events.confirmed(FIRST)];
    const set = after(...paid, events.lost(FIRST), events.failed(FIRST));
    expect(ids(set.settling())).toEqual([]);
    expect(set.byReference(REFERENCE)).toBeDefined();
  });

  it('watches a closed intent for the configured time, and an open one indefinitely', () => {
    const closed = after(events.created(), events.expired());
    const open = after(events.created(), events.pending(FIRST), events.confirmed(FIRST));
    const closedAt = SCENARIO_START + 1_000;
    for (const set of [closed, open]) set.prune(closedAt + WATCH_MS - 1);
    expect([closed.size, open.size]).toEqual([1, 1]);
    for (const set of [closed, open]) set.prune(closedAt + WATCH_MS);
    expect([closed.size, open.size]).toEqual([0, 1]);
  });

  it('keeps a closed intent whose settlement was lost, for as long as it may land again', () => {
    const paid = [events.created(), events.prepared(FIRST), events.pending(FIRST), events.confirmed(FIRST)];
    const set = after(...paid, events.finalized(FIRST), events.lost(FIRST));
    set.prune(SCENARIO_START + 2 * WATCH_MS);
    expect(ids(set.settling())).toEqual([INTENT]);
  });

  it('ignores simulated intents', () => {
    const set = after(
      events.created(),
      events.simulated.pending(FIRST),
      events.updated({ metadata: { order: '1' } }),
      events.simulated.confirmed(FIRST),
    );
    expect([set.size, set.recipients(), ids(set.settling())]).toEqual([0, [], []]);
  });

  it('stops at a missing version and at a repeated one', () => {
    const [created, prepared, pending] = story(events.created(), events.prepared(FIRST), events.pending(FIRST)) as [
      IntentEvent,
      IntentEvent,
      IntentEvent,
    ];
    const repeated = new WatchedIntents(WATCH_MS, UNSPLIT);
    for (const event of [created, prepared]) repeated.apply(event);
    for (const event of [created, prepared]) expect(() => repeated.apply(event)).toThrow(VersionGapError);
    const gap = new WatchedIntents(WATCH_MS, UNSPLIT);
    gap.apply(created);
    expect(() => gap.apply(pending)).toThrow(VersionGapError);
  });

  it('does not change while a step holds it, and misses nothing', () => {
    const [created, cancelled] = story(events.created(), events.cancelled()) as [IntentEvent, IntentEvent];
    const set = new WatchedIntents(WATCH_MS, UNSPLIT);
    set.hold();
    set.apply(created);
    expect(set.size).toBe(0);
    set.hold();
    set.apply(cancelled);
    expect(set.byReference(REFERENCE)?.status).toBe('created');
    set.release();
    expect(set.byReference(REFERENCE)?.status).toBe('cancelled');
  });

  describe('of intents at rest', () => {
    const paid = [events.created(), events.prepared(FIRST), events.pending(FIRST), events.confirmed(FIRST)];
    const final = [...paid, events.finalized(FIRST)];
    const late = (): ExpectedEvent => events.confirmed(SECOND, {}, 'expired');
    const next = (known: readonly ExpectedEvent[], event: ExpectedEvent): IntentEvent =>
      story(...known, event).at(-1) as IntentEvent;

    it.each([
      ['finalized', final],
      ['expired', [events.created(), events.expired()]],
      ['cancelled', [events.created(), events.cancelled()]],
      ['failed', [...paid, events.lost(FIRST), events.failed(FIRST)]],
    ])('has in memory none that is %s, and its recipient', (_state, told) => {
      const { set } = atRest(...told);
      expect([set.awake, set.size, set.recipients(), set.hasRecipient(ALICE)]).toEqual([0, 1, [ALICE], true]);
      set.prune(SCENARIO_START + WATCH_MS + 86_400_000);
      expect([set.size, set.recipients(), set.hasRecipient(ALICE)]).toEqual([0, [], false]);
    });

    it.each([
      ['open', [events.created()]],
      ['not final', paid],
      ['final, and lost', [...final, events.lost(FIRST)]],
      ['expired with a payment under way', [events.created(), events.prepared(FIRST), events.expired(true)]],
    ])('has in memory one that is %s', (_state, told) => {
      const { set } = atRest(...told);
      expect([set.awake, set.size]).toEqual([1, 1]);
    });

    it('lets none rest before a while after its end, nor one that the projection has in another version', () => {
      const told = story(events.created(), events.cancelled());
      const [created] = told as [IntentEvent, IntentEvent];
      const set = after(events.created(), events.cancelled());
      const closedAt = SCENARIO_START + 1_000;
      expect([...set.tired(closedAt + 15 * 60_000)]).toEqual([]);
      const later = closedAt + 15 * 60_000 + 1;
      expect([...set.tired(later)]).toEqual([INTENT]);
      set.rest(evolve(undefined, created), later);
      expect(set.awake).toBe(1);
      set.rest({ ...projectionOf(told).rows.get(INTENT), heldFrom: 2 } as PaymentIntent, later);
      expect(set.awake).toBe(1);
      set.hold();
      set.rest(projectionOf(told).rows.get(INTENT) as PaymentIntent, later);
      expect(set.awake).toBe(1);
      set.release();
      expect(set.awake).toBe(0);
    });

    it('finds one by a name that is recalled, with one look at the projection for all names', async () => {
      const chain = 'eip155:42431' as ChainId;
      const second = events.of(REFUND, events.created({ chain, reference: referenceOf(REFUND) }));
      const { set, asked } = atRest(
        events.created({ chain }),
        second,
        events.cancelled(),
        events.of(REFUND, events.cancelled()),
      );
      expect(set.awake).toBe(0);
      expect(set.byReference(REFERENCE)).toBeUndefined();
      await set.recall([]);
      await set.recall(['unknown']);
      expect(asked).toEqual([]);
      const alias = aliasOf({ chain, reference: REFERENCE }) ?? '';
      await set.recall([alias, REFERENCE, referenceOf(REFUND), 'unknown']);
      expect(asked).toEqual([[INTENT, REFUND]]);
      expect(set.byReference(REFERENCE)).toMatchObject({ id: INTENT, status: 'cancelled' });
      expect(set.byAlias(alias)?.id).toBe(INTENT);
      expect(set.byReference(referenceOf(REFUND))?.id).toBe(REFUND);
      await set.recall([REFERENCE]);
      expect(asked).toHaveLength(1);
    });

    it('looks up once what a look names again and again', async () => {
      const { set } = atRest(...final);
      const lookUp = jest.spyOn(RestingIntents.prototype, 'of');
      await set.recall(Array<string>(15_813).fill(REFERENCE));
      expect(lookUp).toHaveBeenCalledTimes(1);
      expect(set.byReference(REFERENCE)?.id).toBe(INTENT);
    });

    it('knows of one that is recalled whose it is, and what was submitted for it', async () => {
      const { set } = atRest(...final);
      expect([set.ownerOf(INTENT), set.submitterOf(INTENT, FIRST)]).toEqual([undefined, undefined]);
      await set.recall([REFERENCE]);
      expect(set.ownerOf(INTENT)).toMatchObject({ accountId: samples.ACCOUNT, livemode: false });
      expect([set.submitterOf(INTENT, FIRST), set.submitterOf(INTENT, SECOND)]).toEqual([BOB, undefined]);
    });

    it('finds one again whose payment was counted with other terms, as a rescan has to', async () => {
      const unproven = { reference: `0x${'00'.repeat(32)}` as Reference };
      const told = [events.created(), events.mismatchedPayment(FIRST, unproven, 'reference'), events.expired()];
      const whole = projectionOf(story(...told)).rows.get(INTENT);
      expect(whole?.transfers).toHaveLength(1);
      const { set } = atRest(...told);
      expect([set.awake, set.hasRecipient(ALICE)]).toEqual([0, true]);
      await set.recall([REFERENCE]);
      // With all that an observer looks at, and nothing of what was counted.
      expect(set.byReference(REFERENCE)).toEqual({
        id: INTENT,
        status: 'expired',
        terms: whole && termsOf(whole),
        submission: null,
        settlement: null,
        createdAt: SCENARIO_START,
      });
    });

    it('follows the settlement of one that is paid late', async () => {
      const told = [events.created(), events.expired()];
      const { set } = atRest(...told);
      set.apply(next(told, late()), REFERENCE);
      expect(ids(set.settling())).toEqual([]);
      await set.readWoken();
      expect(ids(set.settling())).toEqual([INTENT]);
      expect(set.byReference(REFERENCE)?.status).toBe('confirmed');
    });

    it('folds the events once that the projection has before they are read here', async () => {
      const told = [events.created(), events.expired()];
      const [first, second] = [next(told, late()), next([...told, late()], events.finalized(SECOND))];
      const { set, rows } = atRest(...told);
      rows.set(INTENT, evolve(evolve(rows.get(INTENT), first), second));
      await set.recall([REFERENCE]);
      expect(set.byReference(REFERENCE)?.status).toBe('finalized');
      for (const event of [first, second]) set.apply(event, REFERENCE);
      expect(set.byReference(REFERENCE)?.status).toBe('finalized');
      const third = next([...told, late(), events.finalized(SECOND)], events.lost(SECOND));
      set.apply(third, REFERENCE);
      expect(ids(set.settling())).toEqual([INTENT]);
      expect(() => set.apply(third, REFERENCE)).toThrow(VersionGapError);
    });

    it('recalls one while a step holds the set, and folds what has waited when the step ends', async () => {
      const told = [events.created(), events.expired()];
      const { set } = atRest(...told);
      set.hold();
      set.apply(next(told, late()), REFERENCE);
      await set.readWoken();
      await set.recall([REFERENCE]);
      expect(set.byReference(REFERENCE)?.status).toBe('expired');
      set.release();
      expect(set.byReference(REFERENCE)?.status).toBe('confirmed');
    });

    it('stops at a missing version', async () => {
      const told = [events.created(), events.expired()];
      const { set } = atRest(...told);
      set.apply(next([...told, late()], events.finalized(SECOND)), REFERENCE);
      await expect(set.readWoken()).rejects.toThrow(VersionGapError);
    });

    it('says that the projection was set back where it lacks one, or has it as it was before', async () => {
      const told = [events.created(), events.expired()];
      const { set, rows } = atRest(...told);
      rows.set(INTENT, evolve(undefined, story(...told)[0] as IntentEvent));
      await expect(set.recall([REFERENCE])).rejects.toThrow(ProjectionSetBackError);
      rows.delete(INTENT);
      await expect(set.recall([REFERENCE])).rejects.toThrow(ProjectionSetBackError);
    });

    it('passes over the events of one whose time is up', async () => {
      const told = [events.created(), events.expired()];
      const { set, asked } = atRest(...told);
      set.prune(SCENARIO_START + WATCH_MS + 86_400_000);
      set.apply(next(told, late()), REFERENCE);
      await set.readWoken();
      expect([set.size, asked]).toEqual([0, []]);
    });
  });

  it('keeps enough of an intent to agree with its whole fold', () => {
    const told = [
      events.created({ metadata: { order: '1' }, idempotencyKey: 'key' }),
      events.detected(),
      events.built(),
      events.prepared(FIRST),
      events.refused(FIRST),
      events.built({ fulfiller: CAROL }),
      events.prepared(SECOND, { sender: CAROL, nonce: '9' }),
      events.pending(SECOND),
      events.retryRequired(SECOND),
      events.prepared(FIRST, {}, 2),
      events.expired(true),
      events.confirmed(FIRST, {}, 'expired'),
      events.lost(FIRST),
      events.restored(FIRST, samples.MOVED),
      events.extraPayment(SECOND),
      events.finalized(FIRST, samples.MOVED),
    ];
    const set = new WatchedIntents(WATCH_MS, UNSPLIT);
    let whole: PaymentIntent | undefined;
    for (const event of story(...told)) {
      set.apply(event);
      whole = evolve(whole, event);
      expect(set.byReference(REFERENCE)).toEqual({
        id: INTENT,
        status: whole.status,
        terms: {
          chain: whole.chain,
          tokenAddress: whole.tokenAddress,
          amount: whole.amountBaseUnits,
          requestor: whole.requestor,
          reference: whole.reference,
        },
        submission: liveSubmission(whole) ?? null,
        settlement: whole.settlement,
        createdAt: whole.createdAt,
      });
    }
  });
});
