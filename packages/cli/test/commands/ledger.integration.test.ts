import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient, apiClient, type Cluster, roleUrls, startCluster, until } from '@pf/testing';
import { z } from 'zod';
import { PARTITIONS, type Pf, pfOn } from '../pf-on.ts';

const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
const proof = z.object({
  partitions: z.array(
    z.object({
      partition: z.number(),
      events: z.number(),
      behind: z.number().nullable(),
      problems: z.array(z.string()),
      projection: z.array(z.string()).nullable(),
      head: z.string(),
    }),
  ),
});
const created = z.object({ intent: z.object({ id: z.string() }) });

describe('pf ledger', () => {
  let cluster: Cluster;
  let api: ApiClient;
  let folder: string;
  let pf: Pf['run'];
  let closePf: Pf['close'];
  const ids: string[] = [];
  let before: string;

  beforeAll(async () => {
    cluster = await startCluster();
    folder = await mkdtemp(path.join(tmpdir(), 'pf-ledger-'));
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('archive')]);
    api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    ({ run: pf, close: closePf } = await pfOn(cluster));
    for (let n = 0; n < 3; n++) {
      const { body } = await until('an intent', async () => {
        const response = await api.create(good);
        return response.status === 201 && response;
      });
      ids.push(created.parse(body).intent.id);
    }
    before = new Date().toISOString();
    await until('a cancel after that moment', async () => (await api.cancel(ids[0] ?? '')).status === 200);
    // The intents are in partitions of their own, which are archived one after the other.
    await until('the archive to have all four events', async () => {
      const { answer } = await pf('ledger', 'query', 'SELECT count(*)::INTEGER AS n FROM events');
      return JSON.stringify(answer) === '[{"n":4}]';
    });
  });
  afterAll(async () => {
    await closePf();
    await cluster.close();
    await rm(folder, { recursive: true });
  });

  it('runs queries, and says what is wrong with one', async () => {
    const { answer } = await pf('ledger', 'query', 'SELECT intent_id, state, amount FROM intents ORDER BY created_at');
    expect(answer).toEqual(
      ids.map((id, n) => ({ intent_id: id, state: n === 0 ? 'cancelled' : 'created', amount: '12.5' })),
    );
    expect((await pf('ledger', 'query', 'SELEC 1')).errors).toContain('syntax error at or near');
  });

  it('shows an intent as it was at a moment', async () => {
    const [id = ''] = ids;
    const then = await pf('ledger', 'as-of', before, '--intent', id);
    expect(then.answer).toMatchObject([{ version: 1, intent: { id, state: 'created' } }]);
    const now = await pf('ledger', 'as-of', new Date().toISOString(), '--intent', id);
    expect(now.answer).toMatchObject([{ version: 2, intent: { id, state: 'cancelled' } }]);
    expect((await pf('ledger', 'as-of', '2020-01-01', '--intent', id)).errors).toContain('has no event of');
    expect((await pf('ledger', 'as-of', 'yesterday')).errors).toContain('2026-11-23T12:00:00Z');
  });

  it('exports the events of a period', async () => {
    const file = path.join(folder, 'events.ndjson');
    const all = await pf('ledger', 'export', '--output', file, '--format', 'ndjson');
    expect(all.answer).toEqual({ file, events: 4 });
    expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(4);
    const late = await pf('ledger', 'export', '--output', file, '--format', 'csv', '--from', before);
    expect(late.answer).toEqual({ file, events: 1 });
  });

  it('verifies the archive, with the log and without it', async () => {
    const whole = proof.parse((await pf('ledger', 'verify')).answer).partitions;
    expect(whole.reduce((sum, { events }) => sum + events, 0)).toBe(4);
    for (const partition of whole) expect(partition).toMatchObject({ behind: 0, problems: [], projection: [] });
    const alone = proof.parse((await pf('ledger', 'verify', '--no-log')).answer).partitions;
    expect(whole).toHaveLength(PARTITIONS);
    // Without the log a partition that has no events is not known.
    const filled = whole.filter(({ events }) => events > 0);
    expect(alone).toEqual(filled.map((partition) => ({ ...partition, behind: null, projection: null })));
    const other = await pf('ledger', 'verify', '--no-log', '--key', Buffer.alloc(32, 1).toString('base64'));
    expect(other.errors).toContain('The check failed for partition');
  });

  it('verifies the rest where its role may not read the rows of intents', async () => {
    const { run, close } = await pfOn(cluster, { DATABASE_URL: roleUrls(cluster.databaseUrl).pf_archive });
    const { answer, code } = await run('ledger', 'verify');
    await close();
    expect(code).toBe(0);
    for (const partition of proof.parse(answer).partitions)
      expect(partition).toMatchObject({ behind: 0, problems: [], projection: null });
  });

  it('proves the archive, the log and the rows of intents while clients create', async () => {
    let [created, isOver] = [0, false];
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver) if ((await api.create(good)).status === 201) created += 1;
    });
    try {
      for (let run = 1; run <= 3; run++) {
        const before = created;
        await until('more intents', () => created > before + 20);
        const { answer, code } = await pf('ledger', 'verify');
        const { partitions } = proof.parse(answer);
        expect(partitions.flatMap(({ problems, projection }) => [...problems, ...(projection ?? ['none'])])).toEqual(
          [],
        );
        expect(code).toBe(0);
      }
    } finally {
      isOver = true;
      await Promise.all(clients);
    }
  });

  it('names the rows of intents that are not what the log makes of them', async () => {
    const { sql } = cluster.database;
    const [id = ''] = ids;
    await sql.query(`UPDATE ledger.intents SET status = 'finalized' WHERE id = $1`, [id]);
    const { answer, errors } = await pf('ledger', 'verify');
    await sql.query(`UPDATE ledger.intents SET status = 'cancelled' WHERE id = $1`, [id]);
    expect(errors).toContain('The check failed for partition');
    const { partitions } = proof.parse(answer);
    expect(partitions.flatMap(({ problems }) => problems)).toEqual([]);
    expect(partitions.flatMap(({ projection }) => projection ?? [])).toEqual([
      expect.stringMatching(/^Partition \d: 1 intents differ from the log/),
    ]);
  });

  it('fails where a head that was noted is not on the chain', async () => {
    const file = path.join(folder, 'heads.json');
    const { answer } = await pf('ledger', 'verify', '--no-log');
    await writeFile(file, JSON.stringify(answer));
    expect((await pf('ledger', 'verify', '--heads', file)).code).toBe(0);
    const [noted] = proof.parse(answer).partitions;
    const other = { ...noted, events: 99, head: 'ab'.repeat(32) };
    // As the service logs it, and of a partition whose files are all gone.
    await writeFile(file, `{"level":"info"}\n${JSON.stringify(other)}\n${JSON.stringify({ ...other, partition: 77 })}`);
    const cut = await pf('ledger', 'verify', '--no-log', '--heads', file);
    expect(cut.errors).toMatch(/The check failed for partition \d+, 77\./);
    expect(JSON.stringify(cut.answer)).toContain(
      'the first 99 events are not those of the noted head abababababababab…',
    );
    await writeFile(file, '{}');
    expect((await pf('ledger', 'verify', '--heads', file)).errors).toContain('heads.json has no heads');
    expect((await pf('ledger', 'verify', '--heads', `${file}s`)).errors).toContain('cannot be read');
  });

  it('names a file of deliveries that was changed', async () => {
    const day = path.join(cluster.archive, 'deliveries', 'day=2026-11-25');
    const file = path.join(day, `3-${'0'.repeat(64)}.parquet`);
    await mkdir(day, { recursive: true });
    await writeFile(file, 'changed');
    const changed = await pf('ledger', 'verify', '--no-log');
    expect(changed.errors).toContain('Files of ended deliveries were changed');
    expect(changed.answer).toMatchObject({
      deliveries: { files: 1, rows: 3, problems: [expect.stringMatching(/3-0+\.parquet does not have the bytes/)] },
    });
    await rm(file);
    expect((await pf('ledger', 'verify', '--no-log')).answer).toMatchObject({ deliveries: { files: 0, problems: [] } });
  });
});
