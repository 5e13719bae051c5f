import { afterAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { newUserId } from '@pf/contracts';
import pg from 'pg';
import { changingWithLibrary, type Database, isDatabaseUnavailable, isDenied, openDatabase } from '../../src/index.ts';

/** What Postgres responds to a statement: an error, or no rows. */
type Response = (text: string) => Error | undefined;

/** An error as node-postgres reports it. */
const refusal = (code: string): Error =>
  Object.assign(new Error('canceled'), { code, severity: 'ERROR', detail: undefined, column: undefined });
const unreachable = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect', errno: -111 });

describe('changingWithLibrary()', () => {
  let respond: Response;
  /** The connections that have begun a transaction. */
  let used: pg.Client[];
  const database: Database = openDatabase({ url: 'postgresql://none@127.0.0.1:1/none', applicationName: 'library' });
  afterAll(() => database.close());

  beforeEach(() => {
    used = [];
    respond = () => undefined;
    // Connections without a server.
    jest.spyOn(pg.Client.prototype, 'connect').mockImplementation(((done: (error?: Error) => void) => {
      process.nextTick(() => done(respond('CONNECT')));
    }) as never);
    jest.spyOn(pg.Client.prototype, 'end').mockImplementation(function (this: object, done?: () => void) {
      Object.assign(this, { _ending: true });
      done?.();
      return Promise.resolve();
    } as never);
    jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      statement: { readonly text: string },
    ) {
      if (statement.text === 'BEGIN') used.push(this);
      const failure = respond(statement.text);
      return failure ? Promise.reject(failure) : Promise.resolve({ fields: [], rows: [], rowCount: 1 });
    } as never);
  });

  const change = (): Promise<unknown> =>
    changingWithLibrary(database, { userId: newUserId(), proof: null, at: new Date() }, (prisma) =>
      prisma.user.deleteMany(),
    ).catch((error: unknown) => error);

  const isLock = (text: string): boolean => text.endsWith('FOR NO KEY UPDATE');
  const isWrite = (text: string): boolean => text.startsWith('DELETE');
  const failing = (fails: (text: string) => boolean, failure: () => Error): Response => {
    return (text) => (fails(text) ? failure() : undefined);
  };

  it.each(['55P03', '25006', '57014', '25P03', '53300', '57P01', '08006'])(
    'fails as an unavailable database where Postgres refuses a statement with %s',
    async (code) => {
      for (const at of [isLock, isWrite, (text: string) => text === 'BEGIN']) {
        respond = failing(at, () => refusal(code));
        expect(isDatabaseUnavailable(await change())).toBe(true);
      }
    },
  );

  it('fails as an unavailable database where no connection is made', async () => {
    respond = failing(isLock, () => refusal('25006'));
    await change();
    respond = failing((text) => text === 'CONNECT', unreachable);
    expect(isDatabaseUnavailable(await change())).toBe(true);
  });

  it('fails as a statement of ours that is wrong', async () => {
    for (const code of ['42703', '22P02', '23505', '42501']) {
      respond = failing(isWrite, () => refusal(code));
      const error = await change();
      expect([isDatabaseUnavailable(error), isDenied(error)]).toEqual([false, code === '42501']);
    }
  });

  it('uses a connection again after a lock that was not to be had in time', async () => {
    respond = failing(isLock, () => refusal('55P03'));
    await change();
    await change();
    expect(new Set(used).size).toBe(1);
  });

  it.each([
    ['a standby', failing(isWrite, () => refusal('25006'))],
    ['a standby, which refuses locks', failing(isLock, () => refusal('25006'))],
    [
      'a server that does not roll back',
      failing(
        (text) => text !== 'CONNECT' && text !== 'BEGIN',
        () => refusal('57014'),
      ),
    ],
  ] as const)('returns no connection to %s to the pool', async (_what, refuses) => {
    respond = refuses;
    await change();
    await change();
    expect([used.length, new Set(used).size]).toEqual([2, 2]);
  });

  it('returns none to a standby whose refusal the library has caught', async () => {
    respond = failing(isWrite, () => refusal('25006'));
    const caught = (): Promise<unknown> =>
      changingWithLibrary(database, { userId: newUserId(), proof: null, at: new Date() }, (prisma) =>
        prisma.user.deleteMany().catch(() => null),
      );
    await caught();
    await caught();
    expect(new Set(used).size).toBe(2);
  });
});
