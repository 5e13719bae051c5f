import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newUserId } from '@pf/contracts';
import {
  acceptInvitation,
  addPasskey,
  addWebhookEndpoint,
  auditEntries,
  type AuditSource,
  changeMember,
  createAccountKey,
  createOwnedAccount,
  createWebhookSecret,
  type Database,
  forgetAuditEntries,
  invite,
  openAccount,
  recordChange,
  recordPersonalChange,
  removeWebhookEndpoint,
  renameAccount,
  renamePasskey,
  revokeKey,
  setPlan,
  withdrawInvitation,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const SECRETS_KEY = randomBytes(32);

describe('the audit log', () => {
  let own: OwnDatabase;
  let database: Database;
  let accountId: string;
  let userId: string;
  const by = (change: Partial<AuditSource> = {}): AuditSource => ({
    kind: 'person',
    id: userId,
    name: 'olivia@shop.example',
    address: '192.0.2.1',
    userAgent: 'a browser',
    requestId: 'req_1',
    right: rightOf(userId),
    ...change,
  });
  const rightOf = (of: string) => ({ userId: of, proof: null, at: new Date(), roles: ['owner'] }) as const;
  const entries = async (of = accountId) => auditEntries(database, of, {}, null, 1_000);
  const newUser = async (name: string): Promise<string> => {
    const id = newUserId();
    await database.prisma.user.create({ data: { id, name, email: `${name}@shop.example` } });
    return id;
  };
  /** Everything that a transaction of these functions could leave behind. */
  const state = async (): Promise<unknown> => {
    const tables = ['service.accounts', 'service.api_keys', 'service.webhook_endpoints', 'service.webhook_secrets'];
    const people = ['dashboard.members', 'dashboard.invitations'];
    const all = await Promise.all(
      [...tables, ...people].map((table) =>
        database.sql.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t ORDER BY 1`),
      ),
    );
    return all.map(({ rows }) => rows);
  };

  beforeAll(async () => {
    own = await createOwnDatabase();
    ({ database } = own);
    userId = await newUser('olivia');
    const account = await createOwnedAccount(database, { name: 'Shop', userId, max: 20 }, by());
    accountId = account?.id ?? '';
  });
  afterAll(() => own.close());

  it('shows who did what to what, from where, as it was and as it is', async () => {
    await renameAccount(database, accountId, 'Coffee bar', by());
    const [entry] = await entries();
    expect(entry).toEqual({
      ...by({ right: undefined }),
      tokenId: null,
      entryId: expect.stringMatching(/^aud_/) as unknown,
      at: expect.any(Date) as unknown,
      accountId,
      action: 'account.renamed',
      livemode: null,
      subject: accountId,
      before: { name: 'Shop' },
      after: { name: 'Coffee bar' },
    });
  });

  it('is written with the change, or neither is', async () => {
    const at = new Date();
    const later = new Date(at.getTime() + 60_000);
    const joining = await newUser('joining');
    const other = await newUser('promoted');
    await database.sql.query(`INSERT INTO dashboard.members (account_id, user_id, role) VALUES ($1, $2, 'viewer')`, [
      accountId,
      other,
    ]);
    const invitation = { accountId, role: 'viewer', invitedBy: userId, at, expiresAt: later, max: 100 } as const;
    await invite(database, { ...invitation, email: 'joining@shop.example', token: 'joining' }, by());
    const open = await invite(database, { ...invitation, email: 'open@shop.example', token: 'open' }, by());
    if (typeof open === 'string') throw new Error(open);
    const key = { accountId, livemode: false, scope: 'full', name: 'Till', expiresAt: null, at } as const;
    const made = await createAccountKey(database, { ...key, max: 50 }, by());
    const url = 'https://shop.example/hooks';
    const endpoint = { accountId, livemode: false, url };
    await addWebhookEndpoint(database, endpoint, by());
    const acceptance = { token: 'joining', userId: joining, email: 'joining@shop.example', at, max: 20 };
    const changes: Readonly<Record<string, () => Promise<unknown>>> = {
      createOwnedAccount: () => createOwnedAccount(database, { name: 'Other', userId, max: 20 }, by()),
      openAccount: () => openAccount(database, SECRETS_KEY, { name: 'Other' }, by()),
      renameAccount: () => renameAccount(database, accountId, 'Another name', by()),
      setPlan: () => setPlan(database, accountId, 'scale', by()),
      invite: () => invite(database, { ...invitation, email: 'new@shop.example', token: 'new' }, by()),
      withdrawInvitation: () => withdrawInvitation(database, { accountId, id: open.id }, by()),
      acceptInvitation: () => acceptInvitation(database, acceptance, by({ right: rightOf(joining) })),
      createAccountKey: () => createAccountKey(database, { ...key, max: 50, name: 'Second' }, by()),
      revokeKey: () => revokeKey(database, { accountId, keyId: made?.id ?? '' }, by()),
      addWebhookEndpoint: () => addWebhookEndpoint(database, { ...endpoint, url: `${url}/second` }, by()),
      removeWebhookEndpoint: () => removeWebhookEndpoint(database, { ...endpoint, at }, by()),
      createWebhookSecret: () => createWebhookSecret(database, SECRETS_KEY, { accountId, livemode: true }, at, by()),
      changeRole: () => changeMember(database, { accountId, userId: other, role: 'support' }, by()),
    };
    const before = await state();
    await database.sql.query('ALTER TABLE dashboard.audit_entries RENAME TO put_away');
    try {
      for (const [name, change] of Object.entries(changes))
        await expect(change().then(() => name)).rejects.toThrow('dashboard.audit_entries');
    } finally {
      await database.sql.query('ALTER TABLE dashboard.put_away RENAME TO audit_entries');
    }
    expect(await state()).toEqual(before);

    const actions = (await entries()).length;
    for (const change of Object.values(changes)) await change();
    expect((await entries()).slice(0, (await entries()).length - actions).map(({ action }) => action)).toEqual([
      'member.role_changed',
      'secret.rotated',
      'endpoint.removed',
      'endpoint.created',
      'key.revoked',
      'key.created',
      'member.joined',
      'invitation.withdrawn',
      'member.invited',
      'account.plan_changed',
      'account.renamed',
    ]);
    expect(await state()).not.toEqual(before);
  });

  it('has no entry for what changed nothing', async () => {
    const at = new Date();
    const key = { accountId, livemode: false, scope: 'full', name: 'Once', expiresAt: null, at } as const;
    const made = await createAccountKey(database, { ...key, max: 50 }, by());
    await revokeKey(database, { accountId, keyId: made?.id ?? '' }, by());
    await renameAccount(database, accountId, 'The same', by());
    const credential = { credentialId: 'once', publicKey: new Uint8Array([1]), counter: 0 };
    const passkey = await addPasskey(database, { ...credential, userId, name: 'the same', at, max: 20 }, by());
    if (typeof passkey === 'string') throw new Error(passkey);
    const count = (await entries()).length;
    await renameAccount(database, accountId, 'The same', by());
    expect(await changeMember(database, { accountId, userId, role: 'owner' }, by())).toBeNull();
    const renaming = { userId, passkeyId: passkey.id, name: 'the same' };
    expect(await renamePasskey(database, renaming, by())).toMatchObject({ name: 'the same' });
    await revokeKey(database, { accountId, keyId: made?.id ?? '' }, by());
    await revokeKey(database, { accountId, keyId: 'key_none' }, by());
    await createAccountKey(database, { ...key, max: 0 }, by());
    await changeMember(database, { accountId, userId: 'usr_none', role: 'viewer' }, by());
    await changeMember(database, { accountId, userId, role: null }, by());
    await withdrawInvitation(database, { accountId, id: 'inv_none' }, by());
    expect(await entries()).toHaveLength(count);
  });

  it('holds no secret: not the query of a URL, no key, no token', async () => {
    const at = new Date();
    const url = 'https://shop.example/secret?token=hidden-in-the-query';
    await addWebhookEndpoint(database, { accountId, livemode: true, url }, by());
    const key = { accountId, livemode: true, scope: 'full', name: 'Till', expiresAt: null, at } as const;
    const made = await createAccountKey(database, { ...key, max: 50 }, by());
    const secret = await createWebhookSecret(database, SECRETS_KEY, { accountId, livemode: false }, at, by());
    const text = JSON.stringify(await entries());
    expect(text).toContain('https://shop.example/secret');
    for (const hidden of ['hidden-in-the-query', made?.key.slice(8, 40) ?? '', secret.slice(6)])
      expect(text).not.toContain(hidden);
  });

  it('cuts off what is long, and keeps what Postgres cannot store from failing the change', async () => {
    const note = {
      text: 'x'.repeat(1_000),
      half: `${'x'.repeat(199)}\u{1F600}`,
      nul: 'a\0b',
      many: Array(100).fill('y'),
    };
    const source = by({ name: 'n'.repeat(1_000), userAgent: 'u'.repeat(1_000) });
    await recordChange(database.sql, source, {
      accountId,
      action: 'intent.created',
      subject: 's'.repeat(500),
      after: note,
    });
    const [entry] = await entries();
    expect(entry).toMatchObject({
      name: 'n'.repeat(200),
      userAgent: 'u'.repeat(300),
      subject: 's'.repeat(100),
      after: { text: 'x'.repeat(200), half: `${'x'.repeat(199)}\uFFFD`, nul: 'ab', many: Array(20).fill('y') },
    });
  });

  it('has of a person in each of their accounts what concerns it, without the place', async () => {
    const second = await createOwnedAccount(database, { name: 'Second', userId, max: 20 }, by());
    await recordPersonalChange(database.sql, by(), { action: 'password.changed', subject: userId });
    await recordPersonalChange(database.sql, by(), { action: 'session.begun', subject: userId });
    for (const shop of [accountId, second?.id ?? ''])
      expect((await entries(shop))[0]).toMatchObject({
        action: 'password.changed',
        subject: userId,
        address: null,
        userAgent: null,
      });
    const { rows } = await database.sql.query(
      `SELECT DISTINCT action, account_id IS NULL AS own, address FROM dashboard.audit_entries
        WHERE actor_id = $1 AND action IN ('password.changed', 'session.begun') ORDER BY 1, 2`,
      [userId],
    );
    const { address } = by();
    expect(rows).toEqual([
      { action: 'password.changed', own: false, address: null },
      { action: 'password.changed', own: true, address },
      { action: 'session.begun', own: true, address },
    ]);
  });

  it('hides what older code has written of a person', async () => {
    const account = await createOwnedAccount(database, { name: 'Older', userId, max: 20 }, by());
    const of = account?.id ?? '';
    for (const action of ['session.begun', 'passkey.added'] as const)
      await recordChange(database.sql, by(), { accountId: of, action });
    expect(await entries(of)).toMatchObject([
      { action: 'passkey.added', address: null, userAgent: null },
      { action: 'account.created', address: by().address },
    ]);
  });

  it('is listed newest first by page and filter, each account by itself, and by an index', async () => {
    const account = await createOwnedAccount(database, { name: 'Listed', userId, max: 20 }, by());
    const of = account?.id ?? '';
    const other = await newUser('other');
    for (let n = 0; n < 5; n++) {
      const change = { accountId: of, action: 'key.created', livemode: false } as const;
      await recordChange(database.sql, by({ id: n % 2 === 0 ? userId : other }), { ...change, subject: `key_${n}` });
    }
    const all = await auditEntries(database, of, {}, null, 100);
    expect(all.map(({ subject }) => subject)).toEqual(['key_4', 'key_3', 'key_2', 'key_1', 'key_0', of]);
    const first = await auditEntries(database, of, {}, null, 4);
    const last = first.at(-1);
    const after = { createdAt: last?.at.getTime() ?? 0, id: last?.entryId ?? '' };
    expect([...first, ...(await auditEntries(database, of, {}, after, 4))]).toEqual(all);
    const subjects = async (filter: Parameters<typeof auditEntries>[2]) =>
      (await auditEntries(database, of, filter, null, 100)).map(({ subject }) => subject);
    expect(await subjects({ action: 'account.created' })).toEqual([of]);
    expect(await subjects({ actor: other })).toEqual(['key_3', 'key_1']);
    expect(await subjects({ subject: 'key_2', actor: userId })).toEqual(['key_2']);
    expect(await subjects({ since: new Date(Date.now() + 60_000) })).toEqual([]);
    expect(await subjects({ until: new Date(Date.now() + 60_000) })).toHaveLength(6);
    for (const [filter, index] of [
      ['', 'audit_entries_newest'],
      ["AND action = 'key.created'", 'audit_entries_by_action'],
      ["AND actor_id = 'usr_1'", 'audit_entries_by_actor'],
      ["AND subject = 'key_1'", 'audit_entries_by_subject'],
    ] as const) {
      const client = await database.sql.connect();
      try {
        await client.query('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off');
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(
          `EXPLAIN SELECT id FROM dashboard.audit_entries WHERE account_id = 'acct_1' ${filter}
            ORDER BY at DESC, id DESC LIMIT 100`,
        );
        expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(index);
      } finally {
        client.release(true);
      }
    }
  });

  it('is kept until its time is over', async () => {
    const [newest] = await entries();
    expect(await forgetAuditEntries(database, 1_000)).toBe(0);
    await database.sql.query(
      `UPDATE dashboard.audit_entries SET at = now() - interval '2 years 1 second' WHERE id <> $1`,
      [newest?.entryId],
    );
    expect(await forgetAuditEntries(database, 1)).toBe(1);
    expect(await forgetAuditEntries(database, 1_000)).toBeGreaterThan(10);
    expect((await entries()).map(({ entryId }) => entryId)).toEqual([newest?.entryId]);
  });
});
