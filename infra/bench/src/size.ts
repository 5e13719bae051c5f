import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { ParquetFiles } from '@pf/archive';
import { addWebhookEndpoint } from '@pf/database';
import { commandLine, count } from '@pf/local/command';
import { apiClient, type Cluster, stackFile, startCluster, until } from '@pf/testing';
import { startReceivers } from './webhooks/processes.ts';

/**
 * What the life of a payment takes on disk: in Kafka, in Postgres, in the archive. Intents are created with metadata as
 * shops have it, paid and finalized (simulated, so without a chain), and their events are delivered to one URL; then
 * everything is counted and divided. Reads the log's files, so the brokers must be those of a stack of this machine.
 */
const {
  values: { intents },
} = commandLine({
  name: 'npm run bench:size',
  about: 'Measures what a payment takes on disk.',
  options: { intents: count('How many are paid', 3_000, { most: 1_000_000 }) },
});
const CLIENTS = 16;
const WITHIN_MS = 600_000;

interface Size {
  readonly where: string;
  readonly bytes: number;
}

async function bytesBelow(folder: string, isCounted: (file: string) => boolean): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && isCounted(path.relative(folder, file))) bytes += (await stat(file)).size;
  }
  return bytes;
}

/** Of one replica, with the records alone: indexes are allocated in advance. */
const inKafka = (prefix: string, topic: string): Promise<number> =>
  bytesBelow(
    path.join(path.dirname(stackFile()), 'kafka/log'),
    (file) => file.startsWith(`${prefix}${topic}-`) && file.endsWith('.log'),
  );

/** Tables with their indexes, in bytes, without what is not written to. */
async function inPostgres({ database }: Cluster): Promise<ReadonlyMap<string, number>> {
  const { rows } = await database.sql.query<{ name: string; bytes: string }>(
    `SELECT schemaname || '.' || relname AS name, pg_total_relation_size(relid) AS bytes FROM pg_stat_user_tables`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

/** The archive's files merged into one for each partition, as they are when a day is over. */
async function merged(folder: string): Promise<number> {
  const files = (await readdir(path.join(folder, 'events'), { recursive: true })).filter((name) =>
    name.endsWith('.parquet'),
  );
  const parquet = await ParquetFiles.open();
  let bytes = 0;
  for (const group of Map.groupBy(files.sort(), (name) => /partition=\d+/.exec(name)?.[0]).values()) {
    const contents = await Promise.all(group.map((name) => readFile(path.join(folder, 'events', name))));
    bytes += (await parquet.merge(contents)).length;
  }
  await parquet.close();
  return bytes;
}

async function live(cluster: Cluster, url: string): Promise<void> {
  const api = apiClient(`${url}/v1`, cluster.apiKeys.test);
  let left = intents;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let n = left--; n > 0; n = left--) {
        const { status, body } = await api.create({
          chain: 'eip155:84532',
          token: 'USDC',
          amount: `${n % 200}.50`.replace(/^0\./, '1.'),
          requestor: `0x${(n % 50).toString(16).padStart(40, '1')}`,
          metadata: { orderId: `order-${n}`, cart: `c_${n * 7919}` },
          idempotencyKey: crypto.randomUUID(),
        });
        if (status !== 201 || !('intent' in body)) throw new Error(`create: ${status}`);
        const { id } = body.intent;
        const paid = await api.simulate(id, 'finalized');
        if (paid.status !== 200) throw new Error(`simulate: ${paid.status} ${JSON.stringify(paid.body)}`);
      }
    }),
  );
}

/** How many events the log has, and their bytes as JSON. */
async function inEvents(cluster: Cluster): Promise<{ readonly events: number; readonly bytes: number }> {
  const reader = await cluster.log.reader('size');
  let [events, bytes] = [0, 0];
  for (const [partition, end] of (await reader.endOffsets('intent.events')).entries())
    for await (const { records } of reader.read('intent.events', partition, 0n, end)) {
      events += records.length;
      bytes += records.reduce((sum, { value }) => sum + Buffer.byteLength(value ?? ''), 0);
    }
  await reader.close();
  return { events, bytes };
}

/** Waits until every event of the log is delivered: all of these payments are public. */
const allDelivered = ({ database }: Cluster, events: number): Promise<unknown> =>
  until(
    'all events to be delivered',
    async () => (await database.prisma.delivery.count({ where: { status: 'delivered' } })) === events,
    WITHIN_MS,
  );

const [cluster, receivers] = await Promise.all([startCluster(), startReceivers({ quick: 1 })]);
try {
  for (const url of receivers.quick)
    await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url });
  const [gateway] = await Promise.all(
    (['gateway', 'intent', 'archive', 'webhook'] as const).map((service) =>
      cluster.start(service, { env: { LOG_LEVEL: 'warn', NODE_ENV: 'production' } }),
    ),
  );
  const before = await inPostgres(cluster);
  await live(cluster, gateway?.url ?? '');
  const { events, bytes } = await inEvents(cluster);
  await allDelivered(cluster, events);
  await until('the archive to have all', async () => {
    const manifests = await readdir(path.join(cluster.archive, 'heads')).catch(() => []);
    const heads = await Promise.all(
      manifests.map(
        async (name) =>
          JSON.parse(await readFile(path.join(cluster.archive, 'heads', name), 'utf8')) as { last: number },
      ),
    );
    return heads.reduce((sum, { last }) => sum + last + 1, 0) === events;
  });
  const tables = [...(await inPostgres(cluster))]
    .map(([name, size]): Size => ({ where: `Postgres: ${name}`, bytes: size - (before.get(name) ?? 0) }))
    .filter((size) => size.bytes > intents)
    .sort((a, b) => b.bytes - a.bytes);
  const sizes: Size[] = [
    { where: `its events as JSON (${(events / intents).toFixed(1)} of them)`, bytes },
    ...(await Promise.all(
      (['intent.events', 'intent.commands', 'chain.observations'] as const).map(async (topic) => ({
        where: `Kafka: ${topic}`,
        bytes: await inKafka(cluster.prefix, topic),
      })),
    )),
    { where: 'Postgres', bytes: tables.reduce((sum, size) => sum + size.bytes, 0) },
    ...tables,
    { where: 'archive, once its files are merged', bytes: await merged(cluster.archive) },
  ];
  console.log(`\n${intents} intents, created and finalized.\n\n| A payment takes in | bytes |\n| --- | ---: |`);
  for (const { where, bytes: size } of sizes) console.log(`| ${where} | ${Math.round(size / intents)} |`);
} finally {
  await cluster.close();
  await receivers.close();
}
