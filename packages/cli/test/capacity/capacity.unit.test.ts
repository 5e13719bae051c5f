import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { estimate, type Load } from '../../src/capacity/estimate.ts';
import {
  AT_REST_MB,
  BYTES,
  CREATE_CPU_MS,
  DELIVERIES_PER_SECOND,
  DEPLOYED,
  EVENTS_MEASURED,
  KEPT_DAYS,
  MEMORY_LIMIT_MIB,
  PLANS,
  TARGET_UTILIZATION,
  UNPRICED_CALLS_PER_MINUTE,
  WATCHED_BYTES,
  WATCHER_MOST_MB,
} from '../../src/capacity/figures.ts';
import { runPf } from '../../src/index.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** A row of a Markdown table by its first cell, without the separators of thousands. */
function cellsOf(page: string, first: string): readonly string[] {
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim().replaceAll(/(?<=\d),/g, '')));
  const found = rows.find((cells) => cells[1] === first);
  if (!found) throw new Error(`no row ${first}`);
  return found.slice(2, -1);
}
/** A section of a Markdown page, without those after it. */
const sectionOf = (page: string, heading: string): string =>
  (page.split(`\n## ${heading}\n`)[1] ?? '').split('\n## ')[0] ?? '';
const numbersOf = (page: string, first: string): readonly number[] =>
  cellsOf(page, first).map((cell) => Number.parseFloat(cell));

const LOAD: Load = {
  paymentsPerMonth: 1_000_000,
  peakFactor: 5,
  brokers: 3,
  networks: ['base', 'solana', 'tempo'],
  recipients: 1_000,
  months: 1,
  webhooks: 0,
  requests: 2,
  events: EVENTS_MEASURED,
};

