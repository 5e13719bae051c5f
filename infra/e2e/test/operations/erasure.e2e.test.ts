import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { glob, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DuckDBInstance } from '@duckdb/node-api';
import { FolderStore } from '@pf/archive';
import { ColdBundles } from '@pf/archive/cold';
import { type LoggedEvent, readEvent } from '@pf/contracts';
import {
  addWebhookEndpoint,
  type Database,
  EventSealer,
  findOldIntents,
  leave,
  openDatabase,
  openEvents,
  RECOVERY_DAYS,
} from '@pf/database';
import type { ChainId, IntentId } from '@pf/domain';
import { openConnection, type RedisConnection } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  createTestDatabase,
  imageProgram,
  readBackingStack,
  stackFile,
  startCluster,
  type TestDatabase,
  until,
  webhookReceiver,
  type WebhookReceiver,
} from '@pf/testing';
import { z } from 'zod';

const run = promisify(execFile);
/** Nothing else writes it, so every place that has it has it from this test. */
const CANARY = `canary${Date.now().toString(36)}`;
const REDIS_DATABASE = 14;
const PARTITIONS = 6;
const INTENTS = 6;
const DAY_MS = 24 * 60 * 60 * 1000;
const TEST_MS = 300_000;
const TERMS = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
const checked = z.object({
  partitions: z.array(
    z.object({ events: z.number(), problems: z.array(z.string()), differing: z.array(z.string()).optional() }),
  ),
});

