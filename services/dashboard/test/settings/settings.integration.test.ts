import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROLES } from '@pf/contracts/dashboard';
import { auditEntries } from '@pf/database';
import { type Cluster, type Instance, startCluster } from '@pf/testing';
import { emptyAccount, memberOf, type Person } from '../person.ts';

const BASE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const SOLANA = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const LOGO = `data:image/png;base64,${Buffer.from(
  '89504e470d0a1a0a0000000d4948445200000040000000400806000000aa6971de',
  'hex',
).toString('base64')}`;
const NOTHING = {
  branding: { name: null, logo: null, accentColor: null, supportUrl: null },
  wallets: { base: null, solana: null, tempo: null },
  returnOrigins: [],
  updatedAt: null,
};

describe('the settings of an account', () => {
  let cluster: Cluster;
  let dashboard: Instance;
  beforeAll(async () => {
    cluster = await startCluster();
    dashboard = await cluster.start('dashboard');
  });
  afterAll(() => cluster.close());

  const newAccount = (): Promise<string> => emptyAccount(cluster.database, 'Shop');
  let people = 0;
  const ownerOf = (accountId: string): Promise<Person> =>
    memberOf(cluster.database, dashboard.url, { name: `owner-${people++}`, accountId, role: 'owner' });
  const settingsOf = async (person: Person, accountId: string) =>
    (await person.ask('getSettings', { params: { accountId } })).body.settings;
  const changesOf = async (accountId: string) =>
    (await auditEntries(cluster.database, accountId, { action: 'settings.changed' }, null, 100)).map(
      ({ before, after }) => ({ before, after }),
    );

  it('are empty at first, and every member may read them', async () => {
    const accountId = await newAccount();
    for (const role of ROLES) {
      const person = await memberOf(cluster.database, dashboard.url, { name: `reader-${role}`, accountId, role });
      expect(await settingsOf(person, accountId)).toEqual(NOTHING);
    }
  });

  it('change by the fields of a request, are removed by null, and are of one account', async () => {
    const [accountId, foreign] = [await newAccount(), await newAccount()];
    const owner = await ownerOf(accountId);
    const params = { accountId };
    const body = {
      branding: { name: 'Café', logo: LOGO, accentColor: '#1D4ED8', supportUrl: 'https://shop.example/help' },
      wallets: { base: BASE.toLowerCase(), solana: SOLANA },
      returnOrigins: ['https://shop.example', 'http://localhost:3000'],
    };
    const { body: first } = await owner.ask('updateSettings', { params, body });
    expect(first.settings).toEqual({
      branding: { ...body.branding, accentColor: '#1d4ed8' },
      wallets: { base: BASE, solana: SOLANA, tempo: null },
      returnOrigins: body.returnOrigins,
      updatedAt: expect.any(String),
    });
    const change = { branding: { logo: null }, wallets: { tempo: BASE }, returnOrigins: ['https://pay.shop.example'] };
    await owner.ask('updateSettings', { params, body: change });
    expect(await settingsOf(owner, accountId)).toMatchObject({
      branding: { name: 'Café', logo: null, accentColor: '#1d4ed8', supportUrl: 'https://shop.example/help' },
      wallets: { base: BASE, solana: SOLANA, tempo: BASE },
      returnOrigins: ['https://pay.shop.example'],
    });
    expect(await settingsOf(await ownerOf(foreign), foreign)).toEqual(NOTHING);
    expect(await owner.ask('updateSettings', { params: { accountId: foreign }, body })).toMatchObject({
      status: 404,
      code: 'account.not_found',
    });
  });

  it('keep changes that are made at once', async () => {
    const accountId = await newAccount();
    const owner = await ownerOf(accountId);
    const bodies = [
      { branding: { name: 'Café' } },
      { branding: { accentColor: '#1d4ed8' } },
      { branding: { supportUrl: 'https://shop.example/' } },
      { wallets: { base: BASE } },
      { wallets: { solana: SOLANA } },
      { returnOrigins: ['https://shop.example'] },
    ];
    await Promise.all(bodies.map((body) => owner.ask('updateSettings', { params: { accountId }, body })));
    expect(await settingsOf(owner, accountId)).toMatchObject({
      branding: { name: 'Café', accentColor: '#1d4ed8', supportUrl: 'https://shop.example/' },
      wallets: { base: BASE, solana: SOLANA },
      returnOrigins: ['https://shop.example'],
    });
    expect(await changesOf(accountId)).toHaveLength(bodies.length);
  });

  it('refuse wallets that cannot be paid, and change nothing then', async () => {
    const accountId = await newAccount();
    const owner = await ownerOf(accountId);
    const wallets = { base: SOLANA, solana: '11111111111111111111111111111111', tempo: BASE };
    const { status, code, error } = await owner.ask('updateSettings', {
      params: { accountId },
      body: { branding: { name: 'Café' }, wallets },
    });
    expect([status, code, error?.param]).toEqual([400, 'request.validation_failed', 'wallets.base']);
    expect(error?.message).toMatch(/^wallets\.base must be an EVM address.*received "9xQe/);
    expect(error?.details?.['issues']).toMatchObject([{ param: 'wallets.base' }, { param: 'wallets.solana' }]);
    expect(await settingsOf(owner, accountId)).toEqual(NOTHING);
    expect(await changesOf(accountId)).toEqual([]);
  });

  it('are in the audit log with what was changed, as it was and as it is, without the bytes of an image', async () => {
    const accountId = await newAccount();
    const owner = await ownerOf(accountId);
    const change = (body: object) => owner.ask('updateSettings', { params: { accountId }, body });
    await change({ branding: { name: 'Café', logo: LOGO }, wallets: { base: BASE } });
    // Nothing changes.
    await change({ branding: { name: 'Café' }, wallets: { base: BASE.toLowerCase() }, returnOrigins: [] });
    await change({});
    await change({ wallets: { base: null }, returnOrigins: ['https://shop.example'] });
    expect(await changesOf(accountId)).toEqual([
      {
        before: { 'wallets.base': BASE, returnOrigins: [] },
        after: { 'wallets.base': null, returnOrigins: ['https://shop.example'] },
      },
      {
        before: { name: null, logo: null, 'wallets.base': null },
        after: { name: 'Café', logo: expect.stringMatching(/^an image, \d+ characters$/), 'wallets.base': BASE },
      },
    ]);
  });
});