describe('the figures of pf capacity', () => {
  const performance = read('docs/internals/performance.md');

  it.each([
    ['Kafka `intent.events`: for ever on each replica', BYTES.kafkaEvents],
    ['Kafka `intent.commands`: as long as its retention', BYTES.kafkaCommands],
    ['Postgres with indexes and dead rows', BYTES.postgresAll],
    ['of it `ledger.intent_events`', BYTES.postgresEvents],
    ['of it `ledger.intents`', BYTES.postgresIntents],
    ['of it `service.request_records_…`: two requests 7 days', BYTES.postgresRequests],
    ['the archive once the files of a day are merged', BYTES.archive],
    ['with a webhook URL: `service.deliveries` 30 days', BYTES.deliveries],
    ['… `service.delivery_attempts` 30 days', BYTES.deliveryAttempts],
  ])('are those of performance.md on disk: %s', (row, bytes) => {
    expect(numbersOf(performance.replaceAll(', ', ' '), row)).toEqual([bytes]);
  });

  it('are those of performance.md on CPU, deliveries and memory', () => {
    const { gateway, intent, kafka, postgres } = CREATE_CPU_MS;
    expect(numbersOf(performance, 'one for all, and key objects').slice(0, 4)).toEqual([
      gateway,
      intent,
      kafka,
      postgres,
    ]);
    expect(numbersOf(sectionOf(performance, 'Webhooks'), '1')[0]).toBe(DELIVERIES_PER_SECOND);
    expect(numbersOf(performance, '… on Tempo: two names')[1]).toBe(WATCHED_BYTES.ended);
    const resident = sectionOf(performance, 'At rest').replaceAll(/\s+/g, ' ');
    expect(numbersOf(performance, 'the process, while it loads all')[0]).toBe(WATCHER_MOST_MB);
    expect(resident).toContain(`Redis ${AT_REST_MB.redis} MB`);
  });

  it('are those of providers.md', () => {
    const providers = read('docs/operations/providers.md');
    for (const { family, preset, idleMillions } of PLANS) {
      const network = family === 'base' ? 'Base' : 'Solana';
      expect(numbersOf(providers, `${network}, \`${preset}\``).slice(0, 3)).toEqual(idleMillions);
    }
    expect(numbersOf(providers, 'Tempo, `tempo-public`').slice(0, 3)).toEqual(UNPRICED_CALLS_PER_MINUTE.tempo);
    const [base, , solana, helius] = [
      PLANS.find(({ family }) => family === 'base'),
      null,
      PLANS.find(({ family, preset }) => family === 'solana' && preset === 'alchemy-paid'),
      PLANS.find(({ preset }) => preset === 'helius-developer'),
    ];
    expect(providers.replaceAll(/\s+/g, ' ')).toContain(
      `A payment costs up to ${base?.watched.few} of Alchemy's units on Base, ${base?.watched.many} with 10,000 ` +
        `recipients, and ${base?.served} more for build, verification and broadcast; on Solana ` +
        `${helius?.watched.few} and ${helius?.served} of Helius' credits, or ${solana?.watched.few} and ` +
        `${solana?.served} units.`,
    );
  });

  const container = z.looseObject({
    spec: z.looseObject({
      template: z.looseObject({
        spec: z.looseObject({
          containers: z.tuple([
            z.looseObject({
              env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })),
              resources: z.looseObject({
                requests: z.looseObject({ cpu: z.string() }),
                limits: z.looseObject({ memory: z.string() }),
              }),
            }),
          ]),
        }),
      }),
    }),
  });

  it.each(Object.entries(DEPLOYED))('are those of the manifests: %s', (service, { connections, cpu, least, most }) => {
    const folder = service === 'watcher' ? 'k8s/watcher' : 'k8s/base';
    const [deployment] = read(`${folder}/${service}.yaml`)
      .split(/^---$/m)
      .map((text): unknown => parse(text))
      .filter((object) => container.safeParse(object).success);
    const [{ env, resources }] = container.parse(deployment).spec.template.spec.containers;
    expect(env.find(({ name }) => name === 'DATABASE_CONNECTIONS')?.value).toBe(String(connections));
    expect(resources.requests.cpu).toBe(`${cpu * 1_000}m`);
    expect(resources.limits.memory).toBe(`${MEMORY_LIMIT_MIB}Mi`);
    const scaling = service === 'watcher' ? null : read(`k8s/components/scaling/${service}.yaml`);
    const [from, to] =
      scaling === null
        ? [/path: \/spec\/replicas\s+value: (\d+)/, /path: \/spec\/replicas\s+value: (\d+)/]
        : [/minReplica(?:s|Count): (\d+)/, /maxReplica(?:s|Count): (\d+)/];
    const text = scaling ?? read('k8s/overlays/production/kustomization.yaml');
    expect([from.exec(text)?.[1], to.exec(text)?.[1]]).toEqual([String(least), String(most)]);
    if (service === 'gateway' || service === 'intent')
      expect(text).toContain(`averageUtilization: ${TARGET_UTILIZATION * 100}`);
  });

  it('are those of the image and of what is deleted', () => {
    const topics = read('k8s/components/strimzi/topics.yaml');
    const retention = /name: intent\.commands$[^]*?retention\.ms: (\d+)/m.exec(topics)?.[1];
    expect(Number(retention)).toBe(KEPT_DAYS.kafkaCommands * 86_400_000);
    expect(read('services/watcher/src/config.ts')).toMatch(
      new RegExp(`WATCH_DAYS: .*default\\(${KEPT_DAYS.watched}\\)`),
    );
  });
});

