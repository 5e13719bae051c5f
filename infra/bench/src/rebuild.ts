import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { encodeEvent, EVENT_SCHEMA_VERSION, eventIdOf, newCommandId, newIntentId } from '@pf/contracts';
import { type LogSource, rebuildProjection, verifyProjection } from '@pf/database';
import { type IntentEvent, Ledger, type Reference, type TransactionHash, view } from '@pf/domain';
import { type ExpectedEvent, events, samples } from '@pf/domain/testing';
import type { LogReader, NewRecord } from '@pf/event-log';
import { commandLine, count, flag } from '@pf/local/command';
import { type Cluster, startCluster, until } from '@pf/testing';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { cpuSecondsOf, cpuSecondsOfChildren, parentOf } from './cpu.ts';
import { median } from './percentiles.ts';

/**
 * Events per second of everything that folds the whole log, beside the least that could be done with it: a consumer
 * that parses nothing and a COPY into a table without an index. Each way goes over the same log on the same machine, in
 * turns. Needs a running stack.
 *
 *   npm run bench:rebuild -- --events 60000 --rounds 3 --json
 */
const {
  values: { events: wanted, rounds, json },
} = commandLine({
  name: 'npm run bench:rebuild',
  about: 'Measures rebuilds and catch-up of a log, beside a bare consumer and COPY.',
  options: {
    events: count('In all partitions together', 60_000, { most: 100_000_000 }),
    rounds: count('Turns of each way', 3, { most: 1_000 }),
    json: flag('Print the figures as JSON'),
  },
});
/** Payments at the same time in a partition: their events alternate in the log. */
const UNDER_WAY = 50;
const CAUGHT_UP_WITHIN_MS = 3_600_000;

const progress = (text: string): void => (json ? console.error(text) : console.log(text));

/** Every event of a payment that goes well; it has a reference and a transaction of its own, as indexes see it. */
function history(): readonly ExpectedEvent[] {
  const bytes32 = (): string => `0x${randomBytes(32).toString('hex')}`;
  const reference = bytes32() as Reference;
  const hash = bytes32() as TransactionHash;
  const { terms } = samples.signed(hash);
  return [
    events.created({ reference, metadata: { orderId: 'order-1234567', cart: 'c_9274' } }),
    events.built(),
    events.prepared(hash, { terms: { ...terms, reference } }),
    events.pending(hash),
    events.confirmed(hash, { reference }),
    events.finalized(hash, { reference }),
  ];
}

type Appended = Omit<NewRecord, 'partition'>;

function payment(partition: number, startedAt: number): readonly Appended[] {
  const intentId = newIntentId(partition);
  const ledger = new Ledger();
  return history().map(({ type, data }, index) => {
    const version = index + 1;
    const at = startedAt + index * 1_000;
    const intent = ledger.apply({ type, intentId, version, at, data } as IntentEvent);
    const value = encodeEvent({
      eventId: eventIdOf(intentId, version),
      type,
      schemaVersion: EVENT_SCHEMA_VERSION,
      intentId,
      version,
      accountId: intent.accountId,
      livemode: intent.livemode,
      commandId: newCommandId(),
      at: new Date(at).toISOString(),
      trace: { traceparent: null, requestId: null },
      data,
      intent: view(intent),
    });
    return { key: intentId, value };
  });
}

/** Appends payments, fifty at a time under way. @returns how many events */
async function fill({ log }: Cluster): Promise<number> {
  let appended = 0;
  await Promise.all(
    Array.from({ length: log.partitions }, async (_, partition) => {
      const appender = await log.appender(partition);
      for (let n = 0; appended < wanted; n++) {
        const open = Array.from({ length: UNDER_WAY }, (_one, index) =>
          payment(partition, samples.SCENARIO_START + n * 10_000 + index),
        );
        const records = (open[0] ?? []).flatMap((_one, version) => open.flatMap((one) => one[version] ?? []));
        appended += records.length;
        await appender.append(records);
      }
      await appender.close();
    }),
  );
  return appended;
}

/** Seconds, and what of them was CPU. */
interface Took {
  readonly wall: number;
  /** Of the process that folds. */
  readonly cpu: number;
  /** Of all backends of Postgres. */
  readonly postgres: number;
}

async function timed(work: () => Promise<number | undefined>): Promise<Took> {
  const [before, cpu, began] = [cpuSecondsOfChildren(postgres), cpuSecondsOf(process.pid), performance.now()];
  const elsewhere = await work();
  return {
    wall: (performance.now() - began) / 1_000,
    cpu: elsewhere ?? cpuSecondsOf(process.pid) - cpu,
    postgres: cpuSecondsOfChildren(postgres) - before,
  };
}

