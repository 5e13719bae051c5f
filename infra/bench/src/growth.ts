import { commandLine, count, flag } from '@pf/local/command';
import { apiClient, type Cluster, type Instance, startCluster } from '@pf/testing';
import { measureCreates, measureReads, type Measured, type Target } from './creates.ts';
import { median } from './percentiles.ts';

/**
 * What a ledger of many intents costs: creates, lists and reads of a cluster that is empty, beside one whose account
 * has so many finalized intents with their events; sizes, and the time and work of a vacuum. Both run on the same
 * server and are measured in turns. The intents are made by SQL. Needs a running stack, and 10 KB of disk an intent.
 *
 *   npm run bench:growth -- --intents 5000000 --clients 4 --seconds 10 --rounds 5 --json
 */
const {
  values: { intents, clients, seconds, rounds, json },
} = commandLine({
  name: 'npm run bench:growth',
  about: 'Measures creates, lists and reads beside a ledger of many intents, and a vacuum of it.',
  options: {
    intents: count('Finalized intents in the larger ledger', 5_000_000, { most: 20_000_000 }),
    clients: count('Clients at once', 4, { most: 10_000 }),
    seconds: count('How long each measurement takes', 10, { most: 3_600 }),
    rounds: count('Turns of each', 5, { most: 1_000 }),
    json: flag('Print the figures as JSON'),
  },
});

const MADE_AT_ONCE = 50_000;
/** They were created evenly over so many days. */
const DAYS = 365;
const QUIET = { LOG_LEVEL: 'warn', NODE_ENV: 'production' };
/** A statement makes or indexes whole tables. */
const PATIENT = { query_timeout: 3_600_000 };
const say = (text: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);

interface Ledger extends Target {
  readonly cluster: Cluster;
  /** An old intent. */
  readonly id: string;
}

const startServices = (cluster: Cluster): Promise<readonly [Instance, Instance]> =>
  Promise.all([cluster.start('gateway', { env: QUIET }), cluster.start('intent', { env: QUIET })]);

/** Services of the cluster, whose account has one finalized intent and, where it is filled, the copies of it. */
async function start(name: string, cluster: Cluster, filled: boolean): Promise<Ledger> {
  let services = await startServices(cluster);
  const [gateway] = services;
  const api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
  const { body } = await api.create({
    chain: 'eip155:84532',
    token: 'USDC',
    amount: '12.50',
    requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    metadata: { order: 'A-1001' },
    idempotencyKey: crypto.randomUUID(),
  });
  if (!('intent' in body)) throw new Error(`no intent was created: ${JSON.stringify(body)}`);
  const { id } = body.intent;
  await api.simulate(id, 'finalized');
  if (filled) {
    // What they look for every few seconds would read whole tables while those have no index.
    await Promise.all(services.map((service) => (service.kill('SIGTERM'), service.exited)));
    await fill(cluster, id);
    services = await startServices(cluster);
  }
  return { name, url: services[0].url, apiKey: cluster.apiKeys.test, cluster, id };
}

/** Copies the sample so many times, each with ids, keys, references and times of its own, and indexes them. */
async function fill({ database: { sql } }: Cluster, id: string): Promise<void> {
  const { rows: indexes } = await sql.query<{ name: string; drop: string; create: string }>(
    `SELECT indexname AS name, format('DROP INDEX ledger.%I', indexname) AS drop, indexdef AS create
       FROM pg_indexes WHERE schemaname = 'ledger' AND tablename IN ('intents', 'intent_events')
        AND indexname NOT IN (SELECT conname FROM pg_constraint)
      UNION ALL
     SELECT conname, format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname),
       format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
       FROM pg_constraint WHERE conrelid IN ('ledger.intents'::regclass, 'ledger.intent_events'::regclass)
        AND contype IN ('p', 'u')`,
  );
  await sql.query('CREATE TABLE sample_intents AS TABLE ledger.intents');
  await sql.query('CREATE TABLE sample_events AS TABLE ledger.intent_events');
  for (const { drop } of indexes) await sql.query(drop);
  const own: Readonly<Record<string, string>> = {
    id: 'made.id',
    reference: 'made.reference',
    idempotency_key: 'made.key',
    tx_signature: 'made.signature',
    requestor: 'made.requestor',
    metadata: `jsonb_build_object('order', 'A-' || made.place)`,
    created_at: 'made.at',
    updated_at: 'made.at',
    expires_at: `made.at + interval '1 hour'`,
    closed_at: 'made.at',
    state: [
      ['sample.id', 'made.id'],
      ['sample.reference', 'made.reference'],
      ['sample.idempotency_key', 'made.key'],
      ['sample.tx_signature', 'made.signature'],
      ['sample.requestor', 'made.requestor'],
    ].reduce((text, [from, to]) => `replace(${text}, ${from}, ${to})`, 'sample.state'),
  };
  const { fields } = await sql.query('SELECT * FROM ledger.intents LIMIT 0');
  const columns = fields.map(({ name }) => name);
  for (let at = 0; at < intents; at += MADE_AT_ONCE) {
    const to = Math.min(at + MADE_AT_ONCE, intents) - 1;
    await sql.query({
      text: `
        WITH made AS MATERIALIZED (
          SELECT place, 'pi_' || translate(left(md5('id' || place), 22), '0', 'z') AS id,
            'key-' || md5('key' || place) AS key,
            '0x' || left(md5('to' || place % 10000) || md5('to'), 40) AS requestor,
            '0x' || md5('left' || place) || md5('right' || place) AS reference,
            '0x' || md5('hash' || place) || md5('of' || place) AS signature,
            now() - (interval '1 day' * ${DAYS} * (1 - place::float / $3)) AS at
          FROM generate_series($1::int, $2::int) AS place
        ), rows AS (
          INSERT INTO ledger.intents (${columns.join(', ')})
          SELECT ${columns.map((column) => own[column] ?? `sample.${column}`).join(', ')}
            FROM sample_intents AS sample, made WHERE sample.id = $4
        )
        INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at)
        SELECT made.id, event.version, 'evt_' || left(md5(made.id || event.version), 22), event.type,
          replace(event.body, $4, made.id), made.at
          FROM sample_events AS event, made WHERE event.intent_id = $4`,
      values: [at, to, intents, id],
      ...PATIENT,
    });
    if ((to + 1) % 500_000 === 0) say(`${to + 1} of ${intents} intents are made`);
  }
  for (const { name, create } of indexes) {
    await sql.query({ text: create, ...PATIENT });
    say(`${name} is made`);
  }
}

