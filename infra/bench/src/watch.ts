import { newIntentId } from '@pf/contracts';
import { createStore } from '@pf/database';
import { type ChainId, evolve, type IntentEvent, type PaymentIntent } from '@pf/domain';
import { events, type ExpectedEvent, samples } from '@pf/domain/testing';
import { type Instance, startCluster, until } from '@pf/testing';
import { startAnvil, startTempo } from '@pf/testing/chains';
import { choice, commandLine, count, flag } from '@pf/local/command';
import { z } from 'zod';
import { cpuSecondsOf } from './cpu.ts';
import { heapOf, memoryOf } from './memory.ts';

/**
 * What a watcher of many intents needs: how long it loads them, the memory that it takes, and how long they are not
 * watched when the process that did is stopped or killed, with another on standby and without. Needs a running stack.
 * Exits with 1 where the first takes more memory or time than it may.
 *
 *   npm run bench:watch -- --intents 1000000 --closed 0 --recipients 10000 --network base-sepolia --heap 450 --json
 */
const MOST = 10_000_000;
const {
  values: { intents, closed, recipients, heap, network, json },
} = commandLine({
  name: 'npm run bench:watch',
  about: 'Measures the memory and the start of a watcher of many intents.',
  options: {
    intents: count('Open ones that nothing has happened to', 1_000_000, { most: MOST }),
    closed: count('Beside them, paid and finalized within the last 29 days', 0, { least: 0, most: MOST }),
    network: choice('The network that is watched', ['base-sepolia', 'tempo-moderato'], 'base-sepolia'),
    recipients: count('Recipients of them all', 10_000, { most: MOST }),
    heap: count('MB for old objects; young ones get as much as in the image', 450, { most: 100_000 }),
    json: flag('Print the figures as JSON'),
  },
});
const STORED_AT_ONCE = 10_000;
const LIFETIME_S = 7 * 86_400;
const LOADED_WITHIN_MS = 600_000;
const MB = 1_000_000;
const DAY_S = 86_400;
/** What a million of open ones may take. */
const MEMORY_MOST_MB = 600;
const LOADED_MOST_S = 30;

const health = z.looseObject({
  networks: z.record(z.string(), z.looseObject({ role: z.string(), head: z.string().nullable(), loaded: z.number() })),
});
const progress = (text: string): void => {
  if (!json) console.log(text);
};

async function reported({ health: url }: Instance): Promise<z.infer<typeof health>['networks'][string] | undefined> {
  return health.parse(await (await fetch(`${url}/readyz`)).json()).networks[network];
}
/** Milliseconds until the process says that it has a state. */
async function since(began: number, what: string, instance: Instance, is: 'loaded' | 'watching'): Promise<number> {
  await until(
    what,
    async () => {
      const report = await reported(instance);
      return is === 'loaded' ? report?.loaded === intents + closed : (report?.head ?? null) !== null;
    },
    LOADED_WITHIN_MS,
  );
  return performance.now() - began;
}

const chain = await (network === 'base-sepolia' ? startAnvil({ blockMs: 250 }) : startTempo({ blockMs: 250 }));
const cluster = await startCluster(undefined, [chain]);
try {
  await fill();
  const start = (): Promise<Instance> =>
    cluster.start('watcher', {
      wait: false,
      env: { NODE_ENV: 'production', NODE_OPTIONS: heapOf(heap) },
    });
  const begin = async (): Promise<Instance> => {
    const instance = await start();
    await until('the process to respond', async () => (await fetch(`${instance.health}/healthz`)).ok, 60_000);
    return instance;
  };
  let began = performance.now();
  const first = await begin();
  const loadedMs = await since(began, 'the intents to be loaded', first, 'loaded');
  const cpuSeconds = cpuSecondsOf(first.pid);
  await since(began, 'the first step', first, 'watching');
  const { now, peak } = memoryOf(first.pid);
  const memory = { now: now / MB, peak: peak / MB };
  const second = await begin();
  await since(began, 'the standby to load them', second, 'loaded');

  began = performance.now();
  first.kill('SIGTERM');
  const stoppedMs = await since(began, 'the standby to watch', second, 'watching');
  await first.exited;
  const third = await begin();
  await since(began, 'the next standby to load them', third, 'loaded');
  began = performance.now();
  second.kill('SIGKILL');
  const killedMs = await since(began, 'the standby to watch', third, 'watching');

  third.kill('SIGKILL');
  await third.exited;
  began = performance.now();
  const fourth = await begin();
  const coldMs = await since(began, 'the only process to watch', fourth, 'watching');

  const found = {
    network,
    intents,
    closed,
    recipients,
    loadedSeconds: loadedMs / 1_000,
    cpuSeconds,
    memoryMb: memory.now,
    peakMemoryMb: memory.peak,
    unwatchedSeconds: { stopped: stoppedMs / 1_000, killed: killedMs / 1_000, killedWithoutStandby: coldMs / 1_000 },
  };
  if (json) console.log(JSON.stringify(found));
  else {
    console.log(
      `\n${network}: ${intents} open intents and ${closed} that have ended, of ${recipients} recipients, ` +
        `${heap} MB for objects\n`,
    );
    console.log('| measured | |\n| --- | ---: |');
    console.log(
      `| loaded after, and CPU until then | ${found.loadedSeconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s |`,
    );
    console.log(`| memory then, and the most before | ${memory.now.toFixed(0)}, ${memory.peak.toFixed(0)} MB |`);
    console.log(`| unwatched: the watcher is stopped, another on standby | ${(stoppedMs / 1_000).toFixed(1)} s |`);
    console.log(`| unwatched: it is killed, another on standby | ${(killedMs / 1_000).toFixed(1)} s |`);
    console.log(`| unwatched: it is killed, and starts again alone | ${(coldMs / 1_000).toFixed(1)} s |`);
  }
  for (const [what, is, most] of [
    ['memory in MB', memory.peak, MEMORY_MOST_MB],
    ['the time to load in s', found.loadedSeconds, LOADED_MOST_S],
  ] as const)
    if (is > most) {
      console.error(`${what} is ${is.toFixed(1)}, and may be ${most}`);
      process.exitCode = 1;
    }
} finally {
  await cluster.close();
  await chain.stop();
}

