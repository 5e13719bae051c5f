import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newDeliveryId, newEventId, REPLAYS_MAX } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import { until } from '@pf/testing';
import {
  addWebhookEndpoint,
  cancelReplay,
  createReplay,
  findReplay,
  forgetReplays,
  inTransaction,
  listReplays,
  nextReplayStep,
  openAccount,
  type Replay,
  type ReplaySelection,
  stepReplay,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const HOUR = 3_600_000;

describe('A replay', () => {
  let own: OwnDatabase;
  let owner: { readonly accountId: AccountId; readonly livemode: boolean };
  /** The URLs of the account. */
  let shop: string;
  let other: string;
  let now: Date;
  const began = new Date('2026-11-21T12:00:00.000Z');
  const before = (ms: number): Date => new Date(began.getTime() - ms);
  beforeAll(async () => {
    own = await createOwnDatabase();
  });
  afterAll(() => own.close());
  beforeEach(async () => {
    now = began;
    await own.database.sql.query('DELETE FROM service.webhook_replays');
    const { id } = await openAccount(own.database, randomBytes(32), { name: 'replays' });
    owner = { accountId: id, livemode: false };
    shop = await endpoint('https://shop.example/hooks');
    other = await endpoint('https://other.example/hooks');
  });

  const endpoint = async (url: string): Promise<string> =>
    (await addWebhookEndpoint(own.database, { ...owner, url }))?.id ?? '';

  interface Made {
    readonly to?: string;
    readonly type?: string;
    readonly status?: 'pending' | 'delivered' | 'failed';
    readonly at?: Date;
    readonly eventId?: string;
    readonly livemode?: boolean;
  }
  /** Writes a delivery as it is some time after its event. @returns its id */
  const add = async (
    {
      to = shop,
      type = 'intent.confirmed',
      status = 'failed',
      at = before(HOUR),
      eventId = newEventId(),
      livemode,
    }: Made = {},
    count = 1,
  ): Promise<string> => {
    const id = newDeliveryId();
    await own.database.sql.query(
      `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, url, status, body,
                                       attempt_count, created_at, delivered_at, failed_at, next_attempt_at)
       SELECT $1 || CASE n WHEN 1 THEN '' ELSE '-' || n END, $2, $3, $4,
              $5 || CASE n WHEN 1 THEN '' ELSE '-' || n END, $6,
              'https://shop.example/hooks', $7, '{}', 10, $8::timestamptz,
              CASE $7 WHEN 'delivered' THEN $8::timestamptz END, CASE $7 WHEN 'failed' THEN $8::timestamptz END,
              CASE $7 WHEN 'pending' THEN $8::timestamptz END
         FROM generate_series(1, $9) AS n`,
      [id, to, owner.accountId, livemode ?? owner.livemode, eventId, type, status, at, count],
    );
    return id;
  };
  const begin = async (selection: Partial<ReplaySelection> = {}, at = now): Promise<Replay> => {
    const replay = await inTransaction(own.database, (client) =>
      createReplay(
        client,
        owner,
        {
          since: before(24 * HOUR),
          until: began,
          endpointId: null,
          toEndpointId: null,
          eventTypes: null,
          status: 'failed',
          ...selection,
        },
        at,
      ),
    );
    if (!replay) throw new Error('no replay was begun');
    return replay;
  };
  /** Takes the steps that are due now. @returns the URLs that were woken */
  const steps = async (perSecond = 1_000): Promise<readonly string[]> => {
    const woken: string[] = [];
    for (let step = await stepReplay(own.database, { now, perSecond }); step;) {
      woken.push(...step.endpointIds);
      step = await stepReplay(own.database, { now, perSecond });
    }
    return woken;
  };
  /** Goes on until nothing is left to make due. */
  const read = async (perSecond = 1_000): Promise<readonly string[]> => {
    const woken: string[] = [];
    for (let reading = true; reading; now = new Date(now.getTime() + 1_000)) {
      woken.push(...(await steps(perSecond)));
      const { rows } = await own.database.sql.query('SELECT FROM service.webhook_replays WHERE read_at IS NULL');
      reading = rows.length > 0;
    }
    return woken;
  };
  const deliveries = async (where: object = {}) =>
    own.database.prisma.delivery.findMany({
      where: { accountId: owner.accountId, ...where },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
  const due = async (): Promise<readonly string[]> =>
    (await deliveries({ replayId: { not: null }, status: 'pending' })).map(({ id }) => id).sort();
  const settle = (status: 'delivered' | 'failed', where = 'true') =>
    own.database.sql.query(
      `UPDATE service.deliveries
          SET status = $2, next_attempt_at = NULL, delivered_at = CASE $2 WHEN 'delivered' THEN now() END,
              failed_at = CASE $2 WHEN 'failed' THEN now() END
        WHERE account_id = $1 AND replay_id IS NOT NULL AND status = 'pending' AND ${where}`,
      [owner.accountId, status],
    );
  const current = async ({ id }: Replay): Promise<Replay | null> => findReplay(own.database, owner, id);

  it('makes the failed deliveries of its period due at once, and nothing else', async () => {
    const failed = [await add(), await add({ to: other }), await add({ at: before(24 * HOUR), type: 'intent.failed' })];
    const left = [
      await add({ at: before(24 * HOUR + 1) }),
      await add({ at: began }),
      await add({ status: 'delivered' }),
      await add({ status: 'pending' }),
      await add({ type: 'webhook_endpoint.test' }),
      await add({ livemode: true }),
    ];
    const untouched = await deliveries({ id: { in: left } });
    const replay = await begin();
    expect(replay).toMatchObject({ state: 'counting', total: 0, sent: 0, endedAt: null });
    expect(await nextReplayStep(own.database)).toEqual(began);
    expect([...new Set(await read())].sort()).toEqual([shop, other].sort());
    expect(await due()).toEqual([...failed].sort());
    expect(await deliveries({ id: { in: failed } })).toMatchObject(
      failed.map(() => ({ status: 'pending', failedAt: null, attemptCount: 10, replayId: replay.id })),
    );
    expect(await deliveries({ id: { in: left } })).toEqual(untouched);
    expect(await current(replay)).toMatchObject({ state: 'sending', total: 3, sent: 3, skipped: 0, endedAt: null });
  });

  it.each([
    ['of an endpoint', () => ({ endpointId: other }), ['other', 'otherType']],
    ['of types', () => ({ eventTypes: ['intent.failed', 'intent.expired'] }), ['otherType', 'shopType']],
    ['of a type and an endpoint', () => ({ endpointId: other, eventTypes: ['intent.failed'] }), ['otherType']],
    ['that arrived, too', () => ({ status: 'all' as const }), ['arrived', 'other', 'otherType', 'shopType']],
    ['of a time', () => ({ since: before(3 * HOUR), until: before(2 * HOUR) }), ['shopType']],
  ])('takes only deliveries %s', async (_what, selection, names) => {
    const made: Record<string, string> = {
      arrived: await add({ status: 'delivered' }),
      other: await add({ to: other }),
      otherType: await add({ to: other, type: 'intent.failed' }),
      shopType: await add({ type: 'intent.expired', at: before(3 * HOUR) }),
    };
    await begin(selection());
    await read();
    expect(await due()).toEqual(names.map((name) => made[name]).sort());
  });

  it('completes when all that it has sent has ended, and says how it went', async () => {
    await add({}, 3);
    const replay = await begin();
    await read();
    await settle('delivered', `id LIKE '%-2'`);
    await settle('failed', `id LIKE '%-3'`);
    now = new Date(now.getTime() + 60_000);
    await steps();
    expect(await current(replay)).toMatchObject({ state: 'sending', total: 3, delivered: 1, failed: 1, endedAt: null });
    await settle('delivered');
    now = new Date(now.getTime() + 60_000);
    await steps();
    expect(await current(replay)).toMatchObject({ state: 'completed', delivered: 2, failed: 1, endedAt: now });
    expect(await nextReplayStep(own.database)).toBeNull();
    expect(await cancelReplay(own.database, owner, replay.id, now)).toMatchObject({ state: 'completed' });
  });

  it('sends the events of one endpoint to another, once each', async () => {
    const [missing, accepted, outstanding, failed] = [newEventId(), newEventId(), newEventId(), newEventId()];
    for (const eventId of [missing, accepted, outstanding, failed]) await add({ eventId, status: 'delivered' });
    await add({ eventId: accepted, to: other, status: 'delivered' });
    await add({ eventId: outstanding, to: other, status: 'pending' });
    const again = await add({ eventId: failed, to: other });
    const replay = await begin({ endpointId: shop, toEndpointId: other, status: 'all' });
    expect(await read()).toEqual([other]);
    const sent = await deliveries({ replayId: replay.id });
    expect(sent.map(({ eventId }) => eventId).sort()).toEqual([missing, failed].sort());
    expect(sent.find(({ eventId }) => eventId === failed)?.id).toBe(again);
    expect(sent.find(({ eventId }) => eventId === missing)).toMatchObject({
      endpointId: other,
      url: 'https://other.example/hooks',
      status: 'pending',
      attemptCount: 0,
      body: '{}',
      createdAt: before(HOUR),
    });
    expect(await current(replay)).toMatchObject({ total: 4, sent: 2, skipped: 2 });
  });

  it('holds up no other by a step that fails', async () => {
    await add();
    const failing = await begin();
    const failingAccount = owner.accountId;
    await own.database.sql.query(`
      CREATE FUNCTION service.refuse_replay() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE 'this cannot be sent again'; END $$;
      CREATE TRIGGER refuse_replay BEFORE UPDATE ON service.deliveries
        FOR EACH ROW WHEN (OLD.account_id = '${failingAccount}') EXECUTE FUNCTION service.refuse_replay()`);
    const { id: accountId } = await openAccount(own.database, randomBytes(32), { name: 'another' });
    owner = { accountId, livemode: false };
    const quick = await endpoint('https://quick.example/hooks');
    await add({ to: quick });
    now = new Date(now.getTime() + 1);
    await begin();
    const taken: unknown[] = [];
    const failed: string[] = [];
    const againMs = (id: string): number => failed.push(id) * 60_000;
    for (let tries = 0; tries < 20; tries += 1) {
      const step = await stepReplay(own.database, { now, perSecond: 1_000, againMs }).catch(
        (error: Error) => error.message,
      );
      if (step === null) break;
      taken.push(typeof step === 'string' ? step : step.endpointIds);
    }
    expect(taken.filter((one) => one === 'this cannot be sent again')).toHaveLength(1);
    expect(taken).toContainEqual([quick]);
    now = new Date(now.getTime() + 59_000);
    const all = async (): Promise<void> => {
      while ((await stepReplay(own.database, { now, perSecond: 1_000, againMs })) !== null);
    };
    await all();
    expect(failed).toEqual([failing.id]);
    now = new Date(now.getTime() + 1_000);
    await expect(all()).rejects.toThrow('sent again');

    await own.database.sql.query('DROP TRIGGER refuse_replay ON service.deliveries');
    now = new Date(now.getTime() + 120_000);
    expect(await read()).toContain(shop);
    owner = { accountId: failingAccount, livemode: false };
    expect(await findReplay(own.database, owner, failing.id)).toMatchObject({ sent: 1 });
  });

  it('sends no event twice, though several endpoints have it and it fails again meanwhile', async () => {
    const eventId = newEventId();
    const third = await endpoint('https://third.example/hooks');
    await add({ eventId, at: before(2 * HOUR) });
    await add({ eventId, to: other, at: before(HOUR) });
    const replay = await begin({ toEndpointId: third });
    await steps(1);
    expect(await due()).toHaveLength(1);
    await settle('failed');
    await read(1);
    expect(await deliveries({ endpointId: third })).toMatchObject([{ eventId, status: 'failed' }]);
    expect(await current(replay)).toMatchObject({ total: 2, sent: 1, skipped: 1 });
  });

  it('skips types that its endpoint does not select, and disabled endpoints', async () => {
    await add({ type: 'intent.failed' });
    await add({ type: 'intent.expired' });
    await own.database.prisma.webhookEndpoint.update({
      where: { id: other },
      data: { eventTypes: ['intent.expired'] },
    });
    const selective = await begin({ toEndpointId: other });
    await read();
    expect(await deliveries({ endpointId: other })).toMatchObject([{ eventType: 'intent.expired' }]);
    expect(await current(selective)).toMatchObject({ total: 2, sent: 1, skipped: 1 });

    await own.database.prisma.webhookEndpoint.update({
      where: { id: shop },
      data: { disabledAt: now, disabledBy: 'gone' },
    });
    const disabled = [await begin(), await begin({ toEndpointId: shop, endpointId: other, status: 'all' })];
    await settle('delivered');
    await read();
    for (const replay of disabled) expect(await current(replay)).toMatchObject({ sent: 0 });
    expect(await due()).toEqual([]);
  });

  it('keeps its limit per second, as do all replays of an account together', async () => {
    await add({}, 5);
    await add({ to: other, at: before(HOUR - 1) }, 2);
    await begin({ endpointId: shop }, before(1));
    await begin({ endpointId: other });
    const made: number[] = [];
    for (const end = now.getTime() + 5_000; now.getTime() < end; now = new Date(now.getTime() + 250)) {
      await steps(2);
      made.push((await due()).length);
    }
    expect(made.slice(0, 17)).toEqual([2, 2, 2, 2, 4, 4, 4, 4, 5, 5, 7, 7, 7, 7, 7, 7, 7]);
  });

  it('makes nothing due while much of it is not sent', async () => {
    await add({}, 700);
    const replay = await begin();
    await steps();
    now = new Date(now.getTime() + 10_000);
    expect(await steps()).toEqual([]);
    expect(await due()).toHaveLength(500);
    await settle('delivered');
    await read();
    expect(await due()).toHaveLength(200);
    expect(await current(replay)).toMatchObject({ total: 700, sent: 700, delivered: 500 });
  });

  it('reads page by page, however few match', async () => {
    await add({ status: 'delivered', at: before(2 * HOUR) }, 2_300);
    const first = await add({ at: before(3 * HOUR) });
    const last = await add();
    const replay = await begin();
    await read();
    expect(await due()).toEqual([first, last].sort());
    expect(await current(replay)).toMatchObject({ total: 2, sent: 2, skipped: 0 });
  });

  it('resumes where it was after a process died, and each step is taken by one process', async () => {
    await add({}, 40);
    const replay = await begin();
    await stepReplay(own.database, { now, perSecond: 1 });
    // The step waits for this row when its process dies.
    await inTransaction(own.database, async (client) => {
      await client.query('SELECT FROM service.deliveries WHERE account_id = $1 FOR UPDATE', [owner.accountId]);
      const dying = stepReplay(own.database, { now, perSecond: 10 }).catch(() => 'died');
      await until('the step to wait', async () => {
        const { rows } = await own.database.sql.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows.length === 1;
      });
      expect(await dying).toBe('died');
      expect(await stepReplay(own.database, { now: before(1), perSecond: 10 })).toBeNull();
    });
    expect(await current(replay)).toMatchObject({ sent: 0, total: 40 });
    // It was a connection that died: its process has put the step off.
    now = new Date(now.getTime() + 10_000);
    for (let turn = 0; turn < 6; turn++, now = new Date(now.getTime() + 1_000))
      await Promise.all([1, 2, 3, 4].map(() => steps(10)));
    expect(await current(replay)).toMatchObject({ sent: 40, skipped: 0, total: 40 });
    expect(await due()).toHaveLength(40);
  });

  it('sends nothing more when it is cancelled', async () => {
    await add({}, 3);
    const replay = await begin();
    await steps(1);
    expect(await due()).toHaveLength(1);
    expect(await cancelReplay(own.database, owner, replay.id, now)).toMatchObject({ state: 'cancelled', endedAt: now });
    await settle('delivered');
    now = new Date(now.getTime() + 60_000);
    await steps(1);
    expect(await due()).toEqual([]);
    expect(await current(replay)).toMatchObject({ state: 'cancelled', total: 3, sent: 1, delivered: 1 });
    expect(await nextReplayStep(own.database)).toBeNull();
  });

  it('is one of at most ten that have not ended, is listed, and is forgotten some time after its end', async () => {
    const replays: Replay[] = [];
    for (let n = 0; n < REPLAYS_MAX; n++) replays.unshift(await begin({}, new Date(began.getTime() + n)));
    await expect(begin()).rejects.toThrow('no replay was begun');
    const [newest, second, ...rest] = replays;
    expect(await listReplays(own.database, owner, null, 2)).toEqual([newest, second]);
    const after = { createdAt: second?.createdAt.getTime() ?? 0, id: second?.id ?? '' };
    expect(await listReplays(own.database, owner, after, 100)).toEqual(rest);
    expect(await listReplays(own.database, { ...owner, livemode: true }, null, 100)).toEqual([]);
    expect(await findReplay(own.database, { ...owner, livemode: true }, newest?.id ?? '')).toBeNull();
    expect(await cancelReplay(own.database, { ...owner, livemode: true }, newest?.id ?? '', now)).toBeNull();

    await cancelReplay(own.database, owner, newest?.id ?? '', now);
    expect(await begin()).toMatchObject({ state: 'counting' });
    expect(await forgetReplays(own.database, new Date(now.getTime() + 1), 10)).toBe(0);
    await steps();
    expect(await forgetReplays(own.database, now, 10)).toBe(0);
    expect(await forgetReplays(own.database, new Date(now.getTime() + HOUR), 100)).toBeGreaterThan(0);
    expect(await current(newest as Replay)).toBeNull();
  });
});
