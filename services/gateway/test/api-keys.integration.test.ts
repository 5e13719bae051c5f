import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newApiKey } from '@pf/contracts';
import { createAccount, createKey, type Database, listKeys, openDatabase, revokeKey, setPlan } from '@pf/database';
import { createTestDatabase, readBackingStack, type TestDatabase, until } from '@pf/testing';
import { createLogger } from '@pf/runtime';
import { ApiKeys, requireAccess } from '../src/api-keys.ts';
import { Strangers } from '../src/limits/strangers.ts';
import { KeyUses } from '../src/key-uses.ts';

const MODES = [true, false] as const;

describe('API keys', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let accountId: string;

  beforeAll(async () => {
    testDatabase = await createTestDatabase(readBackingStack().database);
    database = openDatabase({ url: testDatabase.url, applicationName: 'test' });
    accountId = (await createAccount(database, { name: 'shop' })).id;
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.drop();
  });

  it.each(MODES)('identify their account, mode, scope and plan (livemode %s)', async (livemode) => {
    const { key, id } = await createKey(database, { accountId, livemode, scope: 'payer' });
    expect(await new ApiKeys(database).holder(`Bearer ${key}`)).toEqual({
      keyId: id,
      accountId,
      livemode,
      scope: 'payer',
      plan: 'free',
      expiresAt: null,
    });
    expect(await new ApiKeys(database).holder(`bearer  ${key} `)).toMatchObject({ keyId: id });
  });

  it('are stored as hashes only', async () => {
    const { key, hint } = await createKey(database, { accountId, livemode: false });
    expect(hint).toBe(`pk_test_…${key.slice(-4)}`);
    const { rows } = await database.sql.query<{ row: string }>('SELECT k::text AS row FROM service.api_keys k');
    expect(rows.filter(({ row }) => row.includes(key.slice(8)))).toEqual([]);
  });

  it('are refused from the moment at which they expire, also while they are cached', async () => {
    const at = Date.now();
    const { key } = await createKey(database, { accountId, livemode: false, expiresAt: new Date(at + 3_600_000) });
    let now = at;
    const keys = new ApiKeys(database, { now: () => now });
    expect(await keys.holder(`Bearer ${key}`)).toMatchObject({ accountId });
    now = at + 3_600_000;
    await expect(keys.holder(`Bearer ${key}`)).rejects.toMatchObject({ code: 'api_key.invalid' });
    const { key: old } = await createKey(database, { accountId, livemode: false, expiresAt: new Date(at - 1) });
    await expect(keys.holder(`Bearer ${old}`)).rejects.toMatchObject({ code: 'api_key.invalid' });
  });

  it('tell when they were last used, written for all together and at most twice a minute', async () => {
    const made = [
      await createKey(database, { accountId, livemode: false }),
      await createKey(database, { accountId, livemode: true }),
    ];
    let now = Date.now();
    const log = createLogger('test', 'silent');
    const uses = new KeyUses({ database, log, now: () => now });
    const lastUses = async (): Promise<readonly (number | undefined)[]> => {
      const keys = await listKeys(database, { accountId });
      return made.map(({ id }) => keys.find((key) => key.id === id)?.lastUsedAt?.getTime());
    };
    const first = now;
    for (const { id } of made) uses.used(id);
    await uses.flush();
    expect(await lastUses()).toEqual([first, first]);
    now += 29_000;
    uses.used(made[0]?.id ?? '');
    await uses.flush();
    expect(await lastUses()).toEqual([first, first]);
    now += 2_000;
    uses.used(made[0]?.id ?? '');
    uses.used('key_of_another');
    await uses.flush();
    expect(await lastUses()).toEqual([now, first]);
  });

  it('are refused when unknown, even while a valid one is cached', async () => {
    const keys = new ApiKeys(database);
    const { key } = await createKey(database, { accountId, livemode: false });
    await keys.holder(`Bearer ${key}`);
    const unknown = newApiKey(false);
    for (let tries = 0; tries < 2; tries++)
      await expect(keys.holder(`Bearer ${unknown}`)).rejects.toMatchObject({ code: 'api_key.invalid', status: 401 });
    await keys.holder(`Bearer ${key}`);
  });

  it('stop working after revocation once the cache expires', async () => {
    const keys = new ApiKeys(database, { knownMs: 50 });
    const { key, id } = await createKey(database, { accountId, livemode: false });
    await keys.holder(`Bearer ${key}`);
    const revoked = await revokeKey(database, { accountId, keyId: id });
    expect(revoked?.revokedAt).toBeInstanceOf(Date);
    await until('the key to be refused', () =>
      keys.holder(`Bearer ${key}`).then(
        () => false,
        () => true,
      ),
    );
    // A second revocation changes nothing, and the key of another account cannot be revoked.
    expect(await revokeKey(database, { accountId, keyId: id })).toEqual(revoked);
    const stranger = await createAccount(database, { name: 'stranger' });
    expect(await revokeKey(database, { accountId: stranger.id, keyId: id })).toBeNull();
    expect(await listKeys(database, { accountId: stranger.id })).toEqual([]);
  });

  it('carry the current plan of the account', async () => {
    const { key } = await createKey(database, { accountId, livemode: true });
    expect(await setPlan(database, accountId, 'scale')).toMatchObject({ id: accountId, plan: 'scale' });
    expect(await new ApiKeys(database).holder(`Bearer ${key}`)).toMatchObject({ plan: 'scale' });
    expect(await setPlan(database, 'acct_nobody', 'scale')).toBeNull();
  });

  it('are looked up once for many concurrent requests', async () => {
    const { key } = await createKey(database, { accountId, livemode: false });
    let queries = 0;
    const counted: Database = {
      ...database,
      sql: new Proxy(database.sql, {
        get: (pool, property) =>
          (property === 'query' ? (queries++, pool.query.bind(pool)) : Reflect.get(pool, property)) as unknown,
      }),
    };
    const keys = new ApiKeys(counted);
    const holders = await Promise.all(Array.from({ length: 50 }, () => keys.holder(`Bearer ${key}`)));
    expect(new Set(holders.map(({ keyId }) => keyId)).size).toBe(1);
    expect(queries).toBe(1);
  });

  it('are accepted by the endpoints for payers only if their scope is payer', async () => {
    const { key } = await createKey(database, { accountId, livemode: false, scope: 'payer' });
    const payer = await new ApiKeys(database).holder(`Bearer ${key}`);
    expect(() => requireAccess(payer, { scope: 'payer' })).not.toThrow();
    expect(() => requireAccess(payer, { scope: 'full' })).toThrow(
      expect.objectContaining({ code: 'api_key.insufficient_scope', status: 401 }),
    );
  });

  /** Counts the queries. Those that begin between `hold` and `release` wait for the latter. */
  const counting = () => {
    let queries = 0;
    let held: (() => void)[] | null = null;
    const query = async (...parameters: readonly unknown[]): Promise<unknown> => {
      queries += 1;
      await new Promise<void>((resolve) => (held ? held.push(resolve) : resolve()));
      return (database.sql.query as (...of: readonly unknown[]) => Promise<unknown>)(...parameters);
    };
    const sql = Object.assign(Object.create(database.sql) as Database['sql'], { query });
    return {
      database: { ...database, sql },
      queries: () => queries,
      held: () => held?.length ?? 0,
      hold: () => void (held = []),
      release: () => {
        const waiting = held ?? [];
        held = null;
        for (const go of waiting) go();
      },
    };
  };
  const outcome = (holder: Promise<unknown>): Promise<unknown> =>
    holder.then(
      () => 'valid',
      ({ code }: { readonly code: string }) => code,
    );

  it('are looked up two at a time, until they were valid once', async () => {
    const { database: counted, queries, held, hold, release } = counting();
    const keys = new ApiKeys(counted, { knownMs: 1, turnMs: 60_000 });
    const { key } = await createKey(database, { accountId, livemode: false });
    await keys.holder(`Bearer ${key}`);
    hold();
    const guesses = Array.from({ length: 40 }, () => outcome(keys.holder(`Bearer ${newApiKey(true)}`)));
    // The valid one waits for none of them when it is looked up again.
    const again: Promise<unknown>[] = [];
    await until('a third look-up', () => {
      again.push(keys.holder(`Bearer ${key}`));
      return held() === 3;
    });
    release();
    expect(new Set(await Promise.all(guesses))).toEqual(new Set(['api_key.invalid']));
    await Promise.all(again);
    expect(queries()).toBe(42);
  });

  it('are not looked up for an address that has sent too many others', async () => {
    const { database: counted, queries } = counting();
    // Ten in a minute, all within one moment.
    const strangers = new Strangers(1 / 60, () => 0);
    const keys = new ApiKeys(counted, { knownMs: 1, strangers });
    const { key } = await createKey(database, { accountId, livemode: false });
    await keys.holder(`Bearer ${key}`, '192.0.2.1');
    const guess = (address: string) => outcome(keys.holder(`Bearer ${newApiKey(false)}`, address));
    const outcomes: unknown[] = [];
    for (let n = 0; n < 15; n++) outcomes.push(await guess('192.0.2.1'));
    expect(outcomes).toEqual([
      ...Array<string>(10).fill('api_key.invalid'),
      ...Array<string>(5).fill('rate_limit.exceeded'),
    ]);
    expect(queries()).toBe(11);
    expect(await outcome(keys.holder(undefined, '192.0.2.1'))).toBe('rate_limit.exceeded');
    expect(await guess('192.0.2.2')).toBe('api_key.invalid');
    // The valid one is no guess.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await outcome(keys.holder(`Bearer ${key}`, '192.0.2.1'))).toBe('valid');
  });

  it('count against no address while they cannot be looked up', async () => {
    const sql = { query: () => Promise.reject(new Error('Connection terminated')) };
    const keys = new ApiKeys({ ...database, sql } as unknown as Database, { strangers: new Strangers(1 / 600) });
    const key = newApiKey(false);
    for (let n = 0; n < 5; n++)
      await expect(keys.holder(`Bearer ${key}`, '192.0.2.1')).rejects.toThrow('Connection terminated');
  });
});
