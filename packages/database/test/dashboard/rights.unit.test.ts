import { describe, expect, it } from '@jest/globals';
import { newAccountId, newUserId } from '@pf/contracts';
import {
  changePassword,
  type AuditSource,
  type Database,
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
});
