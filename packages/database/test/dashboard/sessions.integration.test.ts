import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccountId, newUserId } from '@pf/contracts';
import {
  AccessEndedError,
  type AuditSource,
  createAccountKey,
  createPersonalToken,
  type Database,
  endSession,
} from '../../src/index.ts';
import { changingPerson } from '../../src/dashboard/rights.ts';
import { inTransaction } from '../../src/postgres/database.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const BY: AuditSource = {
  kind: 'operator',
  id: null,
  name: 'an operator',
  address: null,
  userAgent: null,
  requestId: null,
};

describe('what outlasts a session', () => {
  let own: OwnDatabase;
  let database: Database;
  const at = new Date();
  const expiresAt = new Date(at.getTime() + 60_000);
  /** A person who is signed in. */
  const newPerson = async () => {
    const [userId, id] = [newUserId(), randomUUID()];
    await database.prisma.user.create({ data: { id: userId, name: 'Ada', email: `${userId}@shop.example` } });
    await database.prisma.session.create({ data: { id, token: id, userId, expiresAt } });
    return { userId, proof: { kind: 'session', id }, at } as const;
  };

  beforeAll(async () => {
    own = await createOwnDatabase();
    database = own.database;
  });
  afterAll(() => own.close());

  it('is not made once the session has ended', async () => {
    const person = await newPerson();
    const wanted = { userId: person.userId, at, name: 'laptop', expiresAt, max: 20 };
    const { proof } = await newPerson();
    const made = (right: typeof person) => createPersonalToken(database, wanted, { ...BY, kind: 'person', right });
    await expect(made({ ...person, proof })).rejects.toThrow(AccessEndedError);
    expect(await made(person)).toMatchObject({ name: 'laptop' });
    await endSession(database, { userId: person.userId, id: person.proof.id }, BY);
    await expect(made(person)).rejects.toThrow(AccessEndedError);
  });

  it('is not made once the role has ended', async () => {
    const person = await newPerson();
    const accountId = newAccountId();
    const members = { create: { userId: person.userId, role: 'viewer' } };
    await database.prisma.account.create({ data: { id: accountId, name: 'Shop', members } });
    const key = { accountId, livemode: false, scope: 'full', name: 'Till', expiresAt: null, at, max: 50 } as const;
    const made = (roles: readonly ('owner' | 'viewer')[]) =>
      createAccountKey(database, key, { ...BY, kind: 'person', right: { ...person, roles } });
    await expect(made(['owner'])).rejects.toMatchObject({ kind: 'role' });
    expect(await made(['viewer'])).toMatchObject({ name: 'Till' });
  });

  it('keeps the session from ending until it is made', async () => {
    const person = await newPerson();
    await changingPerson(database, person.userId, { kind: 'person', right: person }, async () => {
      const ending = inTransaction(database, async (other) => {
        await other.query("SET LOCAL lock_timeout = '100ms'");
        await other.query('DELETE FROM dashboard.sessions WHERE id = $1', [person.proof.id]);
      });
      await expect(ending).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await endSession(database, { userId: person.userId, id: person.proof.id }, BY)).toBe(true);
  });
});
