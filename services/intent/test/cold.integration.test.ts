import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  Archiver,
  FolderStore,
  Ledger,
  type ObjectStore,
  ParquetFiles,
  Signer,
  StoreUnavailableError,
  verifyPartition,
} from '@pf/archive';
import { ColdBundles, unfinishedIn, verifyCold } from '@pf/archive/cold';
import { trustedClock } from '@pf/clock';
import { newIntentId, type Reply } from '@pf/contracts';
import {
  coldByBundle,
  type AuditSource,
  coldVersions,
  erasePersonalData,
  findColdOf,
  findOldIntents,
  leave,
  type LogSource,
  openDatabase,
  rebuildProjection,
  setWebhookPosition,
  verifyProjection,
} from '@pf/database';
import type { IntentId } from '@pf/domain';
import { about, gateway, samples, watcher } from '@pf/domain/testing';
import type { LogReader } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { type Cluster, openRoleLogins, startCluster, until } from '@pf/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLeaving, type LeavingOptions } from '../src/cold.ts';
import type { IntentWriter, WriterContext } from '../src/writer.ts';
import { create, observed, of } from './messages.ts';
import { CommandClient, type RunningWriter, startWriter, type WriterLocation } from './running-writer.ts';

const PARTITION = 3;
const SECRETS_KEY = randomBytes(32);
const CANARY = 'canary-of-a-person';
const DAY_MS = 86_400_000;
const HOT_DAYS = 35;
/** All intents of the test have ended so long ago. */
const LATER = trustedClock(() => Date.now() + (HOT_DAYS + 1) * DAY_MS);
const BY: AuditSource = {
  kind: 'operator',
  id: null,
  name: 'test',
  address: null,
  userAgent: null,
  requestId: null,
};
const log = createLogger('intent', 'silent');

/** The archive's store, which can be unavailable. */
class OutOfOrder extends FolderStore implements ObjectStore {
  isAvailable = true;
  override read(key: string): Promise<Uint8Array | null> {
    return this.isAvailable ? super.read(key) : Promise.reject(new StoreUnavailableError('unavailable'));
  }
}

let cluster: Cluster;
let location: WriterLocation;
let folder: string;
let store: OutOfOrder;
let archiver: Archiver;
let parquet: ParquetFiles;
let running: RunningWriter;
let client: CommandClient;
let reader: LogReader;
/** Of the role of the intent service. */
let database: ReturnType<typeof openDatabase>;
/** Called before the writer projects. */
let beforeProjection: (() => Promise<void>) | null = null;

const wrap = (writer: IntentWriter): IntentWriter =>
  new Proxy(writer, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...given: unknown[]): Promise<unknown> => {
        if (name === 'project') await beforeProjection?.();
        return (value as (...all: unknown[]) => unknown).apply(target, given);
      };
    },
  });
const start = async (): Promise<void> => {
  running = await startWriter(location, { secretsKey: SECRETS_KEY, store, wrap });
};

beforeAll(async () => {
  cluster = await startCluster();
  folder = await mkdtemp(path.join(tmpdir(), 'cold-'));
  store = new OutOfOrder(folder);
  const logins = await openRoleLogins(cluster.databaseUrl);
  location = { databaseUrl: logins?.pf_intent ?? cluster.databaseUrl, prefix: cluster.prefix };
  database = openDatabase({ url: location.databaseUrl, applicationName: 'leaving test' });
  [client, reader, parquet] = [
    await CommandClient.open(cluster.log, cluster.database),
    await cluster.log.reader('cold'),
    await ParquetFiles.open(),
  ];
  await start();
  archiver = new Archiver({
    store: new FolderStore(folder),
    parquet,
    signer: new Signer(randomBytes(32)),
    reader,
    partitions: cluster.log.partitions,
    flushMs: 50,
    log,
    now: Date.now,
  });
});
afterEach(() => {
  store.isAvailable = true;
  beforeProjection = null;
});
afterAll(async () => {
  await running.stop();
  await archiver.stop();
  await Promise.all([client.close(), reader.close(), parquet.close(), database.close()]);
  await cluster.close();
  await rm(folder, { recursive: true });
});