const cluster = await startCluster();
const { database, log } = cluster;
const { rows: backends } = await database.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
const postgres = parentOf(backends[0]?.pid ?? 0);
const partitions = Array.from({ length: log.partitions }, (_, partition) => partition);
const reader: LogReader = await log.reader('bench');
const sourceOf = (partition: number): LogSource => ({
  end: () => reader.endOffset('intent.events', partition),
  read: (from, end) => reader.read('intent.events', partition, from, end),
});
const empty = (): Promise<unknown> =>
  database.sql.query('TRUNCATE ledger.intents, ledger.intent_events, ledger.checkpoints');

/** The least: the same records out of the log, and their bytes into a table. */
async function copyAll(): Promise<undefined> {
  // Those of the pool have a timeout, which a stream does not end.
  const client = new pg.Client(cluster.databaseUrl);
  await client.connect();
  await client.query('DROP TABLE IF EXISTS raw; CREATE TABLE raw (number bigint, intent_id text, value text)');
  for (const partition of partitions) {
    const end = await reader.endOffset('intent.events', partition);
    for await (const { records } of reader.read('intent.events', partition, 0n, end)) {
      const lines = records.map(({ offset, key, value }) => `${offset}\t${key}\t${value?.replaceAll('\\', '\\\\')}\n`);
      await pipeline(Readable.from([lines.join('')]), client.query(copyFrom('COPY raw FROM STDIN')));
    }
  }
  await client.end();
}

/** What an intent service does that finds nothing projected. @returns seconds of its CPU, without those of its start */
async function catchUp(): Promise<number> {
  const instance = await cluster.start('intent', { wait: false, env: { LOG_LEVEL: 'warn', NODE_ENV: 'production' } });
  try {
    const ends = await reader.endOffsets('intent.events');
    await until(
      'the projection to reach the end',
      async () => {
        const { rows } = await database.sql.query<{ partition: number; position: string }>(
          'SELECT partition, position FROM ledger.checkpoints',
        );
        return partitions.every((one) =>
          rows.some(({ partition, position }) => partition === one && BigInt(position) >= (ends[one] ?? 0n)),
        );
      },
      CAUGHT_UP_WITHIN_MS,
    );
    return cpuSecondsOf(instance.pid);
  } finally {
    instance.kill('SIGKILL');
    await instance.exited;
  }
}

const rebuildAll = async (): Promise<undefined> => {
  for (const partition of partitions) await rebuildProjection(database, partition, sourceOf(partition));
};
const WAYS: readonly {
  readonly name: string;
  readonly before?: () => Promise<unknown>;
  readonly work: () => Promise<number | undefined>;
}[] = [
  { name: 'a consumer and COPY', work: copyAll },
  { name: 'catch-up of a new owner', before: empty, work: catchUp },
  { name: 'pf log rebuild of nothing', before: empty, work: rebuildAll },
  { name: 'pf log rebuild, all is right', work: rebuildAll },
  {
    name: 'pf log verify',
    work: async () => {
      for (const partition of partitions) await verifyProjection(database, partition, sourceOf(partition));
      return undefined;
    },
  },
];

try {
  const count = await fill(cluster);
  progress(`${count} events in ${partitions.length} partitions; median (minimum–maximum) of ${rounds} rounds.\n`);
  const runs = WAYS.map((way) => ({ way, took: [] as Took[] }));
  for (let round = 0; round < rounds; round++)
    for (const { way, took } of runs) {
      await way.before?.();
      took.push(await timed(way.work));
    }
  const rows = runs.map(({ way, took }) => {
    const rate = took.map(({ wall }) => count / wall);
    return {
      name: way.name,
      perSecond: median(rate),
      min: Math.min(...rate),
      max: Math.max(...rate),
      /** Events a second of CPU of the process that folds, and of Postgres. */
      perCore: median(took.map(({ cpu }) => count / cpu)),
      perPostgresCore: median(took.map(({ postgres }) => count / postgres)),
    };
  });
  const [least] = rows;
  progress('| | events/s | a core of its own | a core of Postgres | ratio |\n| --- | ---: | ---: | ---: | ---: |');
  for (const row of rows) {
    const [rate, min, max, core, ofPostgres] = [row.perSecond, row.min, row.max, row.perCore, row.perPostgresCore].map(
      (value) => Math.round(value).toLocaleString('en-US'),
    );
    const ratio = (row.perSecond / (least?.perSecond ?? Number.NaN)).toFixed(2);
    progress(`| ${row.name} | ${rate} (${min}–${max}) | ${core} | ${ofPostgres} | ${ratio} |`);
  }
  if (json) console.log(JSON.stringify({ events: count, rows }));
} finally {
  await reader.close();
  await cluster.close();
}
