import { randomBytes } from 'node:crypto';
import { trustedClock } from '@pf/clock';
import { parseEvent } from '@pf/contracts';
import { EventSealer, type LogSource, rebuildProjection, requestOldErasures, verifyProjection } from '@pf/database';
import type { IntentId, PublicIntent } from '@pf/domain';
import { gateway } from '@pf/domain/testing';
import type { LogReader } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { type Cluster, startCluster, until } from '@pf/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createErasures } from '../src/erasures.ts';
import { create, of } from './messages.ts';
import { CommandClient, type RunningWriter, startWriter } from './running-writer.ts';

const PARTITION = 2;
const SECRETS_KEY = randomBytes(32);
const CANARY = 'canary-of-a-person';
const DAY_MS = 24 * 60 * 60 * 1000;
const METADATA = { name: CANARY, order: '7' };

let cluster: Cluster;
let running: RunningWriter;
let client: CommandClient;
let reader: LogReader;

beforeAll(async () => {
  cluster = await startCluster();
  [client, reader] = [await CommandClient.open(cluster.log, cluster.database), await cluster.log.reader('erasure')];
  running = await startWriter(cluster, { secretsKey: SECRETS_KEY });
});
afterAll(async () => {
  await running.stop();
  await Promise.all([client.close(), reader.close()]);
  await cluster.close();
});

const source: LogSource = {
  end: () => reader.endOffset('intent.events', PARTITION),
  read: (from, end) => reader.read('intent.events', PARTITION, from, end),
};
const differing = async () => (await verifyProjection(cluster.database, PARTITION, source, SECRETS_KEY)).differing;
const logOf = async (id: IntentId): Promise<readonly string[]> => {
  const values: string[] = [];
  for await (const { records } of source.read(0n, await source.end()))
    for (const { value } of records) if (value?.includes(id)) values.push(value);
  return values;
};
const made = async (change: Parameters<typeof create>[0] = { metadata: METADATA, idempotencyKey: CANARY }) => {
  const { intent } = await client.execute(create(change, { partition: PARTITION }));
  if (!intent) throw new Error('nothing was created');
  return intent;
};
const sql = <Row extends object>(text: string, ...values: readonly unknown[]) =>
  cluster.database.sql.query<Row>(text, [...values]);
/** Everything that Postgres has of an intent, as text. */
const stored = async (id: IntentId): Promise<string> => {
  const { rows } = await sql<{ all: string }>(
    `SELECT (SELECT i::text FROM ledger.intents i WHERE id = $1) ||
            (SELECT string_agg(e::text, ' ') FROM ledger.intent_events e WHERE intent_id = $1) AS all`,
    id,
  );
  return rows[0]?.all ?? '';
};
const keysOf = async (id: IntentId) =>
  (
    await sql<{ version: number }>('SELECT version FROM service.intent_keys WHERE intent_id = $1 ORDER BY version', id)
  ).rows.map(({ version }) => version);
const erase = async (id: IntentId): Promise<void> => {
  await sql('INSERT INTO service.erasures (intent_id, partition) VALUES ($1, $2)', id, PARTITION);
  await until(
    'the erasure',
    async () => (await sql('SELECT FROM service.erasures WHERE intent_id = $1', id)).rowCount === 0,
  );
};
const updated = async ({ id, updatedAt }: Pick<PublicIntent, 'id' | 'updatedAt'>, metadata: Record<string, string>) =>
  (await client.execute(of(id, gateway.update({ updatedAt: Date.parse(updatedAt), metadata })))).intent;

