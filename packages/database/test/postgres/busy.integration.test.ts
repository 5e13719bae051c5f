import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isDatabaseUnavailable, openDatabase } from '../../src/index.ts';
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
});
