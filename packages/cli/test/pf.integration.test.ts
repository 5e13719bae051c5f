import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findKeyHolder, hashApiKey } from '@pf/database';
import { ENDPOINTS_MAX } from '@pf/contracts';
import { type Cluster, startCluster } from '@pf/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { runPf } from '../src/index.ts';

const opened = z.strictObject({
  id: z.string().startsWith('acct_'),
  apiKeys: z.strictObject({
    test: z.string().regex(/^pk_test_[A-Za-z0-9]{32}$/),
    live: z.string().regex(/^pk_live_[A-Za-z0-9]{32}$/),
  }),
  webhookSecrets: z.strictObject({ test: z.string().startsWith('whsec_'), live: z.string().startsWith('whsec_') }),
});
const secret = z.looseObject({ mode: z.string(), secret: z.string().startsWith('whsec_') });

describe('pf', () => {
  let cluster: Cluster;
  let data: string;
  beforeAll(async () => {
    cluster = await startCluster();
    data = await mkdtemp(path.join(tmpdir(), 'pf-'));
    await writeFile(
      path.join(data, 'stack.json'),
      JSON.stringify({ database: cluster.databaseUrl, accountId: cluster.accountId, more: true }),
    );
    await writeFile(path.join(data, 'secrets-key'), `${cluster.secretsKey.toString('base64')}\n`);
  });
  afterAll(async () => {
    await rm(data, { recursive: true });
    await cluster.close();
  });

  /** What it answers; fails where it fails. */
  const pf = async (...args: string[]): Promise<string> => {
    let out = '';
    let errors = '';
    const code = await runPf(args, {
      environment: { PF_DATA: data },
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
    });
    if (code !== 0) throw new Error(errors);
    expect(errors).toBe('');
    return out;
  };
  const json = async (...args: string[]): Promise<unknown> => JSON.parse(await pf(...args, '--json'));

  it('accounts create makes an account whose keys and secrets work', async () => {
    const account = opened.parse(await json('accounts', 'create', 'Coffee bar'));
    expect(await findKeyHolder(cluster.database, hashApiKey(account.apiKeys.live))).toMatchObject({
      accountId: account.id,
      livemode: true,
      scope: 'full',
      plan: 'free',
    });
    expect(secret.parse(await json('webhooks', 'secret', '--account', account.id, '--mode', 'live')).secret).toBe(
      account.webhookSecrets.live,
    );
    expect(await json('accounts', 'plan', account.id, 'growth')).toMatchObject({ id: account.id, plan: 'growth' });
    expect(await json('accounts', 'list')).toMatchObject({
      accounts: expect.arrayContaining([
        expect.objectContaining({ id: account.id, name: 'Coffee bar', plan: 'growth' }),
      ]) as unknown,
    });
  });

  it('uses the seeded account unless --account names another', async () => {
    const made = z
      .looseObject({ id: z.string(), key: z.string(), accountId: z.string() })
      .parse(await json('keys', 'create', '--scope', 'payer'));
    expect(made).toMatchObject({ accountId: cluster.accountId, mode: 'test', scope: 'payer' });
    expect(await findKeyHolder(cluster.database, hashApiKey(made.key))).toMatchObject({
      scope: 'payer',
      livemode: false,
    });
    expect(await json('keys', 'revoke', made.id)).toMatchObject({
      id: made.id,
      revokedAt: expect.any(String) as unknown,
    });
    expect(await findKeyHolder(cluster.database, hashApiKey(made.key))).toBeNull();
    const list = await pf('keys', 'list');
    expect(list).toContain(made.id);
    expect(list).not.toContain(made.key);
    await expect(pf('keys', 'revoke', 'key_none')).rejects.toThrow('`pf keys list`');
    await expect(pf('keys', 'list', '--account', 'acct_none')).rejects.toThrow('Account acct_none does not exist');
  });

  it('webhooks adds, lists and removes endpoints by mode', async () => {
    const url = 'https://shop.example/webhooks?token=1';
    expect(await json('webhooks', 'add', url)).toMatchObject({
      url,
      mode: 'test',
      accountId: cluster.accountId,
      disabledAt: null,
    });
    expect(await json('webhooks', 'list')).toMatchObject({ endpoints: [{ url }] });
    expect(await json('webhooks', 'list', '--mode', 'live')).toEqual({ endpoints: [] });
    expect(await pf('webhooks', 'list')).toContain('active');
    await expect(pf('webhooks', 'remove', url, '--mode', 'live')).rejects.toThrow('No live events go to');
    expect(await json('webhooks', 'remove', url)).toMatchObject({ url, removed: true });
    expect(await pf('webhooks', 'list')).toContain('removed');
  });

  it('webhooks adds no more endpoints than the API does', async () => {
    const add = (n: number) => pf('webhooks', 'add', `https://shop.example/${n}`);
    for (let n = 0; n < ENDPOINTS_MAX; n++) await add(n);
    await expect(add(ENDPOINTS_MAX)).rejects.toThrow(`has ${ENDPOINTS_MAX} webhook endpoints in test mode`);
    expect(await add(0)).toContain('https://shop.example/0');
    for (let n = 0; n < ENDPOINTS_MAX; n++) await pf('webhooks', 'remove', `https://shop.example/${n}`);
  });

  it.each([
    ['of another protocol', 'ftp://shop.example'],
    ['without a protocol', 'shop.example'],
    ['with a user and password', 'https://user:pw@shop.example'],
    ['with a fragment', 'https://shop.example/#a'],
    ['of more than 2,048 characters', `https://shop.example/${'a'.repeat(2_048)}`],
  ])('does not take a URL %s', async (_what, url) => {
    await expect(pf('webhooks', 'add', url)).rejects.toThrow(/URL/);
  });

  it('webhooks rotate-secret takes effect now or at a later time', async () => {
    const before = secret.parse(await json('webhooks', 'secret')).secret;
    const later = secret.parse(
      await json('webhooks', 'rotate-secret', '--at', new Date(Date.now() + 3_600_000).toISOString()),
    ).secret;
    expect(secret.parse(await json('webhooks', 'secret')).secret).toBe(before);
    expect(await pf('webhooks', 'secret')).toContain(later);
    const now = secret.parse(await json('webhooks', 'rotate-secret')).secret;
    expect(secret.parse(await json('webhooks', 'secret')).secret).toBe(now);
    await expect(pf('webhooks', 'rotate-secret', '--at', '2020-01-01T00:00:00Z')).rejects.toThrow('in the past');
    await expect(pf('webhooks', 'rotate-secret', '--at', 'tomorrow')).rejects.toThrow('is not an ISO 8601 time');
  });

  it('secrets rotate encrypts all webhook secrets with the first key, and says what no key can read', async () => {
    const [old, next] = [cluster.secretsKey.toString('base64'), randomBytes(32).toString('base64')];
    const give = (...keys: string[]) => writeFile(path.join(data, 'secrets-key'), keys.join(','));
    const before = secret.parse(await json('webhooks', 'secret')).secret;
    const count = await cluster.database.prisma.webhookSecret.count();
    await give(next);
    await expect(pf('secrets', 'rotate')).rejects.toThrow(
      `0 secrets were encrypted with the first key. No key of SECRETS_KEY can read ${count} others: whs_`,
    );
    await give(next, old);
    expect(await json('secrets', 'rotate')).toEqual({ rotated: count });
    expect(await pf('secrets', 'rotate')).toBe(
      '0 secrets were encrypted with the first key.\nServices need only the first key of SECRETS_KEY now.\n',
    );
    await give(next);
    expect(secret.parse(await json('webhooks', 'secret')).secret).toBe(before);
    await give(old);
    await expect(pf('webhooks', 'secret')).rejects.toThrow('SECRETS_KEY is not the one it was encrypted with');
  });
});