describe('A sealed event', () => {
  it('shows no personal data in the log, and all of it in the projection and in replies', async () => {
    const intent = await made();
    expect(intent).toMatchObject({ metadata: METADATA, idempotencyKey: CANARY });
    const later = await updated(intent, { more: CANARY });
    await client.execute(of(intent.id, gateway.detect()));
    const log = await logOf(intent.id);
    expect(log).toHaveLength(3);
    expect(log.join()).not.toContain(CANARY);
    expect(log.map(parseEvent)).toMatchObject([
      { schemaVersion: 2, data: { metadata: {}, idempotencyKey: null }, intent: { metadata: {} } },
      { schemaVersion: 2, data: { metadata: {} } },
      { schemaVersion: 2, sealed: { data: null, recovery: null } },
    ]);
    expect(later?.metadata).toEqual({ ...METADATA, more: CANARY });
    expect((await stored(intent.id)).split(CANARY).length).toBeGreaterThan(5);
    expect(await keysOf(intent.id)).toEqual([1, 2]);
    expect(await differing()).toEqual([]);
  });

  it('is written as before for an intent without personal data', async () => {
    const { id } = await made({});
    await client.execute(of(id, gateway.detect()));
    for (const line of await logOf(id)) {
      expect(parseEvent(line).schemaVersion).toBe(1);
      expect(line).not.toContain('sealed');
    }
    expect(await keysOf(id)).toEqual([]);
  });

  it('keeps an idempotency key, so that a repeated create makes no second intent', async () => {
    const idempotencyKey = `${CANARY} again`;
    const { id } = await made({ idempotencyKey });
    expect(await made({ idempotencyKey })).toMatchObject({ id });
  });
});

describe('A writer that finds sealed events which are not projected', () => {
  beforeEach(async () => {
    await running.stop();
  });

  it('gets their keys from the events and stores them', async () => {
    running = await startWriter(cluster, { secretsKey: SECRETS_KEY });
    const intent = await made({ metadata: METADATA });
    await updated(intent, { more: CANARY });
    const before = await stored(intent.id);
    await running.stop();
    await sql('TRUNCATE ledger.intents, ledger.intent_events, ledger.checkpoints');
    await sql('DELETE FROM service.intent_keys WHERE intent_id = $1', intent.id);
    running = await startWriter(cluster, { secretsKey: SECRETS_KEY });
    expect(await stored(intent.id)).toBe(before);
    expect(await keysOf(intent.id)).toEqual([1, 2]);
    expect(await differing()).toEqual([]);
  });

  it('continues when a key is nowhere: the event then shows no personal data', async () => {
    running = await startWriter(cluster, { secretsKey: SECRETS_KEY });
    const intent = await made({ metadata: METADATA, idempotencyKey: `${CANARY} lost` });
    await running.stop();
    await sql('TRUNCATE ledger.intents, ledger.intent_events, ledger.checkpoints');
    await sql('DELETE FROM service.intent_keys WHERE intent_id = $1', intent.id);
    await sql('DELETE FROM service.recovery_keys');
    running = await startWriter(cluster, { secretsKey: SECRETS_KEY });
    expect(await stored(intent.id)).not.toContain(CANARY);
    const { intent: seen } = await client.execute(of(intent.id, gateway.detect()));
    expect(seen).toMatchObject({ id: intent.id, metadata: {} });
    expect(await differing()).toEqual([]);
  });
});

