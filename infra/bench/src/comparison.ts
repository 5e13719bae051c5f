import { spawn } from 'node:child_process';
import path from 'node:path';
import { commandLine, count, counts, flag } from '@pf/local/command';
import { freePorts, startCluster, until } from '@pf/testing';
import { type Measured, measureCreates, type Target } from './creates.ts';
import { median } from './percentiles.ts';

type Service = 'pf' | 'pg' | 'prisma';
export interface Compared extends Target {
  readonly service: Service;
}
/**
 * This service beside two plain ones that do the same validation, key lookup and durable insert: one run, the same
 * Postgres server, the same load, taken in turns, so that a noisy machine is noisy for all of them. Only the ratios
 * mean something elsewhere.
 */
interface Comparison {
  /** This service first. */
  readonly targets: readonly Compared[];
  readonly close: () => Promise<void>;
}

const WARM_UP_SECONDS = 4;
const WARM_UP_CLIENTS = 64;
const QUIET = { LOG_LEVEL: 'warn', NODE_ENV: 'production' };

const PLAIN = [
  { service: 'pg', name: 'Express + pg', script: 'plain-pg.ts' },
  { service: 'prisma', name: 'Express + Prisma', script: 'plain-prisma.ts' },
] as const;

/** Starts the three services, each on a database of its own, and warms them up. */
async function startComparison(): Promise<Comparison> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(closing.splice(0).map((end) => end()));
  };
  const cluster = async (): ReturnType<typeof startCluster> => {
    const started = await startCluster();
    closing.push(() => started.close());
    return started;
  };
  const plain = async ({ service, name, script }: (typeof PLAIN)[number]): Promise<Compared> => {
    const [{ databaseUrl, apiKeys }, [port = 0]] = await Promise.all([cluster(), freePorts(1)]);
    const main = path.join(import.meta.dirname, 'plain', script);
    const child = spawn(process.execPath, ['--conditions=source', '--disable-warning=ExperimentalWarning', main], {
      env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, PORT: String(port), NODE_ENV: 'production' },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    closing.unshift(() => Promise.resolve(child.kill('SIGKILL')));
    const url = `http://127.0.0.1:${port}`;
    await until(`${name} to respond`, async () => (await fetch(`${url}/readyz`)).ok, 30_000);
    return { service, name, url, apiKey: apiKeys.test };
  };
  const ours = async (): Promise<Compared> => {
    const started = await cluster();
    const [gateway] = await Promise.all([
      started.start('gateway', { env: QUIET }),
      started.start('intent', { env: QUIET }),
    ]);
    return { service: 'pf', name: 'this service', url: gateway.url, apiKey: started.apiKeys.test };
  };
  try {
    const targets = await Promise.all([ours(), ...PLAIN.map(plain)]);
    for (const target of targets) await measureCreates(target, () => ({}), WARM_UP_CLIENTS, WARM_UP_SECONDS);
    return { targets, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The rounds of one target. */
interface Row extends Measured {
  readonly service: Service;
  readonly min: Measured;
  readonly max: Measured;
}

/** Measures the targets in turns, round after round: each figure is the median of the rounds. */
async function inTurns(
  targets: readonly Compared[],
  rounds: number,
  one: (target: Compared) => Promise<Measured>,
): Promise<readonly Row[]> {
  const runs = targets.map((target) => ({ target, measured: [] as Measured[] }));
  for (let round = 0; round < rounds; round++)
    for (const { target, measured } of runs) measured.push(await one(target));
  return runs.map(({ target: { service }, measured }) => {
    const of = (choose: (values: readonly number[]) => number): Measured => ({
      perSecond: choose(measured.map(({ perSecond }) => perSecond)),
      p50: choose(measured.map(({ p50 }) => p50)),
      p99: choose(measured.map(({ p99 }) => p99)),
    });
    return { service, ...of(median), min: of((all) => Math.min(...all)), max: of((all) => Math.max(...all)) };
  });
}

/** What is measured at a number of clients, of each service. */
interface Case {
  readonly name: string;
  readonly measure: (target: Compared, clients: number, seconds: number) => Promise<Measured>;
}

/**
 * Compares the services in every case at every number of clients, and prints the table, or with `--json` the rows.
 *
 * @param options.name of the column of the cases, and of its field in the JSON
 * @param options.unit of the rate, such as `creates/s`
 * @param options.heading what the table shows, without the rounds
 */
export async function compare(options: {
  /** As a person runs it. */
  readonly command: string;
  readonly defaults: { readonly clients: readonly number[]; readonly rounds: number };
  readonly name: string;
  readonly unit: string;
  readonly heading: string;
  readonly note: string;
  readonly casesOf: (targets: readonly Compared[]) => Promise<readonly Case[]> | readonly Case[];
}): Promise<void> {
  const { command, defaults, name, unit, heading, note } = options;
  const {
    values: { clients, seconds, rounds, json },
  } = commandLine({
    name: command,
    about: `Compares ${unit} with those of two plain services, in turns.`,
    options: {
      clients: counts('Numbers of clients at once', defaults.clients, { most: 10_000 }),
      seconds: count('How long a round takes', 6, { most: 3_600 }),
      rounds: count('Turns of each service', defaults.rounds, { most: 3_600 }),
      json: flag('Print the rows as JSON'),
    },
  });
  const say = (text: string): void => (json ? console.error(text) : console.log(text));
  const { targets, close } = await startComparison();
  try {
    const cases = await options.casesOf(targets);
    say(`${heading}: median (minimum–maximum) of ${rounds} rounds of ${seconds} s; ${note}.\n`);
    say(line([name, 'clients', 'service', unit, 'p50 ms', 'p99 ms', 'ratio to it']));
    say(line(['---', '---:', '---', '---:', '---:', '---:', '---:']));
    const all: object[] = [];
    for (const one of cases)
      for (const count of clients) {
        const rows = await inTurns(targets, rounds, (target) => one.measure(target, count, seconds));
        for (const row of rows) say(line([one.name, count, ...cellsOf(row, rows[0])]));
        all.push(...rows.map((row) => ({ [name]: one.name, clients: count, ...row })));
      }
    if (json) console.log(JSON.stringify({ rows: all }));
  } finally {
    await close();
  }
}

const range = ({ min, max, ...row }: Row, field: keyof Measured): string =>
  `${Math.round(row[field])} (${Math.round(min[field])}–${Math.round(max[field])})`;

/** The cells of a row: median (minimum–maximum) of each figure, and how many times a plain service's rate ours is. */
function cellsOf(row: Row, ours: Row | undefined): readonly string[] {
  const name = row.service === 'pf' ? 'this service' : PLAIN.find(({ service }) => service === row.service)?.name;
  const ratio = row.service === 'pf' || !ours ? '' : (ours.perSecond / row.perSecond).toFixed(2);
  return [name ?? row.service, range(row, 'perSecond'), range(row, 'p50'), range(row, 'p99'), ratio];
}

/** @returns a line of a Markdown table */
const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