describe('an estimate', () => {
  it('takes for 1,000,000 payments of four events what performance.md says', () => {
    const { kafkaPerBroker, kafkaAll, archive } = estimate({ ...LOAD, months: 12 }).gigabytes;
    // 1.5 GB a million payments on each broker, and commands of a week.
    expect(kafkaPerBroker).toBeCloseTo(12 * 1.505 + (7 / 30) * 1.021, 6);
    expect(kafkaAll).toBeCloseTo(3 * kafkaPerBroker, 6);
    expect(archive).toBeCloseTo(12 * 0.756, 6);
  });

  it('keeps three copies of a partition, spread over the brokers, and as many as there are brokers', () => {
    const size = (brokers: number) => estimate({ ...LOAD, brokers }).gigabytes;
    expect(size(6).kafkaPerBroker).toBeCloseTo(size(3).kafkaPerBroker / 2, 9);
    expect(size(6).kafkaAll).toBeCloseTo(size(3).kafkaAll, 9);
    expect(size(1).kafkaAll).toBeCloseTo(size(3).kafkaAll / 3, 9);
  });

  it('keeps deliveries of 30 days only, for each URL', () => {
    const postgres = (months: number, webhooks: number) => estimate({ ...LOAD, months, webhooks }).gigabytes.postgres;
    const gigabytes = (6_750 + 696) / 1_000;
    expect(postgres(12, 2) - postgres(12, 0)).toBeCloseTo(2 * gigabytes, 6);
    expect(postgres(1, 2) - postgres(1, 0)).toBeCloseTo(2 * gigabytes, 6);
  });

  it('has the connections of databases.md for the networks of production and of staging', () => {
    const page = read('docs/operations/databases.md');
    const six = ['base', 'base-sepolia', 'solana', 'solana-devnet', 'tempo', 'tempo-moderato'];
    expect(estimate({ ...LOAD, networks: six }).connections).toBe(numbersOf(page, 'production')[0]);
    expect(estimate(LOAD).connections).toBe(numbersOf(page, 'staging')[0]);
  });

  it('takes the bills of providers.md while there are few payments', () => {
    const dollars = (recipients: number) =>
      estimate({ ...LOAD, paymentsPerMonth: 1, recipients }).rpc.map(({ network, plan, dollarsAMonth }) => [
        network,
        plan,
        Math.round(dollarsAMonth ?? 0),
      ]);
    expect(dollars(100)).toEqual([
      ['base', 'alchemy-paid', 196],
      ['solana', 'alchemy-paid', 40],
      ['solana', 'helius-developer', 49],
    ]);
    expect(dollars(10_000)).toEqual([
      ['base', 'alchemy-paid', 209],
      ['solana', 'alchemy-paid', 75],
      ['solana', 'helius-developer', 499],
    ]);
  });

  it('scales replicas between the least and the most of their manifests, and says what they do not carry', () => {
    const small = estimate(LOAD);
    expect(small.replicas.gateway).toEqual({ needed: 1, run: 3, most: 12 });
    expect(small.beyond).toEqual([]);
    expect(estimate({ ...LOAD, paymentsPerMonth: 10_000_000 }).beyond).toContain(
      'watcher: its container needs 1024 MiB; k8s/watcher/watcher.yaml allows 512. Raise that, or lower WATCH_DAYS.',
    );
    const { replicas, beyond } = estimate({ ...LOAD, paymentsPerMonth: 1_000_000_000, requests: 10 });
    expect(replicas.gateway).toMatchObject({ run: 12, most: 12 });
    expect(replicas.gateway.needed).toBeGreaterThan(12);
    expect(beyond).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^gateway: the peak needs \d+ replicas/),
        expect.stringMatching(/^base: the peak takes \d+ credits a second, and alchemy-paid allows 10000\./),
        expect.stringMatching(/^solana: helius-developer has too few credits/),
      ]),
    );
  });
});

describe('pf capacity', () => {
  const pf = async (...args: readonly string[]) => {
    let [out, errors] = ['', ''];
    const code = await runPf(['capacity', ...args], {
      environment: {},
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
    });
    return { code, out, errors };
  };

  it('prints what docs/operations/capacity.md shows', async () => {
    const examples = [...read('docs/operations/capacity.md').matchAll(/```text\n\$ pf capacity (.*)\n\n([^]*?)```/g)];
    expect(examples.length).toBeGreaterThan(0);
    for (const [, args = '', shown] of examples) {
      const { code, out } = await pf(...args.split(' '));
      expect({ code, out }).toEqual({ code: 0, out: shown });
    }
  });

  it('prints the same as JSON', async () => {
    const { out } = await pf('--payments-per-month', '1000000', '--networks', 'base', '--json');
    expect(JSON.parse(out)).toEqual(
      estimate({ ...LOAD, networks: ['base'], months: 12, webhooks: 1, requests: 10, events: 7 }),
    );
  });

  it.each([
    [['--payments-per-month', '0'], 'It is a whole number from 1 to 10000000000.'],
    [['--payments-per-month', '1e6'], 'It is a whole number from 1 to 10000000000.'],
    [['--payments-per-month', '5', '--peak-factor', '0.5'], 'It is a number from 1 to 1000, such as 2.5.'],
    [['--payments-per-month', '5', '--recipients', '10001'], 'It is a whole number from 1 to 10000.'],
    [['--payments-per-month', '5', '--networks', 'base,ether'], '"ether" is none of solana, solana-devnet, base,'],
    [[], "required option '--payments-per-month <number>' not specified"],
  ])('refuses %j', async (args, message) => {
    const { code, out, errors } = await pf(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(errors).toContain(message);
  });
});