const source: LogSource = {
  end: () => reader.endOffset('intent.events', PARTITION),
  read: (from, end) => reader.read('intent.events', PARTITION, from, end),
};
const sql = <Row extends object>(text: string, ...values: readonly unknown[]) =>
  cluster.database.sql.query<Row>(text, [...values]);
const differing = async () => (await verifyProjection(cluster.database, PARTITION, source, SECRETS_KEY)).differing;
const rebuild = (more: { readonly bringBack?: boolean } = {}) =>
  rebuildProjection(cluster.database, PARTITION, source, { keyring: SECRETS_KEY, ...more });
const intentOf = ({ intent, outcome }: Reply) => {
  if (!intent) throw new Error(JSON.stringify(outcome));
  return intent;
};
/** An intent that has ended. */
const ended = async (change: Parameters<typeof create>[0] = {}): Promise<IntentId> => {
  const { id } = intentOf(await client.execute(create(change, { partition: PARTITION })));
  await client.execute(of(id, gateway.simulate('finalized')));
  return id;
};
const count = async (table: string, id: IntentId): Promise<number> =>
  (await sql(`SELECT FROM ledger.${table} WHERE ${table === 'intent_events' ? 'intent_id' : 'id'} = $1`, id))
    .rowCount ?? 0;
/** Where an intent is. */
const whereIs = async (id: IntentId): Promise<string> => {
  const [rows, events, cold] = await Promise.all([
    count('intents', id),
    count('intent_events', id),
    count('cold_intents', id),
  ]);
  return cold === 0 ? `${rows} row, ${events > 0 ? 'events' : 'no event'}` : `cold, ${rows + events} rows`;
};
const HOT = '1 row, events';
const COLD = 'cold, 0 rows';

/** What has been decided is archived, and the webhook service has read it. */
const finished = async (): Promise<void> => {
  await setWebhookPosition(cluster.database, PARTITION, await source.end());
  await until('the archive', async () => {
    const left = await unfinishedIn(PARTITION, { store, reader }, await source.end());
    return left?.size === 0;
  });
};
const leaveOnce = async (more: Partial<LeavingOptions<WriterContext>> = {}): Promise<void> => {
  const leaving = createLeaving({
    database,
    bundles: new ColdBundles(store, null),
    unfinished: (partition, others) => unfinishedIn(partition, { store, reader }, others),
    owner: running.owner,
    between: (partition, work) => running.writer.between(partition, work),
    chains: [samples.BASE_SEPOLIA],
    hotDays: HOT_DAYS,
    clock: LATER,
    log,
    ...more,
  });
  leaving.start();
  await leaving.stop();
};
const allLeave = async (...ids: readonly IntentId[]): Promise<void> => {
  await finished();
  // A round in which the database was busy leaves the rest to the next one.
  await until('all of them to have left', async () => {
    await leaveOnce();
    const places = await Promise.all(ids.map(whereIs));
    expect(places).toEqual(ids.map(() => COLD));
    return true;
  });
};
const placeOf = (id: IntentId) => findColdOf(cluster.database, id, { accountId: samples.ACCOUNT, livemode: false });

