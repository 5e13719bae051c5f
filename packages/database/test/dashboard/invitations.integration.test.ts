import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newUserId } from '@pf/contracts';
import {
  acceptInvitation,
  auditEntries,
  type AuditSource,
  changeMember,
  createOwnedAccount,
  type Database,
  invite,
  openInvitations,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const BY: AuditSource = {
  kind: 'operator',
  id: null,
  name: 'an operator',
  address: null,
  userAgent: null,
  requestId: null,
};

describe('an invitation', () => {
  let own: OwnDatabase;
  let database: Database;
  let accountId: string;
  let first: string;
  const newUser = async (name: string): Promise<string> => {
    const id = newUserId();
    await database.prisma.user.create({ data: { id, name, email: `${name}@shop.example` } });
    return id;
  };
  const newOwner = async (name: string): Promise<string> => {
    const userId = await newUser(name);
    await database.prisma.member.create({ data: { accountId, userId, role: 'owner' } });
    return userId;
  };
  const inviteAs = (invitedBy: string, name: string) => {
    const at = new Date();
    const invitation = { accountId, invitedBy, role: 'owner', at, expiresAt: new Date(at.getTime() + 60_000) } as const;
    return invite(database, { ...invitation, email: `${name}@shop.example`, token: name, max: 100 }, BY);
  };
  const accept = async (name: string) => {
    const person = { userId: await newUser(name), email: `${name}@shop.example` };
    return acceptInvitation(database, { ...person, token: name, at: new Date(), max: 20 }, BY);
  };

  beforeAll(async () => {
    own = await createOwnDatabase();
    ({ database } = own);
    first = await newUser('first');
    const account = await createOwnedAccount(database, { name: 'Shop', userId: first, max: 20 }, BY);
    accountId = account?.id ?? '';
  });
  afterAll(() => own.close());

  it.each([
    ['is removed', 'removed', null],
    ['is an owner no longer', 'demoted', 'developer'],
  ] as const)('ends when the owner who made it %s, with an entry for each', async (_end, name, role) => {
    const invitedBy = await newOwner(name);
    const made = [await inviteAs(invitedBy, `${name}-one`), await inviteAs(invitedBy, `${name}-two`)];
    const kept = await inviteAs(first, `${name}-kept`);
    expect(await changeMember(database, { accountId, userId: invitedBy, role }, BY)).toBeNull();
    expect(await openInvitations(database, accountId, new Date())).toEqual([kept]);
    const entries = await auditEntries(database, accountId, { action: 'invitation.withdrawn' }, null, 100);
    const ids = made.map((one) => (typeof one === 'string' ? one : one.id));
    expect(entries.map(({ subject }) => subject)).toEqual(expect.arrayContaining(ids));
    expect(await accept(`${name}-one`)).toBe('invalid');
    expect(await accept(`${name}-kept`)).toMatchObject({ accountId, role: 'owner' });
  });

  it('makes no member if the one who made it was an owner no longer by then', async () => {
    // The request had passed its check of the role before the owner was removed.
    const invitedBy = await newOwner('late');
    await changeMember(database, { accountId, userId: invitedBy, role: null }, BY);
    await inviteAs(invitedBy, 'invited-late');
    expect(await accept('invited-late')).toBe('invalid');
  });

  it('stays when its owner is given the role of an owner again', async () => {
    const invitedBy = await newOwner('same');
    await inviteAs(invitedBy, 'same-one');
    await changeMember(database, { accountId, userId: invitedBy, role: 'owner' }, BY);
    expect(await accept('same-one')).toMatchObject({ role: 'owner' });
  });
});