/** Stores intents that are as the services make them, in a fraction of the time. */
async function fill(): Promise<void> {
  const { sql } = cluster.database;
  const { ledger } = createStore(cluster.database);
  const sampleOf = async (...told: readonly ExpectedEvent[]): Promise<PaymentIntent> => {
    const intentId = newIntentId(0);
    let intent: PaymentIntent | undefined;
    for (const [before, { type, data }] of told.entries())
      intent = evolve(intent, { type, data, intentId, version: before + 1, at: Date.now() } as IntentEvent);
    if (!intent) throw new Error('there are no events');
    await ledger.project({ ...place, intents: [{ intent, before: 0 }], events: [], outcomes: [] });
    return intent;
  };
  await ledger.checkpoint(0);
  // The log is empty, and the position stays at its beginning.
  const place = { partition: 0, from: 0n, next: 0n, lastAt: 0 };
  const created = events.created({ chain: chain.caip2 as ChainId, ttlSeconds: LIFETIME_S });
  const open = await sampleOf(created);
  // What no watcher reads would take most of the time.
  const { rows } = await sql.query<{ name: string }>(
    `SELECT indexname AS name FROM pg_indexes
      WHERE schemaname = 'ledger' AND tablename = 'intents' AND indexname NOT IN ('intents_pkey', 'intents_watched')`,
  );
  for (const { name } of rows) await sql.query(`DROP INDEX ledger."${name}"`);
  const { fields } = await sql.query('SELECT * FROM ledger.intents LIMIT 0');
  const columns = fields.map(({ name }) => name);
  const state = ['id', 'requestor', 'reference'].reduce(
    (text, field) => `replace(${text}, sample.${field}, made.${field})`,
    'sample.state',
  );
  const own: Readonly<Record<string, string>> = {
    id: 'made.id',
    requestor: 'made.requestor',
    reference: 'made.reference',
    state,
    closed_at: 'sample.closed_at - (now() - made.ended)',
  };
  /** As many as there are places. */
  const store = async (sample: PaymentIntent, [from, end]: readonly [number, number]): Promise<void> => {
    for (let at = from; at < end; at += STORED_AT_ONCE) {
      const next = Math.min(at + STORED_AT_ONCE, end);
      await sql.query(
        `INSERT INTO ledger.intents (${columns.join(', ')})
         SELECT ${columns.map((column) => own[column] ?? `sample.${column}`).join(', ')}
           FROM ledger.intents AS sample, (
             SELECT 'pi_' || translate(left(md5('id' || place), 22), '0', 'z') AS id,
               '0x' || left(md5('to' || place % $3::int) || md5('to'), 40) AS requestor,
               '0x' || md5('left' || place) || md5('right' || place) AS reference,
               now() - place::float / $5 * $6 * interval '1 second' AS ended
             FROM generate_series($1::int, $2::int) AS place
           ) AS made WHERE sample.id = $4`,
        [at, next - 1, recipients, sample.id, intents + closed, 29 * DAY_S],
      );
      progress(`${next} of ${intents + closed} intents stored`);
    }
  };
  await store(open, [1, intents]);
  if (closed > 0) {
    const hash = samples.FIRST;
    const ended = await sampleOf(created, events.pending(hash), events.confirmed(hash), events.finalized(hash));
    await store(ended, [intents + 1, intents + closed]);
  }
  await sql.query('ANALYZE ledger.intents');
}
