import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@pf/testing';
import {
  type Database,
  forAll,
  forOwner,
  inTransaction,
  isDatabaseUnavailable,
  openDatabase,
  OwnerBusyError,
  shareOf,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const ONE = { name: 'one', member: 'key' };
const OTHER = { name: 'other', member: 'key' };

describe('a share of the connections', () => {
  let own: OwnDatabase;
  let database: Database;
  beforeAll(async () => {
    own = await createOwnDatabase();
    database = openDatabase({ url: own.url, applicationName: 'share', maxConnections: 4 });
  });
  afterAll(async () => {
    await database.close();
    await own.close();
  });
  const share = (waitMs = 60_000, most = { sql: 2, scans: 1, perOwner: 1 }) => ({
    ...database,
    ...shareOf(database, { ...most, waitMs }),
  });

  it('leaves the others to those who use the database itself', async () => {
    const { sql } = share();
    const blocker = await own.database.sql.connect();
    await blocker.query('SELECT pg_advisory_lock(1)');
    const waiting = Array.from({ length: 6 }, () => sql.query('SELECT pg_advisory_lock_shared(1)'));
    const taken = () => database.sql.totalCount - database.sql.idleCount;
    await until('two to wait', () => taken() === 2);
    for (let n = 0; n < 5; n++) await database.sql.query('SELECT 1');
    expect(taken()).toBe(2);
    await blocker.query('SELECT pg_advisory_unlock(1)');
    blocker.release();
    await Promise.all(waiting);
  });

  it('counts connections of transactions, and gives them back once, whatever happens on them', async () => {
    const part = share();
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_none, n) =>
        inTransaction(part, async (client) => {
          await client.query(n % 2 === 0 ? 'SELECT 1' : 'SELECT nothing');
        }),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    await Promise.allSettled(Array.from({ length: 10 }, () => part.sql.query('SELECT nothing')));
    const two = await Promise.all([part.sql.connect(), part.sql.connect()]);
    let third = false;
    const waiting = part.sql.query('SELECT 1').then(() => (third = true));
    // The others are served meanwhile.
    for (let n = 0; n < 20; n++) await database.sql.query('SELECT 1');
    expect(third).toBe(false);
    for (const client of two) client.release();
    await waiting;
  });

  it('fails like an unavailable database when none is free in time', async () => {
    const part = share(500);
    const two = await Promise.all([part.sql.connect(), part.sql.connect()]);
    const error: unknown = await part.sql.query('SELECT 1').catch((failure: unknown) => failure);
    expect(isDatabaseUnavailable(error)).toBe(true);
    for (const client of two) client.release();
    await part.sql.query('SELECT 1');
  });

  it('lets an owner take no connection, and no place in line, of another', async () => {
    const part = share();
    const held = await forOwner(ONE, () => part.sql.connect());
    const waiting = Array.from({ length: 20 }, (_none, n) => forOwner(ONE, () => part.sql.query('SELECT $1', [n])));
    for (let n = 0; n < 20; n++) await forOwner(OTHER, () => part.sql.query('SELECT 1'));
    for (let n = 0; n < 20; n++) await forOwner(ONE, () => forAll(() => part.sql.query('SELECT 1')));
    let ended = 0;
    for (const one of waiting) void one.then(() => (ended += 1));
    expect(ended).toBe(0);
    held.release();
    await Promise.all(waiting);
  });

  it('lets a member of an owner not have all of its connections, nor all of its places in line', async () => {
    const part = share(60_000, { sql: 4, scans: 1, perOwner: 2 });
    const many = <Result>(work: () => Result): Result => forOwner({ name: 'one', member: 'many' }, work);
    const other = <Result>(work: () => Result): Result => forOwner({ name: 'one', member: 'other' }, work);
    const held = [many(() => part.sql.connect()), many(() => part.sql.connect())];
    const waiting = Array.from({ length: 20 }, () => many(() => part.sql.query('SELECT 1')));
    await held[0];
    for (let n = 0; n < 20; n++) await other(() => part.sql.query('SELECT 1'));
    for (const one of held) (await one).release();
    await Promise.all(waiting);
  });

  it('refuses an owner whose turn does not come in time, and has room for it afterwards', async () => {
    const part = share(300);
    const held = await forOwner(ONE, () => part.sql.connect());
    await expect(forOwner(ONE, () => part.sql.query('SELECT 1'))).rejects.toThrow(OwnerBusyError);
    held.release();
    await forOwner(ONE, () => part.sql.query('SELECT 1'));
  });
});