describe('An erased intent', () => {
  it('has no personal data in Postgres, and no key that reads it in the log', async () => {
    const intent = await made({ metadata: METADATA, idempotencyKey: `${CANARY} erased` });
    await updated(intent, { more: CANARY });
    await client.execute(of(intent.id, gateway.detect()));
    await erase(intent.id);
    expect(await stored(intent.id)).not.toContain(CANARY);
    expect(await keysOf(intent.id)).toEqual([]);
    const log = await logOf(intent.id);
    expect(parseEvent(log.at(-1) ?? '')).toMatchObject({ type: 'personal_data_erased', schemaVersion: 1 });
    const { intent: seen } = await client.execute(of(intent.id, gateway.cancel()));
    expect(seen).toMatchObject({ state: 'cancelled', metadata: {}, erasedAt: expect.any(String) as unknown });
    expect(seen?.idempotencyKey).toBeUndefined();
    expect(await differing()).toEqual([]);
  });

  it('is the same after a rebuild, with and without the recovery keys of its day', async () => {
    const intent = await made({ metadata: METADATA, idempotencyKey: `${CANARY} rebuilt` });
    await updated(intent, { more: CANARY });
    await erase(intent.id);
    const before = await stored(intent.id);
    for (const forget of ['SELECT', 'DELETE FROM service.recovery_keys']) {
      await sql(forget);
      const report = await rebuildProjection(cluster.database, PARTITION, source, { keyring: SECRETS_KEY });
      expect(report.differing).toEqual([]);
      expect(await stored(intent.id)).toBe(before);
      expect(await keysOf(intent.id)).toEqual([]);
    }
    await new EventSealer(cluster.database, SECRETS_KEY).renew(Date.now());
  });

  it('is erased again from a restored backup, by its event in the log', async () => {
    const intent = await made({ metadata: METADATA });
    const { rows: backup } = await sql('SELECT * FROM service.intent_keys WHERE intent_id = $1', intent.id);
    await erase(intent.id);
    await sql(
      'INSERT INTO service.intent_keys SELECT * FROM jsonb_populate_recordset(NULL::service.intent_keys, $1)',
      JSON.stringify(
        backup.map((row) => ({
          ...row,
          ciphertext: `\\x${(row as { ciphertext: Buffer }).ciphertext.toString('hex')}`,
        })),
      ),
    );
    expect(await keysOf(intent.id)).toEqual([1]);
    expect(await differing()).toEqual([]);
    await rebuildProjection(cluster.database, PARTITION, source, { keyring: SECRETS_KEY });
    expect(await keysOf(intent.id)).toEqual([]);
    expect(await stored(intent.id)).not.toContain(CANARY);
  });

  it('cannot get new metadata, and is erased once', async () => {
    const intent = await made({ metadata: METADATA });
    await erase(intent.id);
    await erase(intent.id);
    const log = await logOf(intent.id);
    expect(log).toHaveLength(2);
    const { updatedAt } = parseEvent(log.at(-1) ?? '').intent;
    const command = of(intent.id, gateway.update({ updatedAt: Date.parse(updatedAt), metadata: { name: CANARY } }));
    expect((await client.execute(command)).outcome).toMatchObject({
      kind: 'refused',
      refusal: { code: 'intent.invalid_state' },
    });
  });

  it('can have reached any age', async () => {
    const old = await made({ metadata: METADATA });
    const recent = await made({ metadata: METADATA });
    await sql(`UPDATE service.intent_keys SET at = at - interval '40 days' WHERE intent_id = $1`, old.id);
    const before = new Date(Date.now() - 30 * 86_400_000);
    expect(await requestOldErasures(cluster.database, before, 10)).toBe(1);
    await until('the erasure', async () => (await keysOf(old.id)).length === 0);
    expect(await keysOf(recent.id)).toEqual([1]);
    expect(await requestOldErasures(cluster.database, before, 10)).toBe(0);
  });

  it('is erased by PRIVACY_RETENTION_DAYS, without a request', async () => {
    const intent = await made({ metadata: METADATA });
    const in31Days = Date.now() + 31 * DAY_MS;
    const run = async (retentionDays: number | null, ...clocks: readonly number[]): Promise<void> => {
      for (const now of clocks) {
        const erasures = createErasures({
          database: cluster.database,
          owner: running.owner,
          erase: (partition, ids) => running.writer.erase(partition, ids),
          retentionDays,
          clock: trustedClock(() => now),
          log: createLogger('intent', 'silent'),
        });
        erasures.start();
        await erasures.stop();
      }
    };
    await run(30, Date.now(), Date.now() + 29 * DAY_MS);
    await run(null, in31Days);
    expect(await keysOf(intent.id)).toEqual([1]);
    await run(30, in31Days);
    expect(await keysOf(intent.id)).toEqual([]);
    expect(await stored(intent.id)).not.toContain(CANARY);
    expect(parseEvent((await logOf(intent.id)).at(-1) ?? '')).toMatchObject({ type: 'personal_data_erased' });
    expect(await differing()).toEqual([]);
  });
});