describe('personal data that was erased', () => {
  const stack = readBackingStack();
  const redisUrl = new URL(`/${REDIS_DATABASE}`, stack.redis).href;
  let cluster: Cluster;
  let receiver: WebhookReceiver;
  let redis: RedisConnection;
  let api: ApiClient;
  let ids: readonly IntentId[];
  /** Copies from before the erasure: sealed events of the log and the archive, and a restored dump of `service`. */
  let copied: readonly LoggedEvent[] = [];
  let restored: { readonly own: TestDatabase; readonly database: Database };
  beforeAll(async () => {
    cluster = await startCluster();
    await recycleWal('off');
    receiver = await webhookReceiver();
    redis = openConnection(redisUrl, { log: createLogger('test', 'silent'), withoutRedis: 'the test fails' });
    await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url: receiver.url });
    const own = await createTestDatabase(stack.database);
    restored = { own, database: openDatabase({ url: own.url, applicationName: 'test' }) };
    const ARCHIVE_URL = pathToFileURL(cluster.archive).href;
    const env = { SEAL_PERSONAL_DATA: 'true', REDIS_URL: redisUrl, LOG_LEVEL: 'debug', ARCHIVE_URL };
    const [gateway] = await Promise.all(
      (['gateway', 'intent', 'webhook', 'archive'] as const).map((service) => cluster.start(service, { env })),
    );
    api = apiClient(`${gateway?.url ?? ''}/v1`, cluster.apiKeys.test);
    ids = await Promise.all(Array.from({ length: INTENTS }, (_, index) => made(index)));
    const link = { amount: '1.00', offers: [{ ...TERMS, amount: undefined }], metadata: { name: `${CANARY} link` } };
    expect(await api.request('POST', '/payment-links', link)).toMatchObject({ status: 201 });
  }, TEST_MS);
  afterAll(async () => {
    await recycleWal(null);
    redis.disconnect();
    await receiver.close();
    await cluster.close();
    await restored.database.close();
    await restored.own.drop();
  });

  /** What a file of the WAL had is still in it when it is used again. @param value null: as before */
  async function recycleWal(value: 'off' | null): Promise<void> {
    await cluster.database.sql.query(
      value === null ? 'ALTER SYSTEM RESET wal_recycle' : `ALTER SYSTEM SET wal_recycle TO ${value}`,
    );
    await cluster.database.sql.query('SELECT pg_reload_conf()');
  }
  /** A transaction that is open may still see rows that were deleted since it began: VACUUM FULL copies these too. */
  async function transactionsOfBefore(): Promise<void> {
    const { rows } = await cluster.database.sql.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
    await until('transactions of before to end', async () => {
      const { rowCount } = await cluster.database.sql.query(
        'SELECT FROM pg_stat_activity WHERE datname = current_database() AND xact_start < $1::timestamptz',
        [rows[0]?.now],
      );
      return rowCount === 0;
    });
  }
  /** An intent that says something of a person in several events, and is told to a receiver. */
  async function made(index: number): Promise<IntentId> {
    const metadata = { name: `${CANARY} ${index}` };
    const { body } = await until('an intent', async () => {
      const response = await api.create({ ...TERMS, metadata, idempotencyKey: `${CANARY} key ${index}` });
      return response.status === 201 && response;
    });
    const { id, updatedAt } = body.intent;
    expect(await api.update(id, { updatedAt, metadata: { more: `${CANARY} more` } })).toMatchObject({ status: 200 });
    expect(await api.cancel(id)).toMatchObject({ status: 200 });
    await until('its webhooks', () => receiver.received.filter(({ body }) => body.data.intent.id === id).length === 2);
    return id;
  }
  const pf = (...args: readonly string[]): Promise<unknown> => pfWith(cluster.secretsKey.toString('base64'), ...args);
  const pfWith = async (secretsKey: string, ...args: readonly string[]): Promise<unknown> => {
    const { stdout } = await run(process.execPath, [imageProgram(), 'pf', ...args, '--json'], {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: cluster.databaseUrl,
        SECRETS_KEY: secretsKey,
        KAFKA_BROKERS: stack.kafka,
        KAFKA_PARTITIONS: String(PARTITIONS),
        KAFKA_PREFIX: cluster.prefix,
        ARCHIVE_URL: pathToFileURL(cluster.archive).href,
      },
      maxBuffer: 16 * 1024 * 1024,
    });
    return JSON.parse(stdout);
  };
  const eventsOf = async (...command: readonly string[]): Promise<number> => {
    const { partitions } = checked.parse(await pf(...command));
    expect(partitions.flatMap(({ problems, differing = [] }) => [...problems, ...differing])).toEqual([]);
    return partitions.reduce((sum, { events }) => sum + events, 0);
  };

  /**
   * Moves one intent that has ended to a file of the archive's store, as the writer does with old ones: their
   * deliveries are gone before.
   */
  async function leaveOne(): Promise<void> {
    await cluster.database.sql.query('DELETE FROM service.deliveries WHERE intent_id = $1', [ids[0]]);
    const partitions = Array.from({ length: PARTITIONS }, (_, partition) => partition);
    const soon = Date.now() + DAY_MS;
    const old = await findOldIntents(cluster.database, TERMS.chain as ChainId, partitions, soon, null, 1);
    const bundles = new ColdBundles(new FolderStore(cluster.archive), null);
    const places = await bundles.write(new Map(old.map((one) => [one.id, one])), Date.now());
    for (const one of old) {
      const place = places.get(one.id);
      if (place) await leave(cluster.database, one.partition, [{ ...one, ...place }]);
    }
  }
  const leftCount = async (): Promise<number | null> =>
    (await cluster.database.sql.query('SELECT FROM ledger.cold_intents')).rowCount;
  async function copyAll(): Promise<void> {
    const texts = new Set([...(await loggedEvents()), ...(await archivedEvents())]);
    copied = [...texts].map((text) => readEvent(text)).filter((event) => typeof event.sealed?.data === 'string');
    for (const table of ['service.intent_keys', 'service.recovery_keys']) {
      const { rows } = await cluster.database.sql.query<{ row: unknown }>(
        `SELECT to_jsonb(t) AS row FROM ${table} AS t`,
      );
      await restored.database.sql.query(
        `INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
        [JSON.stringify(rows.map(({ row }) => row))],
      );
    }
  }

  /** The places that have the canary, by name: as their bytes are on disk, and as their programs read them. */
  async function found(): Promise<readonly string[]> {
    const places: [string, () => Promise<string>][] = [
      ['files of Postgres', postgresFiles],
      ['WAL of Postgres', postgresWal],
      ['dump of Postgres', postgresDump],
      ['files of Kafka', kafkaFiles],
      ['records of Kafka', kafkaRecords],
      ['files of the archive', () => filesUnder(cluster.archive)],
      ['events of the archive', async () => (await archivedEvents()).join('\n')],
      ['Redis', redisDump],
      ['other files of the stack', otherFiles],
      ['logs of the services', serviceLogs],
    ];
    const texts = await Promise.all(places.map(async ([name, read]) => [name, await read()] as const));
    for (const [name, text] of texts) expect([name, text.length > 0]).toEqual([name, true]);
    return texts.flatMap(([name, text]) => (text.includes(CANARY) ? [name] : []));
  }
  const folder = path.dirname(stackFile());
  async function filesUnder(root: string, ending = ''): Promise<string> {
    const files = await readdir(root, { recursive: true, withFileTypes: true });
    const read = files
      .filter((file) => file.isFile() && file.name.endsWith(ending))
      // A file may be gone: small ones are merged, and a topic's segments roll.
      .map((file) => readFile(path.join(file.parentPath, file.name), 'latin1').catch(() => ''));
    return (await Promise.all(read)).join('\n');
  }
  async function postgresFiles(): Promise<string> {
    const { rows } = await cluster.database.sql.query<{ oid: number }>(
      'SELECT oid::int FROM pg_database WHERE datname = current_database()',
    );
    return filesUnder(path.join(folder, 'postgres/base', String(rows[0]?.oid)));
  }
  /** Of all databases of the server. */
  const postgresWal = (): Promise<string> => searched(path.join(folder, 'postgres/pg_wal'));
  /** What else the stack writes: Redis' files, logs, statistics of Postgres … */
  const otherFiles = (): Promise<string> =>
    searched(folder, ['postgres/base', 'postgres/pg_wal', 'kafka/log', 'test-logs']);
  /** One file after another: all are too large for one text. @returns the canary where one has it, else their names */
  async function searched(cwd: string, exclude: readonly string[] = []): Promise<string> {
    const names: string[] = [];
    for await (const file of glob('**', { cwd, exclude, withFileTypes: true })) {
      if (!file.isFile()) continue;
      // As above, it may be gone.
      const bytes = await readFile(path.join(file.parentPath, file.name)).catch(() => Buffer.of());
      if (bytes.includes(CANARY)) return CANARY;
      names.push(file.name);
    }
    return names.join('\n');
  }
  async function postgresDump(): Promise<string> {
    const { rows: tables } = await cluster.database.sql.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
        WHERE schemaname IN ('service', 'dashboard', 'ledger')`,
    );
    const texts = await Promise.all(
      tables.map(async ({ name }) => {
        const { rows } = await cluster.database.sql.query<{ text: string }>(`SELECT t::text AS text FROM ${name} AS t`);
        return rows.map(({ text }) => text).join('\n');
      }),
    );
    return texts.join('\n');
  }
  /** The segments: indexes hold no content, and are large. */
  async function kafkaFiles(): Promise<string> {
    const topics = await readdir(path.join(folder, 'kafka/log'));
    const own = topics.filter((name) => name.startsWith(cluster.prefix));
    return (await Promise.all(own.map((name) => filesUnder(path.join(folder, 'kafka/log', name), '.log')))).join('\n');
  }
  async function loggedEvents(): Promise<readonly string[]> {
    const reader = await cluster.log.reader('erasure');
    const values: string[] = [];
    for (const [partition, end] of (await reader.endOffsets('intent.events')).entries())
      for await (const { records } of reader.read('intent.events', partition, 0n, end))
        values.push(...records.map(({ value }) => value ?? ''));
    await reader.close();
    return values;
  }
  /** Whatever compression they are stored with. */
  async function kafkaRecords(): Promise<string> {
    const reader = await cluster.log.reader('erasure');
    const values: string[] = [];
    for (const topic of ['intent.events', 'intent.commands', 'intent.dead'] as const)
      for (const [partition, end] of (await reader.endOffsets(topic)).entries())
        for await (const { records } of reader.read(topic, partition, 0n, end))
          values.push(...records.map((record) => JSON.stringify({ ...record, offset: String(record.offset) })));
    await reader.close();
    return values.join('\n');
  }
  async function archivedEvents(): Promise<readonly string[]> {
    const connection = await (await DuckDBInstance.create()).connect();
    const files = path.join(cluster.archive, 'events/**/*.parquet');
    const result = await connection.runAndReadAll(`SELECT event FROM read_parquet('${files}')`);
    connection.closeSync();
    return result.getRows().map(([event]) => event as string);
  }
  async function redisDump(): Promise<string> {
    const values: unknown[] = [];
    for (const key of await redis.keys('*')) {
      const type = await redis.type(key);
      values.push(
        key,
        type === 'hash' && (await redis.hgetall(key)),
        type === 'list' && (await redis.lrange(key, 0, -1)),
        type === 'set' && (await redis.smembers(key)),
        type === 'zset' && (await redis.zrange(key, 0, -1)),
        type === 'stream' && (await redis.xrange(key, '-', '+')),
        type === 'string' && (await redis.get(key)),
      );
    }
    return JSON.stringify(values);
  }
  const serviceLogs = (): Promise<string> => filesUnder(path.join(path.dirname(cluster.archive)));

  it(
    'is only in Postgres before, and nowhere after; the log, the archive and a rebuild still agree',
    async () => {
      const events = await eventsOf('log', 'verify');
      expect(events).toBe(3 * INTENTS);
      await until('the archive to have all', async () => (await eventsOf('ledger', 'verify')) === events, TEST_MS);
      await copyAll();
      await leaveOne();
      expect(await leftCount()).toBe(1);
      expect((await filesUnder(path.join(cluster.archive, 'cold'))).length).toBeGreaterThan(0);
      await cluster.database.sql.query('CHECKPOINT');
      // A checkpoint may have removed what the WAL had of the changes.
      await cluster.database.sql.query("SELECT pg_logical_emit_message(true, 'test', $1)", [CANARY]);
      expect(await found()).toEqual(['files of Postgres', 'WAL of Postgres', 'dump of Postgres']);

      const report = await pf('privacy', 'erase', '--account', cluster.accountId, '--yes');
      expect(report).toMatchObject({
        intents: INTENTS,
        requested: INTENTS,
        links: 1,
        unsealed: 0,
        left: 1,
        leftWithoutKey: 0,
      });
      await until('the erasures', async () => {
        const { rowCount } = await cluster.database.sql.query('SELECT FROM service.erasures');
        return rowCount === 0;
      });
      const { rowCount: keys } = await cluster.database.sql.query('SELECT FROM service.intent_keys');
      expect(keys).toBe(0);
      // What left came back; its file stays, and nothing has its key.
      expect(await leftCount()).toBe(0);
      // Rows of before are in the free space of their pages, and in the planner's samples, until these are rewritten.
      await cluster.database.sql.query('ANALYZE');
      await transactionsOfBefore();
      await cluster.database.sql.query('VACUUM FULL');
      // Changes of before are in the files of the WAL up to the checkpoint after them.
      await cluster.database.sql.query('SELECT pg_switch_wal()');
      await cluster.database.sql.query('CHECKPOINT');
      expect(await found()).toEqual([]);

      expect(await eventsOf('log', 'verify')).toBe(events + INTENTS);
      await until('the archive', async () => (await eventsOf('ledger', 'verify')) === events + INTENTS, TEST_MS);
      for (let partition = 0; partition < PARTITIONS; partition++)
        expect(await pf('log', 'rebuild', '--partition', String(partition))).toMatchObject({ differing: [] });
      expect(await found()).toEqual([]);

      for (const id of ids) {
        const { body } = await api.get(id);
        expect(body.intent).toMatchObject({ id, state: 'cancelled', amount: '12.50', metadata: {} });
        expect(body.intent).toMatchObject({ erasedAt: expect.any(String) as unknown });
        expect(body.intent).not.toHaveProperty('idempotencyKey');
        const { body: history } = await api.events(id);
        expect(history.events.map(({ data }) => data.intent.metadata)).toEqual([{}, {}]);
      }
      expect(await api.list(`metadata[name]=${encodeURIComponent(`${CANARY} 0`)}`)).toMatchObject({
        body: { intents: [] },
      });
    },
    TEST_MS,
  );

  it(
    'cannot be opened in copies from before, once its recovery keys and the old SECRETS_KEY are gone',
    async () => {
      const unreadable = async ({ sql }: Database, keyring: Buffer): Promise<number> =>
        (await openEvents(sql, keyring, copied)).missing;
      const [live, old, fresh] = [cluster.database, cluster.secretsKey, randomBytes(32)];
      // The created and the updated event of each intent. All can be opened, for eight days even without the dump.
      expect(copied).toHaveLength(2 * INTENTS);
      expect([await unreadable(restored.database, old), await unreadable(live, old)]).toEqual([0, 0]);
      await new EventSealer(live, old).renew(Date.now() + (RECOVERY_DAYS + 1) * DAY_MS);
      expect(await unreadable(live, old)).toBe(copied.length);

      const both = [fresh, old].map((key) => key.toString('base64')).join();
      expect(await pfWith(both, 'secrets', 'rotate')).toEqual({ rotated: expect.any(Number) as unknown });
      expect(await unreadable(live, fresh)).toBe(copied.length);
      expect(await unreadable(restored.database, fresh)).toBe(copied.length);
    },
    TEST_MS,
  );
});
