import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { type Cluster, startCluster, until } from '@pf/testing';
import { type Measured, measureCreates, median, type Target } from './creates.ts';

/**
 * Creates per second and their latency at several numbers of clients: our gateway → Kafka → intent service → Postgres,
 * beside two plain services that insert directly. One run, the same Postgres server, the same load, taken in turns, so
 * that a noisy machine is noisy for all of them. Only the ratios mean something elsewhere.
 */
const CLIENTS = (process.env['BENCH_CLIENTS'] ?? '1,16,64,256').split(',').map(Number);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 6);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 2);
const WARM_UP_SECONDS = 4;
/** A create with an idempotency key lies in the partition that its key says; without one the gateway may choose. */
const KEYS = { 'own key': () => ({ idempotencyKey: randomUUID() }), 'no key': () => ({}) };
type Keys = keyof typeof KEYS;

const children: ChildProcess[] = [];
async function plain(name: string, script: string, cluster: Cluster, port: number): Promise<Target> {
  const main = path.join(import.meta.dirname, 'plain', script);
  const child = spawn(process.execPath, ['--conditions=source', '--disable-warning=ExperimentalWarning', main], {
    env: { PATH: process.env['PATH'], DATABASE_URL: cluster.databaseUrl, PORT: String(port), NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  await until(`${name} to answer`, async () => (await fetch(`${url}/readyz`)).ok, 30_000);
  return { name, url, apiKey: cluster.apiKeys.test };
}

/** The targets in turns, round after round; prints a line for each. */
async function compare(targets: readonly Target[], keys: Keys, clients: number): Promise<void> {
  const runs = new Map<Target, Measured[]>(targets.map((target) => [target, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [target, measured] of runs) measured.push(await measureCreates(target, KEYS[keys], clients, SECONDS));
  }
  const rates = targets.map((target) => median(runs.get(target)?.map(({ perSecond }) => perSecond) ?? []));
  for (const [index, target] of targets.entries()) {
    const of = (field: keyof Measured): number => median(runs.get(target)?.map((measured) => measured[field]) ?? []);
    const ratio = index === 0 ? '' : ((rates[0] ?? 0) / (rates[index] ?? 0)).toFixed(2);
    const cells = [keys, clients, target.name, Math.round(of('perSecond')), of('p50').toFixed(0), of('p99').toFixed(0)];
    console.log(`| ${[...cells, ratio].join(' | ')} |`);
  }
}

const clusters = await Promise.all([startCluster(), startCluster(), startCluster()]);
const [ours, forPg, forPrisma] = clusters;
try {
  if (!ours || !forPg || !forPrisma) throw new Error('three clusters are needed');
  const [gateway] = await Promise.all([
    ours.start('gateway', { env: { LOG_LEVEL: 'warn', NODE_ENV: 'production' } }),
    ours.start('intent', { env: { LOG_LEVEL: 'warn', NODE_ENV: 'production' } }),
  ]);
  const targets: Target[] = [
    { name: 'this service', url: gateway.url, apiKey: ours.apiKeys.test },
    await plain('Express + pg', 'plain-pg.ts', forPg, 4971),
    await plain('Express + Prisma', 'plain-prisma.ts', forPrisma, 4972),
  ];
  for (const target of targets) await measureCreates(target, KEYS['own key'], 64, WARM_UP_SECONDS);

  console.log(
    `\nCreates; median of ${ROUNDS} rounds of ${SECONDS} s; "own key": each with an idempotency key of its own.\n`,
  );
  console.log('| creates with | clients | service | creates/s | p50 ms | p99 ms | ratio to it |');
  console.log('| --- | ---: | --- | ---: | ---: | ---: | ---: |');
  for (const keys of (process.env['BENCH_KEYS']?.split(',') ?? Object.keys(KEYS)) as Keys[]) {
    for (const clients of CLIENTS) await compare(targets, keys, clients);
  }
} finally {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(clusters.map((cluster) => cluster.close()));
}
