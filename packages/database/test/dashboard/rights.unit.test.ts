import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { newAccountId, newUserId } from '@pf/contracts';
import {
  type AuditSource,
  changePassword,
  changingWithLibrary,
  type Database,
  OwnerBusyError,
  renameAccount,
  resetPassword,
  revokePersonalToken,
} from '../../src/index.ts';

type Statement = readonly [text: string, values: readonly unknown[]];

describe('a change of the dashboard', () => {
  const at = new Date();
  const by = (change: Partial<AuditSource>): AuditSource => ({
    kind: 'person',
    id: null,
    name: 'Ada',
    address: null,
    userAgent: null,
    requestId: null,
    ...change,
  });
  /** A database that finds one row of everything, and what it is asked. */
  const recorded = (): { readonly database: Database; readonly statements: Statement[] } => {
    const statements: Statement[] = [];
    const query = (text: string, values: readonly unknown[] = []) => {
      statements.push([text, values]);
      return Promise.resolve({ rows: [{}], rowCount: 1 });
    };
    const connect = () => Promise.resolve({ query, release: () => undefined });
    return { database: { sql: { connect } } as unknown as Database, statements };
  };
  const revoke = (database: Database, userId: string, source: AuditSource): Promise<unknown> =>
    revokePersonalToken(database, { userId, tokenId: 'tok_1', at }, source);
  const userLocks = (statements: readonly Statement[]): readonly unknown[] =>
    statements.filter(([text]) => text.startsWith('SELECT FROM dashboard.users')).map(([, [id]]) => id);

  it.each(['person', 'token'] as const)('is not made by a %s who has shown no right', async (kind) => {
    const { database, statements } = recorded();
    const userId = newUserId();
    const source = by({ kind });
    await expect(revoke(database, userId, source)).rejects.toThrow('without a right');
    await expect(changePassword(database, { userId, hash: 'hash', at }, source)).rejects.toThrow('without a right');
    await expect(renameAccount(database, newAccountId(), 'Stolen', source)).rejects.toThrow('without a right');
    expect(statements.filter(([text]) => /^(INSERT|UPDATE|DELETE)/.test(text))).toEqual([]);
  });

  it('is made by an operator, who has none, with its person locked', async () => {
    const { database, statements } = recorded();
    const userId = newUserId();
    await revoke(database, userId, by({ kind: 'operator' }));
    expect(userLocks(statements)).toEqual([userId]);
  });

  it('is made by the right of a link for a new password, with its person locked', async () => {
    const { database, statements } = recorded();
    const person = { userId: newUserId(), email: 'ada@shop.example' };
    expect(await resetPassword(database, { token: 'link', person, hash: 'hash', at }, by({}))).toBe(true);
    expect(userLocks(statements)).toEqual([person.userId]);
  });

  it('is not made of one person by the right of another', async () => {
    const { database, statements } = recorded();
    const right = { userId: newUserId(), proof: { kind: 'session', id: 'one' }, at } as const;
    await expect(revoke(database, newUserId(), by({ right }))).rejects.toThrow(`${right.userId} has no right`);
    await revoke(database, right.userId, by({ right }));
    expect(userLocks(statements)).toEqual([right.userId]);
    expect(statements.filter(([text]) => text.startsWith('UPDATE'))).toHaveLength(1);
  });

  describe('beside another', () => {
    afterEach(() => void jest.useRealTimers());

    /** A database whose transactions take until they are let go on, and how many have begun. */
    const held = () => {
      const waiting: (() => void)[] = [];
      let begun = 0;
      const hold = async (): Promise<void> => {
        begun += 1;
        await new Promise<void>((resolve) => waiting.push(resolve));
      };
      const query = (text: string) =>
        (text === 'BEGIN' ? hold() : Promise.resolve()).then(() => ({ rows: [{}], rowCount: 1 }));
      const database = {
        sql: { connect: () => Promise.resolve({ query, release: () => undefined }) },
        prisma: { $transaction: hold },
      } as unknown as Database;
      const goOn = async (): Promise<void> => {
        waiting.shift()?.();
        await new Promise(setImmediate);
      };
      return { database, goOn, begun: () => begun };
    };
    const rightOf = (userId: string) => ({ userId, proof: null, at, roles: ['owner'] }) as const;
    const own = (database: Database, userId: string) => revoke(database, userId, by({ right: rightOf(userId) }));
    const inLibrary = (database: Database, userId: string) =>
      changingWithLibrary(database, rightOf(userId), () => Promise.resolve());
    const rename = (database: Database, accountId: string, userId: string) =>
      renameAccount(database, accountId, 'Shop', by({ right: rightOf(userId) }));

    it('takes no connection while one of its person is made, and lets those of others through', async () => {
      const { database, goOn, begun } = held();
      const [userId, other] = [newUserId(), newUserId()];
      const changes = [
        own(database, userId),
        inLibrary(database, userId),
        rename(database, newAccountId(), userId),
        own(database, userId),
      ];
      await new Promise(setImmediate);
      expect(begun()).toBe(1);
      changes.push(own(database, other), inLibrary(database, newUserId()));
      await new Promise(setImmediate);
      expect(begun()).toBe(3);
      for (let ended = 1; ended <= changes.length; ended += 1) await goOn();
      await Promise.all(changes);
      expect(begun()).toBe(6);
    });

    it('takes no connection while one of its account is made, whoever makes it', async () => {
      const { database, goOn, begun } = held();
      const accountId = newAccountId();
      const changes = Array.from({ length: 5 }, () => rename(database, accountId, newUserId()));
      changes.push(renameAccount(database, accountId, 'Shop', by({ kind: 'operator' })));
      await new Promise(setImmediate);
      expect(begun()).toBe(1);
      for (let ended = 1; ended <= changes.length; ended += 1) await goOn();
      await Promise.all(changes);
      expect(begun()).toBe(6);
    });

    it('fails as too much under way where its turn does not come', async () => {
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
      const { database, goOn, begun } = held();
      const userId = newUserId();
      const first = own(database, userId);
      const second = expect(own(database, userId)).rejects.toThrow(OwnerBusyError);
      await jest.advanceTimersByTimeAsync(2_000);
      await second;
      await goOn();
      await first;
      expect(begun()).toBe(1);
    });
  });
});
