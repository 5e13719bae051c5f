import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newUserId } from '@pf/contracts';
import { changingWithLibrary, isDatabaseUnavailable, openDatabase } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

describe('a transaction of Prisma', () => {
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
  });
  afterAll(() => own.close());

  it('fails like an unavailable database when no connection is free in time to begin it', async () => {
    const database = openDatabase({ url: own.url, applicationName: 'busy', maxConnections: 1 });
    const held = await database.sql.connect();
    const counted = database.prisma.$transaction((transaction) => transaction.user.count(), { maxWait: 50 });
    const error: unknown = await counted.catch((failure: unknown) => failure);
    held.release();
    await database.close();
    expect(error).toMatchObject({ code: 'P2028' });
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  /** Changes a person who is locked already, in sessions with this setting. @returns the error, and what it leaves */
  const refused = async (settings: Readonly<Record<string, string>>) => {
    const userId = newUserId();
    await own.database.prisma.user.create({ data: { id: userId, name: 'Ada', email: `${userId}@shop.example` } });
    const database = openDatabase({ url: own.url, applicationName: 'busy', maxConnections: 1, settings });
    const blocker = await own.database.sql.connect();
    try {
      await blocker.query('BEGIN');
      await blocker.query('SELECT FROM dashboard.users WHERE id = $1 FOR UPDATE', [userId]);
      const right = { userId, proof: null, at: new Date() };
      const error: unknown = await changingWithLibrary(database, right, (prisma) => prisma.user.count()).catch(
        (failure: unknown) => failure,
      );
      const { totalCount, idleCount } = database.sql;
      return { unavailable: isDatabaseUnavailable(error), connections: [totalCount, idleCount] };
    } finally {
      await blocker.query('ROLLBACK');
      blocker.release();
      await database.close();
    }
  };

  it('fails like an unavailable database when a lock is not to be had in time', async () => {
    expect(await refused({ lock_timeout: '100ms' })).toEqual({ unavailable: true, connections: [1, 1] });
  });

  it('fails like an unavailable database on a standby, and leaves its connection', async () => {
    const standby = { default_transaction_read_only: 'on' };
    expect(await refused(standby)).toEqual({ unavailable: true, connections: [0, 0] });
  });
});
