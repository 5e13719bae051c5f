import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DeliveryArchive, FolderStore, Ledger, type ObjectStore, ParquetFiles } from '@pf/archive';
import { addWebhookEndpoint, type Database, EndedDeliveries, openAccount, openDatabase } from '@pf/database';
import { createTestDatabase, openRoleLogins, readBackingStack, type TestDatabase, until } from '@pf/testing';

const DELIVERIES = 25_000;
const PART = 500;
const DAY_MS = 86_400_000;

let own: TestDatabase;
let database: Database;
let folder: string;
let parquet: ParquetFiles;
let endpoint: { readonly id: string; readonly accountId: string };
/** As the service has it: with the rights of its role. */
let asArchive: Database;

beforeAll(async () => {
  own = await createTestDatabase(readBackingStack().database);
  database = openDatabase({ url: own.url, applicationName: 'test' });
  const logins = await openRoleLogins(own.url);
  asArchive = openDatabase({
    url: logins?.pf_archive ?? own.url,
    applicationName: 'archive',
    maxConnections: 1,
  });
  const { id: accountId } = await openAccount(database, randomBytes(32), { name: 'deliveries' });
  const added = await addWebhookEndpoint(database, { accountId, livemode: false, url: 'https://shop.example/hooks' });
  endpoint = { id: added?.id ?? '', accountId };
  folder = await mkdtemp(path.join(tmpdir(), 'pf-deliveries-test-'));
  parquet = await ParquetFiles.open();
});
afterAll(async () => {
  await parquet.close();
  await asArchive.close();
  await database.close();
  await own.drop();
  await rm(folder, { recursive: true });
});

/** Writes deliveries that are due, numbered from `first`. */
const makeDue = (first: number, count: number): Promise<unknown> =>
  database.sql.query(
    `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, url, next_attempt_at)
     SELECT 'whd_' || n, $3, $4, false, 'evt_' || n, 'intent.created', 'https://shop.example/hooks', now()
       FROM generate_series($1::int, $1::int + $2::int - 1) AS n`,
    [first, count, endpoint.id, endpoint.accountId],
  );
/** Ends them: every seventh fails, every eleventh is cancelled with its URL. */
const end = (first: number, count: number): Promise<unknown> =>
  database.sql.query(
    `UPDATE service.deliveries
        SET status = CASE WHEN n % 7 = 0 OR n % 11 = 0 THEN 'failed' ELSE 'delivered' END, next_attempt_at = NULL,
            error = CASE WHEN n % 11 = 0 THEN 'The URL was removed.'
                         WHEN n % 7 = 0 THEN 'The response status was 500.' END,
            attempt_count = attempt_count + 1, delivered_at = now(), failed_at = now()
       FROM generate_series($1::int, $1::int + $2::int - 1) AS n WHERE id = 'whd_' || n`,
    [first, count],
  );

/** A store whose process dies between the file and the head, every third time. */
function dying(store: ObjectStore): ObjectStore {
  let heads = 0;
  return {
    fileOf: (key: string) => store.fileOf(key),
    create: (key: string, content: Uint8Array) => store.create(key, content),
    read: (key: string) => store.read(key),
    list: (prefix: string) => store.list(prefix),
    delete: (keys: readonly string[]) => store.delete(keys),
    async replace(key: string, content: Uint8Array): Promise<void> {
      if (++heads % 3 === 0) throw new Error('the process died');
      await store.replace(key, content);
    },
  };
}

const inPostgres = async (): Promise<unknown> =>
  (
    await database.sql.query(
      `SELECT CASE WHEN status = 'delivered' THEN status WHEN error = 'The URL was removed.' THEN 'cancelled'
                   ELSE 'failed' END AS outcome, attempt_count AS attempts, count(*)::int AS deliveries
         FROM service.deliveries WHERE next_attempt_at IS NULL GROUP BY 1, 2 ORDER BY 1, 2`,
    )
  ).rows;
async function inArchive(store: ObjectStore): Promise<unknown> {
  const ledger = await Ledger.open(store);
  const { rows } = await ledger.query(
    `SELECT outcome, attempts, count(*)::INTEGER AS deliveries FROM deliveries GROUP BY ALL ORDER BY ALL`,
  );
  ledger.close();
  return rows;
}
/** What is in all files, each row counted. */
async function inFiles(store: ObjectStore): Promise<unknown> {
  const ledger = await Ledger.open(store);
  const { rows } = await ledger.query(
    `SELECT count(*)::INTEGER AS rows, count(DISTINCT delivery_id)::INTEGER AS ids
       FROM read_parquet('${path.join(folder, 'deliveries/**/*.parquet')}')`,
  );
  ledger.close();
  return rows[0];
}

it('the archive counts what Postgres does, while deliveries end and it dies between file and head', async () => {
  const store = new FolderStore(folder);
  const killable = dying(store);
  let [days, deaths] = [0, 0];
  const started = (): DeliveryArchive =>
    new DeliveryArchive({
      store: killable,
      parquet,
      deliveries: new EndedDeliveries(asArchive),
      now: () => Date.now() + days * DAY_MS,
    });
  let archive = started();
  const round = async (): Promise<void> => {
    try {
      await archive.round();
    } catch (error) {
      expect(error).toEqual(new Error('the process died'));
      deaths++;
      archive = started();
    }
  };

  let isEnding = true;
  const ending = (async () => {
    for (let first = 1; first <= DELIVERIES; first += PART) {
      await makeDue(first, PART);
      // Two transactions at once, so that ends become visible in another order than that of their times.
      await Promise.all([end(first, PART / 2), end(first + PART / 2, PART / 2)]);
    }
    // Some that failed are sent again by hand, and half of them arrive.
    await database.sql.query(
      `UPDATE service.deliveries SET status = 'pending', next_attempt_at = now(), failed_at = NULL
        WHERE id IN (SELECT id FROM service.deliveries WHERE status = 'failed' ORDER BY id LIMIT 100)`,
    );
    await database.sql.query(
      `UPDATE service.deliveries SET status = CASE WHEN hashtext(id) % 2 = 0 THEN 'delivered' ELSE 'failed' END,
              next_attempt_at = NULL, attempt_count = 2, error = 'The response status was 500.'
        WHERE status = 'pending'`,
    );
  })().finally(() => (isEnding = false));
  while (isEnding) await round();
  await ending;
  const expected = await inPostgres();
  // Also transactions of other databases of the server are waited for.
  const { rows: ends } = await database.sql.query<{ id: string }>(
    'SELECT id FROM service.deliveries ORDER BY ended_at DESC, id DESC LIMIT 1',
  );
  await until('the head to be the last end', async () => {
    await round();
    return String(await store.read('heads/deliveries.json')).includes(`"${ends[0]?.id}"`);
  });
  expect(await inArchive(store)).toEqual(expected);
  expect(deaths).toBeGreaterThan(0);
  expect(await inFiles(store)).toMatchObject({ ids: DELIVERIES });

  days = 1;
  await until('the files to be merged', async () => {
    await round();
    return isDeepStrictEqual(await inFiles(store), { rows: DELIVERIES, ids: DELIVERIES });
  });
  expect(await inArchive(store)).toEqual(expected);
});