describe('Old intents', () => {
  it('stay until the archive has them, and until the webhooks of their events are made', async () => {
    const id = await ended();
    await leaveOnce();
    expect(await whereIs(id)).toBe(HOT);
    archiver.start((error) => {
      throw error;
    });
    await finished();
    await setWebhookPosition(cluster.database, PARTITION, 0n);
    await leaveOnce();
    expect(await whereIs(id)).toBe(HOT);
    await allLeave(id);
    expect(await differing()).toEqual([]);
  });

  it('leave together in a few files, and only those that have ended', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => ended()));
    const { id: open } = intentOf(await client.execute(create({}, { partition: PARTITION })));
    const confirmed = intentOf(await client.execute(create({}, { partition: PARTITION }))).id;
    await client.execute(of(confirmed, gateway.simulate('confirmed')));
    await allLeave(...ids);
    expect(new Set(await Promise.all(ids.map(async (id) => (await placeOf(id))?.bundle))).size).toBe(1);
    expect([await whereIs(open), await whereIs(confirmed)]).toEqual([HOT, HOT]);
    // They had not ended long ago by this clock.
    const young = await ended();
    await finished();
    await leaveOnce({ clock: trustedClock() });
    expect(await whereIs(young)).toBe(HOT);
  });

  it('leave in one round, but in pieces of a few MiB, where they are as large as intents may be', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`key${n}`, '\u0001'.repeat(500)]));
    const ids = await Promise.all(Array.from({ length: 30 }, () => ended({ metadata })));
    await finished();
    let pieces = 0;
    await leaveOnce({
      unfinished(partition, others) {
        pieces++;
        return unfinishedIn(partition, { store, reader }, others);
      },
    });
    expect(pieces).toBeGreaterThan(1);
    await allLeave(...ids);
    const bundles = await Promise.all(ids.map(async (id) => (await placeOf(id))?.bundle));
    const sizes = Map.groupBy(bundles, (bundle) => bundle);
    expect(sizes.size).toBeGreaterThan(1);
    for (const { length } of sizes.values()) expect(length).toBeLessThan(20);
    expect(await differing()).toEqual([]);
  });

  it('stay while a webhook is kept of them', async () => {
    const id = await ended();
    const endpoint = `we_${randomBytes(6).toString('hex')}`;
    await sql(
      `INSERT INTO service.webhook_endpoints (id, account_id, livemode, url) VALUES ($1, $2, false, 'https://a.test')`,
      endpoint,
      cluster.accountId,
    );
    await sql(
      `INSERT INTO service.deliveries
         (id, endpoint_id, account_id, livemode, event_id, event_type, intent_id, version, url)
       VALUES ('dlv_1', $1, $2, false, 'evt_1', 'intent.created', $3, 1, 'https://a.test')`,
      endpoint,
      cluster.accountId,
      id,
    );
    await finished();
    await leaveOnce();
    expect(await whereIs(id)).toBe(HOT);
    await sql('DELETE FROM service.deliveries');
    await allLeave(id);
  });

  it('are whole where a process ends between the file and the rows, and leave the next time', async () => {
    const id = await ended();
    await finished();
    const files = async (): Promise<number> =>
      (await readdir(path.join(folder, 'cold'), { recursive: true, withFileTypes: true })).filter((one) => one.isFile())
        .length;
    const before = await files();
    await leaveOnce({ owner: { owned: () => running.owner.owned(), run: () => Promise.resolve() } });
    expect([await files(), await whereIs(id)]).toEqual([before + 1, HOT]);
    await allLeave(id);
    expect(await differing()).toEqual([]);
  });

  it('stay where they have changed since they were written', async () => {
    const id = await ended();
    await finished();
    await leaveOnce({
      owner: {
        owned: () => running.owner.owned(),
        run: async (...given) => {
          await client.execute(of(id, gateway.refund(newIntentId(PARTITION))));
          await running.owner.run(...given);
        },
      },
    });
    expect(await whereIs(id)).toBe(HOT);
    expect(await differing()).toEqual([]);
  });
});