/** What takes less an intent does not grow with them. */
const SMALL_BYTES = 10;

/** The tables and indexes that grow with intents, the largest first. */
async function sizes({ cluster }: Ledger): Promise<readonly { readonly name: string; readonly bytes: number }[]> {
  const { rows } = await cluster.database.sql.query<{ name: string; bytes: string }>(
    `SELECT relname AS name, pg_table_size(oid) AS bytes FROM pg_class
      WHERE relnamespace = 'ledger'::regnamespace AND relkind IN ('r', 'i') ORDER BY 2 DESC`,
  );
  return rows
    .map(({ name, bytes }) => ({ name, bytes: Number(bytes) }))
    .filter(({ bytes }) => bytes > SMALL_BYTES * intents);
}

/** Seconds of a vacuum of both tables. */
async function vacuumed({ cluster }: Ledger): Promise<number> {
  const began = performance.now();
  for (const table of ['intents', 'intent_events'])
    await cluster.database.sql.query({ text: `VACUUM (ANALYZE) ledger.${table}`, ...PATIENT });
  return (performance.now() - began) / 1_000;
}

const CASES: readonly { readonly name: string; readonly measure: (ledger: Ledger) => Promise<Measured> }[] = [
  {
    name: 'create',
    measure: (ledger) => measureCreates(ledger, () => ({ idempotencyKey: crypto.randomUUID() }), clients, seconds),
  },
  { name: 'get', measure: (ledger) => measureReads(ledger, `/v1/intents/${ledger.id}`, clients, seconds) },
  { name: 'list', measure: (ledger) => measureReads(ledger, '/v1/intents?limit=20', clients, seconds) },
  {
    name: 'list finalized',
    measure: (ledger) => measureReads(ledger, '/v1/intents?limit=20&state=finalized', clients, seconds),
  },
];

const middle = (all: readonly Measured[]): Measured => ({
  perSecond: median(all.map(({ perSecond }) => perSecond)),
  p50: median(all.map(({ p50 }) => p50)),
  p99: median(all.map(({ p99 }) => p99)),
});

const clusters = await Promise.all([startCluster(), startCluster()]);
try {
  const ledgers = [await start('empty', clusters[0], false), await start('full', clusters[1], true)] as const;
  const full = ledgers[1];
  const firstVacuum = await vacuumed(full);
  const stored = await sizes(full);
  say(`vacuum: ${firstVacuum.toFixed(1)} s`);
  for (const ledger of ledgers) await measureCreates(ledger, () => ({}), clients, seconds);
  const rows: { name: string; ledger: string; measured: Measured }[] = [];
  for (const { name, measure } of CASES) {
    const measured = new Map(ledgers.map((ledger) => [ledger, [] as Measured[]]));
    // In turns that begin with the other one each time: who comes second has what the first has left behind.
    for (let round = 0; round < rounds; round++)
      for (const ledger of round % 2 === 0 ? ledgers : ledgers.toReversed())
        measured.get(ledger)?.push(await measure(ledger));
    for (const [ledger, all] of measured) rows.push({ name, ledger: ledger.name, measured: middle(all) });
    say(`${name} is measured`);
  }
  const secondVacuum = await vacuumed(full);
  if (json) console.log(JSON.stringify({ intents, sizes: stored, firstVacuum, secondVacuum, rows }));
  else {
    console.log(`\n${intents} intents; ${clients} clients, medians of ${rounds} rounds of ${seconds} s in turns\n`);
    console.log('| request | ledger | /s | p50 ms | p99 ms |\n| --- | --- | ---: | ---: | ---: |');
    for (const { name, ledger, measured } of rows)
      console.log(`| ${name} | ${ledger} | ${measured.perSecond.toFixed(0)} | ${measured.p50} | ${measured.p99} |`);
    console.log('\n| table or index | bytes an intent |\n| --- | ---: |');
    for (const { name, bytes } of stored) console.log(`| ${name} | ${Math.round(bytes / intents)} |`);
    console.log(
      `\nVacuum of both tables: ${firstVacuum.toFixed(1)} s, and ${secondVacuum.toFixed(1)} s after the load`,
    );
  }
} finally {
  await Promise.all(clusters.map((cluster) => cluster.close()));
}
