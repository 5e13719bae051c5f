import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { intentResponse } from '@pf/contracts';
import { createKey } from '@pf/database';
import { type Cluster, startCluster } from '@pf/testing';
import { z } from 'zod';
import { runPf } from '../../src/index.ts';

const REQUESTOR = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const listed = z.strictObject({
  intents: z.array(z.looseObject({ id: z.string() })),
  nextCursor: z.string().nullable(),
});
const failed = z.strictObject({ error: z.looseObject({ message: z.string() }) });

describe('pf intents', () => {
  let cluster: Cluster;
  let data: string;
  let stack: Record<string, unknown>;
  const write = (content: object): Promise<void> => writeFile(path.join(data, 'stack.json'), JSON.stringify(content));

  beforeAll(async () => {
    cluster = await startCluster();
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent')]);
    data = await mkdtemp(path.join(tmpdir(), 'pf-'));
    stack = {
      database: cluster.databaseUrl,
      accountId: cluster.accountId,
      baseUrl: `${gateway.url}/v1`,
      apiKeys: cluster.apiKeys,
    };
    await write(stack);
  });
  afterAll(async () => {
    await rm(data, { recursive: true });
    await cluster.close();
  });

  async function run(
    args: readonly string[],
    environment: NodeJS.ProcessEnv = {},
  ): Promise<{ code: number; out: string; errors: string }> {
    let out = '';
    let errors = '';
    const code = await runPf(['intents', ...args], {
      environment: { PF_DATA: data, ...environment },
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
    });
    return { code, out, errors };
  }
  /** What it answers; fails where it fails. */
  async function pf(...args: string[]): Promise<string> {
    const { code, out, errors } = await run(args);
    expect([code, errors]).toEqual([0, '']);
    return out;
  }
  const intent = async (...args: string[]) => intentResponse.parse(JSON.parse(await pf(...args, '--json'))).intent;
  const create = (...more: string[]) => intent('create', '--amount', '12.50', '--requestor', REQUESTOR, ...more);

  it('create passes every field of the API', async () => {
    const all = [
      ...['--chain', 'base', '--token', 'eurc', '--direction', 'send', '--ttl', '600'],
      ...['--fulfiller', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
      ...['--metadata', 'order=A=1', '--metadata', 'table=7', '--idempotency-key', 'k-1'],
    ];
    const made = await create(...all);
    expect(made).toMatchObject({
      chain: 'eip155:84532',
      token: 'EURC',
      direction: 'send',
      ttlSeconds: 600,
      metadata: { order: 'A=1', table: '7' },
      idempotencyKey: 'k-1',
    });
    expect((await create(...all)).id).toBe(made.id);
    expect((await create('--mode', 'live')).livemode).toBe(true);
  });

  it('create takes whether more than the amount pays, and get says what has arrived', async () => {
    const { id, accept } = await create('--accept', 'at_least');
    expect(accept).toBe('at_least');
    expect(await pf('get', id)).toMatch(/amount +12.50 USDC on eip155:84532, or more\n/);
    expect(await pf('simulate', id, 'confirmed')).toMatch(/received +12.5 USDC\n/);
    expect(await create('--accept', 'exact')).not.toHaveProperty('accept');
  });

  it('create says what a key was used for, where something else is asked for', async () => {
    const one = ['create', '--amount', '3', '--requestor', REQUESTOR, '--idempotency-key', 'k-2'];
    await pf(...one);
    const { code, errors } = await run([...one, '--token', 'eurc']);
    expect([code, errors]).toEqual([1, expect.stringContaining('token: USDC, not EURC')]);
  });

  it('get prints the intent and the next steps', async () => {
    const text = await pf('create', '--amount', '3', '--requestor', REQUESTOR, '--metadata', 'order=7');
    const [, id = ''] = /(pi_\w+) \(test\)/.exec(text) ?? [];
    expect(text).toMatch(/amount +3 USDC on eip155:84532\n/);
    expect(text).toMatch(/metadata order +7\n/);
    expect(text).toContain(`pf intents simulate ${id} confirmed`);
    expect(await pf('get', id)).toMatch(/state +created\n/);
  });

  it('watch follows an intent until it is confirmed', async () => {
    const { id } = await create();
    await pf('simulate', id, 'confirmed');
    expect(await pf('follow', id)).toMatch(/^\d\d:\d\d:\d\d {2}snapshot +confirmed {2}0x[0-9a-f]{64}\n$/);
    expect(JSON.parse(await pf('follow', id, '--json'))).toMatchObject({
      type: 'snapshot',
      intent: { id, state: 'confirmed' },
    });
  });

  it('simulate and refund walk an intent to its refund', async () => {
    const { id } = await create();
    expect(await pf('simulate', id, 'confirmed')).toMatch(/state +confirmed\n/);
    const refund = await intent('refund', id);
    expect(refund).toMatchObject({ refundOf: id, direction: 'send' });
    expect(await pf('get', id)).toMatch(new RegExp(`refunded by +${refund.id}`));
    expect((await intent('cancel', refund.id)).state).toBe('cancelled');
  });

  it('list filters intents, page by page', async () => {
    const ids: string[] = [];
    for (const n of ['1', '2', '3']) ids.unshift((await create('--metadata', 'list=yes', '--metadata', `n=${n}`)).id);
    const first = listed.parse(JSON.parse(await pf('list', '--metadata', 'list=yes', '--limit', '2', '--json')));
    const second = listed.parse(
      JSON.parse(await pf('list', '--metadata', 'list=yes', '--cursor', String(first.nextCursor), '--json')),
    );
    expect([...first.intents, ...second.intents].map(({ id }) => id)).toEqual(ids);
    expect(second.nextCursor).toBeNull();
    const text = await pf(
      'list',
      '--state',
      'created',
      'pending',
      '--chain',
      'base',
      '--requestor',
      REQUESTOR,
      '--after',
      '2026-01-01T00:00:00Z',
      '--limit',
      '1',
    );
    expect(text).toContain(ids[0]);
    expect(text).toMatch(/For the next page add --cursor \S+/);
    expect(await pf('list', '--tx', `0x${'1'.repeat(64)}`)).toBe('No test intents match.\n');
  });

  it('list says up to when intents were created that it lacks, for they are archived', async () => {
    const { createdAt } = await create('--metadata', 'list=end');
    const { rows } = await cluster.database.sql.query<{ id: string }>(
      `INSERT INTO ledger.cold_intents (id, partition, version, account_id, livemode, created_at, digest, bundle,
                                        first_byte, bytes, key)
       VALUES ('pi_left', 0, 4, $1, false, $2, '', 'cold/1', 0, 1, '') RETURNING id`,
      [cluster.accountId, createdAt],
    );
    try {
      const filter = ['list', '--metadata', 'list=end'];
      expect(JSON.parse(await pf(...filter, '--json'))).toMatchObject({ nextCursor: null, endsAt: createdAt });
      const says = `Archived intents are not listed: of those created up to ${createdAt} some are missing.`;
      expect(await pf(...filter)).toContain(`\n\n${says}`);
      expect(await pf('list', '--metadata', 'list=nowhere')).toBe(`No test intents match.\n${says}\n`);
    } finally {
      await cluster.database.sql.query('DELETE FROM ledger.cold_intents WHERE id = $1', [rows[0]?.id]);
    }
  });

  it('prints an API error with its remedy, and its code as JSON', async () => {
    const { id } = await create();
    const refused = await run(['refund', id]);
    expect([refused.code, refused.errors]).toEqual([
      1,
      expect.stringMatching(/created, so it cannot be refunded\.\nFetch the intent/),
    ]);
    expect(failed.parse(JSON.parse((await run(['refund', id, '--json'])).errors)).error).toMatchObject({
      code: 'intent.invalid_state',
      status: 409,
      details: { current_state: 'created' },
    });
    expect((await run(['get', id, '--mode', 'live'])).errors).toContain('--mode test');
    expect((await run(['simulate', id, 'confirmed', '--mode', 'live'])).errors).toContain('Use a test key');
    expect((await run(['create', '--amount', 'x', '--requestor', 'y'])).errors).toContain(
      'amount must be a decimal string',
    );
  });

  it('names the invalid argument', async () => {
    for (const [args, says] of [
      [['create', '--amount', '1'], /--requestor/],
      [['create', '--amount', '1', '--requestor', REQUESTOR, '--metadata', 'order'], /key=value/],
      [['create', '--amount', '1', '--requestor', REQUESTOR, '--ttl', 'soon'], /whole number/],
      [['simulate', 'pi_x', 'paid'], /Allowed choices are created/],
      [['list', '--state', 'paid'], /Allowed choices are created/],
    ] as const) {
      const { code, errors } = await run(args);
      expect([code, errors]).toEqual([2, expect.stringMatching(says)]);
    }
  });

  it('uses the API URL and key of the environment, and names the one that is missing', async () => {
    const { key } = await createKey(cluster.database, { accountId: cluster.accountId, livemode: false });
    const environment = { PF_BASE_URL: String(stack['baseUrl']), PF_API_KEY: key, PF_DATA: path.join(data, 'nowhere') };
    expect((await run(['list'], environment)).code).toBe(0);
    expect((await run(['list', '--mode', 'live'], environment)).errors).toMatch(/pk_live_/);
    expect((await run(['list'], { PF_DATA: path.join(data, 'nowhere') })).errors).toMatch(/npm start/);
    expect((await run(['list', '--account', 'acct_other'])).errors).toMatch(
      /pf keys create --mode test --account acct_other/,
    );
    expect((await run(['list'], { PF_BASE_URL: 'http://127.0.0.1:1/v1' })).errors).toMatch(
      /does not respond.*npm start/,
    );
  });
});