describe('An intent that has left', () => {
  it('comes back for a command, with what the decision needs beside it', async () => {
    const id = await ended({ metadata: { order: '7' } });
    const refund = newIntentId(PARTITION);
    await client.execute(of(id, gateway.refund(refund)));
    await client.execute(of(refund, gateway.simulate('finalized')));
    await allLeave(id, refund);
    // The decision about a refund needs its original.
    expect((await client.execute(of(refund, gateway.cancel()))).outcome).toMatchObject({
      kind: 'refused',
      refusal: { code: 'intent.already_fulfilled' },
    });
    expect([await whereIs(id), await whereIs(refund)]).toEqual([HOT, HOT]);
    expect(await differing()).toEqual([]);
  });

  it('comes back for an observation', async () => {
    const id = intentOf(await client.execute(create({}, { partition: PARTITION }))).id;
    await client.execute(of(id, gateway.cancel()));
    await allLeave(id);
    await client.send(observed(about(id, watcher.landedFinal(samples.FIRST))));
    const statusOf = async () =>
      (await sql<{ status: string }>('SELECT status FROM ledger.intents WHERE id = $1', id)).rows[0]?.status;
    await until('the late payment', async () => (await statusOf()) === 'finalized');
    expect(await differing()).toEqual([]);
  });

  it('is not made a second time', async () => {
    const command = create({}, { partition: PARTITION });
    await client.execute(command);
    await client.execute(of(command.intentId, gateway.cancel()));
    await allLeave(command.intentId);
    await sql('DELETE FROM service.command_outcomes WHERE command_id = $1', command.commandId);
    await client.send(command);
    await until('it to be back', async () => (await whereIs(command.intentId)) === HOT);
    const { faultCount, differing: wrong } = await verifyProjection(cluster.database, PARTITION, source, SECRETS_KEY);
    expect([faultCount, wrong]).toEqual([0, []]);
  });

  it('stays out while the store is unavailable: its partition goes on, and its commands have no outcome', async () => {
    const id = await ended();
    await allLeave(id);
    store.isAvailable = false;
    const [refused, other] = [of(id, gateway.refund(newIntentId(PARTITION))), create({}, { partition: PARTITION })];
    await client.send(refused, observed(about(id, watcher.landedFinal(samples.FIRST))));
    await client.execute(other);
    expect(running.owner.owned()).toContain(PARTITION);
    expect(await whereIs(id)).toBe(COLD);
    expect(client.repliesTo(refused.commandId)).toEqual([]);
    // The bundle is read again some seconds after a failure.
    store.isAvailable = true;
    await running.stop();
    await start();
    expect(intentOf(await client.execute(of(id, gateway.refund(newIntentId(PARTITION)))))).toMatchObject({
      refundOf: id,
    });
    expect(await differing()).toEqual([]);
  });

  it('comes back where an owner that was replaced has moved it out during a decision', async () => {
    const id = await ended();
    await finished();
    let isMoved = false;
    beforeProjection = async () => {
      if (isMoved) return;
      isMoved = true;
      const before = LATER.now() - HOT_DAYS * DAY_MS;
      const old = await findOldIntents(database, samples.BASE_SEPOLIA, [PARTITION], before, null, 100);
      const places = await new ColdBundles(store, null).write(new Map(old.map((one) => [one.id, one])), Date.now());
      await leave(
        database,
        PARTITION,
        old.flatMap((one) => {
          const place = places.get(one.id);
          return place ? [{ ...one, ...place }] : [];
        }),
      );
      expect(await whereIs(id)).toBe(COLD);
    };
    expect(intentOf(await client.execute(of(id, gateway.refund(newIntentId(PARTITION)))))).toMatchObject({
      refundOf: id,
    });
    expect([isMoved, await whereIs(id)]).toEqual([true, HOT]);
    expect(await differing()).toEqual([]);
  });

  it('is erased, and no copy can be read', async () => {
    const id = await ended({ metadata: { name: CANARY } });
    await allLeave(id);
    const place = await placeOf(id);
    if (!place) throw new Error('it has not left');
    const bundles = new ColdBundles(store, null);
    expect((await bundles.read(id, place)).intent).toContain(CANARY);
    expect(await readFile(path.join(folder, place.bundle), 'latin1')).not.toContain(CANARY);
    const young = await ended();
    await sql(`INSERT INTO service.accounts (id, name) VALUES ($1, 'of the samples')`, samples.ACCOUNT);
    const erased = await erasePersonalData(cluster.database, { intents: [id, young] }, BY);
    const { rowCount: keys } = await sql('SELECT FROM service.intent_keys WHERE intent_id = $1', id);
    expect(erased).toEqual({ requested: 2, links: 0, unsealed: 0, left: 1, leftWithoutKey: keys === 0 ? 1 : 0 });
    await until(
      'the erasure',
      async () => (await sql('SELECT FROM service.erasures WHERE intent_id = $1', id)).rowCount === 0,
    );
    expect([await whereIs(id), await placeOf(id)]).toEqual([HOT, null]);
    await finished();
    await leaveOnce();
    const again = await placeOf(id);
    if (!again) throw new Error('it has not left again');
    expect((await bundles.read(id, again)).intent).not.toContain(CANARY);
    expect(await differing()).toEqual([]);
  });
});

