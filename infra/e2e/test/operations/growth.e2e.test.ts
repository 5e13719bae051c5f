import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeIntent, encodeIntent } from '@pf/contracts';
import { type ApiClient, apiClient, type Cluster, startCluster, until } from '@pf/testing';

const DAY_MS = 86_400_000;
const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '1',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};

let cluster: Cluster;
let api: ApiClient;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  cluster = await startCluster();
  env = { ARCHIVE_URL: pathToFileURL(cluster.archive).href };
  const [gateway] = await Promise.all([
    cluster.start('gateway', { env }),
    cluster.start('archive'),
    cluster.start('webhook'),
  ]);
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
});
afterAll(() => cluster.close());

/** As if it had ended, and changed last, so many days before. */
async function age(id: string, days: number): Promise<void> {
  const { sql } = cluster.database;
  const { rows } = await sql.query<{ state: string }>('SELECT state FROM ledger.intents WHERE id = $1', [id]);
  const intent = decodeIntent(rows[0]?.state ?? '');
  const earlier = (at: number): number => at - days * DAY_MS;
  await sql.query(
    `UPDATE ledger.intents SET state = $2, closed_at = closed_at - make_interval(days => $3),
       updated_at = updated_at - make_interval(days => $3) WHERE id = $1`,
    [
      id,
      encodeIntent({ ...intent, updatedAt: earlier(intent.updatedAt), closedAt: earlier(intent.closedAt ?? 0) }),
      days,
    ],
  );
  await sql.query('UPDATE ledger.intent_events SET at = at - make_interval(days => $2) WHERE intent_id = $1', [
    id,
    days,
  ]);
}
const isCold = async (id: string): Promise<boolean> =>
  ((await cluster.database.sql.query('SELECT FROM ledger.cold_intents WHERE id = $1', [id])).rowCount ?? 0) > 0;

describe('An intent service with LEDGER_HOT_DAYS', () => {
  it('moves old intents out, and the gateway serves them; without ARCHIVE_URL it does not start again', async () => {
    const first = await cluster.start('intent', { env });
    const [old, young] = await Promise.all(
      Array.from({ length: 2 }, async () => {
        const { id } = (await api.create(good)).body.intent;
        await api.simulate(id, 'finalized');
        return id;
      }),
    );
    if (!old || !young) throw new Error('nothing was created');
    first.kill('SIGTERM');
    await first.exited;
    await age(old, 36);
    await age(young, 34);
    const before = (await api.get(old)).body;
    await cluster.start('intent', { env: { ...env, LEDGER_HOT_DAYS: '35' } });
    await until('the old intent to leave', () => isCold(old));
    expect(await isCold(young)).toBe(false);
    expect((await api.get(old)).body).toEqual(before);
    expect((await api.events(old)).body.events.map(({ type }) => type).slice(0, 1)).toEqual(['intent.created']);

    const without = await cluster.start('intent', { wait: false });
    expect(await without.exited).toMatchObject({ code: 78 });
  });
});