describe('A projection with intents that have left', () => {
  it('has no column that their rows must have and lack, which migrations have added since', async () => {
    const { rows } = await sql<{ columns: string }>(
      `SELECT string_agg(column_name, ' ' ORDER BY column_name) AS columns FROM information_schema.columns
        WHERE table_schema = 'ledger' AND table_name IN ('intents', 'intent_events') AND is_nullable = 'NO'
        GROUP BY table_name ORDER BY table_name`,
    );
    // What is added may be null (docs/internals/evolution.md): files from before do not have it.
    expect(rows.map(({ columns }) => columns)).toEqual([
      'at body event_id intent_id type version',
      'account_id amount_base_units chain created_at direction expires_at id livemode partition reference requestor ' +
        'state status token token_address updated_at version',
    ]);
  });

  it('is checked by their digests, and a rebuild leaves those that are right where they are', async () => {
    const [right, wrong, lost, twice] = [await ended(), await ended(), await ended(), await ended()];
    await allLeave(right, wrong, lost, twice);
    await sql(`UPDATE ledger.cold_intents SET digest = sha256('other') WHERE id = $1`, wrong);
    await sql('DELETE FROM ledger.cold_intents WHERE id = $1', lost);
    const ghost = newIntentId(PARTITION);
    await sql(
      `INSERT INTO ledger.cold_intents SELECT $2, partition, version, account_id, livemode, created_at, digest, bundle,
         first_byte, bytes, key FROM ledger.cold_intents WHERE id = $1`,
      right,
      ghost,
    );
    await sql(
      `INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at)
       VALUES ($1, 1, 'evt_of_nothing', 'intent.created', '{}', now())`,
      twice,
    );
    expect(await differing()).toEqual([wrong, lost, ghost, twice].sort());
    expect((await rebuild()).surplus).toEqual([ghost]);
    expect(await Promise.all([right, wrong, lost, twice].map(whereIs))).toEqual([COLD, HOT, HOT, HOT]);
    expect([await differing(), await whereIs(ghost)]).toEqual([[], '0 row, no event']);
  });

  it('is verified: each can be read, is what has left, and has the version that the archive has', async () => {
    const [right, other, ahead] = [await ended(), await ended(), await ended()];
    await allLeave(right, other, ahead);
    const lost = await ended();
    await allLeave(lost);
    const proof = () => verifyCold(coldByBundle(cluster.database), new ColdBundles(store, null));
    const archived = () =>
      verifyPartition(PARTITION, {
        store,
        parquet,
        publicKey: null,
        reader,
        left: (partition) => coldVersions(cluster.database, partition),
      });
    const { rows } = await sql('SELECT FROM ledger.cold_intents');
    expect(await proof()).toEqual({ intents: rows.length, problems: [] });
    expect((await archived()).problems).toEqual([]);

    await sql(`UPDATE ledger.cold_intents SET digest = sha256('other') WHERE id = $1`, other);
    await sql('UPDATE ledger.cold_intents SET version = version + 1 WHERE id = $1', ahead);
    const bundle = (await placeOf(lost))?.bundle ?? '';
    await rm(path.join(folder, bundle));
    const { problems } = await proof();
    expect(problems).toHaveLength(2);
    expect(problems).toContain(`${bundle} is missing.`);
    expect(problems.join()).toMatch(new RegExp(`cold/\\S+ has another ${other} than has left Postgres`));
    expect((await archived()).problems).toEqual([
      expect.stringMatching(
        new RegExp(`^${ahead} has left Postgres in version \\d+, and the archive has version \\d+$`),
      ),
    ]);
    await rebuild({ bringBack: true });
    expect((await proof()).problems).toEqual([]);
  });

  it('is the same by a log that is built again from the archive', async () => {
    const id = await ended({ metadata: { name: CANARY } });
    await allLeave(id);
    const ledger = await Ledger.open(new FolderStore(folder));
    const { rows } = await ledger.query(`SELECT event FROM events WHERE partition = ${PARTITION} ORDER BY log_offset`);
    ledger.close();
    const records = rows.map(({ event }, index) => ({ offset: BigInt(index), value: String(event) }));
    const again: LogSource = {
      end: () => Promise.resolve(BigInt(records.length)),
      read: async function* (from, end) {
        yield { records: records.slice(Number(from), Number(end)), next: end };
      },
    };
    const report = await verifyProjection(cluster.database, PARTITION, again, SECRETS_KEY);
    expect([report.differing, report.faultCount, await whereIs(id)]).toEqual([[], 0, COLD]);
    expect(report.end).toBeLessThan(report.projected);
  });

  it('gets all of them back from the log, also without the files', async () => {
    const id = await ended({ metadata: { name: CANARY } });
    await allLeave(id);
    const { rows: before } = await sql<{ digest: Buffer }>('SELECT digest FROM ledger.cold_intents WHERE id = $1', id);
    await rm(path.join(folder, 'cold'), { recursive: true });
    expect((await rebuild({ bringBack: true })).differing).toEqual([]);
    expect(await whereIs(id)).toBe(HOT);
    expect((await sql('SELECT FROM ledger.cold_intents WHERE partition = $1', PARTITION)).rowCount).toBe(0);
    expect(await differing()).toEqual([]);
    // They leave again as they were.
    await allLeave(id);
    const { rows: after } = await sql<{ digest: Buffer }>('SELECT digest FROM ledger.cold_intents WHERE id = $1', id);
    expect(after).toEqual(before);
  });

  it('is folded from the log where it was dropped', async () => {
    const id = await ended();
    await allLeave(id);
    await running.stop();
    await sql('TRUNCATE ledger.intents, ledger.intent_events, ledger.cold_intents, ledger.checkpoints');
    await start();
    expect([await whereIs(id), await differing()]).toEqual([HOT, []]);
  });

  it('catches up from a backup that has them', async () => {
    const id = await ended();
    await allLeave(id);
    const position = await source.end();
    const { rows } = await sql<{ row: string }>(
      'SELECT row_to_json(cold)::text AS row FROM ledger.cold_intents AS cold WHERE id = $1',
      id,
    );
    const refund = newIntentId(PARTITION);
    await client.execute(of(id, gateway.refund(refund)));
    expect(await whereIs(id)).toBe(HOT);
    await running.stop();
    await sql('DELETE FROM ledger.intents WHERE id = ANY($1)', [id, refund]);
    await sql('DELETE FROM ledger.intent_events WHERE intent_id = ANY($1)', [id, refund]);
    await sql(
      `INSERT INTO ledger.cold_intents
       SELECT * FROM json_populate_record(NULL::ledger.cold_intents, $1::json)`,
      rows[0]?.row,
    );
    await sql('UPDATE ledger.checkpoints SET position = $2 WHERE partition = $1', PARTITION, position);
    await start();
    expect([await whereIs(id), await whereIs(refund), await differing()]).toEqual([HOT, HOT, []]);
  });
});
