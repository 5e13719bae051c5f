import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { networkOf } from '@pf/chains/networks';
import {
  type DepositMessage,
  encodeObservation,
  observationKey,
  observationKeys,
  type ObservationMessage,
} from '@pf/contracts';
import { type Database, openAccount, type OpenedAccount, openDatabase } from '@pf/database';
import type { ChainId } from '@pf/domain';
import { createEventLog, type EventLog } from '@pf/event-log';
import { writeListFile } from '@pf/screening/list-file';
import { behindProviders } from './behind-providers.ts';
import { freePorts } from './free-ports.ts';
import { imageProgram } from './image.ts';
import { createTestDatabase } from './test-database.ts';
import { type BackingStack, readBackingStack, type StackChain, stackFile } from './stack.ts';
import { until } from '../until.ts';

export type ServiceName = 'gateway' | 'intent' | 'watcher' | 'webhook' | 'dashboard' | 'checkout' | 'archive';
/** What is open to the outside has its probes on another port. Gateways of earlier releases have them on their own. */
const hasOwnHealthPort = (service: ServiceName, release?: string): boolean =>
  service === 'dashboard' || service === 'checkout' || (service === 'gateway' && release === undefined);
/** A service starts within two seconds; on a busy machine it takes much longer. */
const READY_WITHIN_MS = 120_000;
const PARTITIONS = 6;
const BASE_SEPOLIA = 'eip155:84532' as ChainId;
/** Unused wallets, sanctioned in tests. */
export const LISTED = [
  { address: '0x5A9C1A2b3C4D5E6f708192A3b4C5d6e7F8091a2b', label: 'ETH', uid: '90001', name: 'TEST ENTITY ONE' },
  { address: '9KzxTkXZyhNqV5mwPfgE3b1Qq5wJ7vC8n2RtUoYdLsHm', label: 'SOL', uid: '90002', name: 'TEST ENTITY TWO' },
] as const;

/** A running process of a service. */
export interface Instance {
  readonly service: ServiceName;
  /** Its URL: of its API (gateway, dashboard), its page (checkout) or of its health endpoints. */
  readonly url: string;
  /** The URL of its health endpoints. */
  readonly health: string;
  readonly pid: number;
  /** The file with its output. */
  readonly log: string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the process is gone, and all that it has put out is in the file. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** Addresses that replace those of backing services: a test can put a proxy there and cut the connection. */
export type Detours = Partial<Record<'database' | 'redis' | 'kafka', string>>;

export interface StartOptions {
  readonly detours?: Detours;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether to wait until it is ready. */
  readonly wait?: boolean;
  /** The folder of another release, whose sources run. */
  readonly release?: string;
}

/**
 * Services that belong to one test. They use the stack's Postgres, Redis, Kafka and chains, but a database and topics
 * of their own, so they can be killed, paused and disconnected without affecting anything else.
 */
export interface Cluster {
  readonly database: Database;
  /** Of the owner; the services connect with their own roles. */
  readonly databaseUrl: string;
  readonly log: EventLog;
  readonly prefix: string;
  readonly accountId: string;
  readonly apiKeys: OpenedAccount['apiKeys'];
  readonly webhookSecrets: OpenedAccount['webhookSecrets'];
  /** SECRETS_KEY of the services. */
  readonly secretsKey: Buffer;
  /** OBSERVATION_SECRET of the intent services. */
  readonly observationSecret: Buffer;
  /** DASHBOARD_PASS_SECRET of the gateways and dashboards. */
  readonly passSecret: Buffer;
  /** The addresses that the gateways' screening rejects; initially `LISTED`. */
  readonly sanctionsListFile: string;
  /** The folder that the archive service writes to. */
  readonly archive: string;
  /** What the watcher of Base Sepolia writes to the log about this. */
  asWatcher(message: ObservationMessage | DepositMessage): string;
  /** Starts a process and waits until it is ready. */
  start(service: ServiceName, options?: StartOptions): Promise<Instance>;
  /** Kills the running processes and drops the database. */
  close(): Promise<void>;
}

/** A URL with another host and port. */
export function via(url: string, hostAndPort: string): string {
  const changed = new URL(url);
  changed.host = hostAndPort;
  return changed.href;
}

/** The variables with these chains' upstreams, in the place of all others of these chains. */
export function upstreamEnvironment(chains: readonly StackChain[]): Record<string, string> {
  const upstreams = chains.map(({ caip2, rpcUrl }) => [networkOf(caip2 as ChainId).upstreamVariable, rpcUrl]);
  return { ...(Object.fromEntries(upstreams) as Record<string, string>), RPC_CONFIG: '' };
}

/**
 * A run of all tests starts hundreds of services, each for seconds. Source maps, which containers read, would be a
 * sixth of a start, and a young generation that begins small is collected over and over.
 */
const CHEAP_START = ['--min-semi-space-size=16'] as const;

/**
 * @param own chains that replace the stack's; the watchers observe these, or Base without them
 * @param replication replicas of each topic, on as many brokers
 */
export async function startCluster(
  stack: BackingStack = readBackingStack(),
  own: readonly StackChain[] = [],
  replication = 1,
): Promise<Cluster> {
  const { name, url: databaseUrl, logins, drop } = await createTestDatabase(stack.database);
  const database = openDatabase({ url: databaseUrl, applicationName: 'test' });
  const secretsKey = randomBytes(32).toString('base64');
  const passSecret = randomBytes(32).toString('base64url');
  const account = await openAccount(database, Buffer.from(secretsKey, 'base64'), { name: 'test' });
  const prefix = `${name}.`;
  const log = createEventLog({
    brokers: stack.kafka.split(','),
    partitions: PARTITIONS,
    clientId: 'test',
    prefix,
    replication,
  });
  await log.createTopics();
  const logs = path.join(path.dirname(stackFile()), 'test-logs', name);
  mkdirSync(logs, { recursive: true });
  const sanctionsListFile = path.join(logs, 'sanctions-list.json');
  await writeListFile(sanctionsListFile, {
    version: 1,
    source: 'test',
    publishedOn: null,
    fetchedAt: new Date().toISOString(),
    count: LISTED.length,
    addresses: [...LISTED],
  });
  const behind = await behindProviders(own);
  const archive = path.join(logs, 'archive');
  const chains = [
    ...Object.values(stack.chains).filter(({ caip2 }) => !own.some((chain) => chain.caip2 === caip2)),
    ...own,
  ];
  const watched = own.length === 0 ? [BASE_SEPOLIA] : own.map(({ caip2 }) => caip2);
  const observationSecret = Buffer.from(secretsKey);
  const running = new Set<Instance>();
  let started = 0;

  async function start(
    service: ServiceName,
    { detours = {}, env = {}, wait = true, release }: StartOptions = {},
  ): Promise<Instance> {
    const [port = 0, healthPort = 0] = await freePorts(2);
    // Each service has its own users, so every end-to-end test shows that their rights suffice.
    const ownUrl = logins?.[`pf_${service}`] ?? databaseUrl;
    const redisUrl = stack.redisLogins?.[service] ?? stack.redis;
    const program = release
      ? ['--conditions=source', path.join(release, 'services', service, 'src/main.ts')]
      : [...CHEAP_START, imageProgram(), service];
    const file = path.join(logs, `${service}-${++started}.log`);
    const output = openSync(file, 'w');
    const child = spawn(process.execPath, program, {
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        LOG_LEVEL: 'info',
        DATABASE_URL: detours.database ? via(ownUrl, detours.database) : ownUrl,
        REDIS_URL: detours.redis ? via(redisUrl, detours.redis) : redisUrl,
        KAFKA_BROKERS: detours.kafka ?? stack.kafka,
        KAFKA_PARTITIONS: String(PARTITIONS),
        KAFKA_PREFIX: prefix,
        KAFKA_REPLICATION: String(replication),
        REDIS_PREFIX: prefix,
        KAFKA_SESSION_TIMEOUT_MS: '3000',
        SECRETS_KEY: secretsKey,
        DASHBOARD_PASS_SECRET: passSecret,
        REPLY_SECRET: secretsKey,
        OBSERVATION_SECRET: secretsKey,
        OBSERVATION_KEYS: observationKeys(observationSecret, watched),
        ...upstreamEnvironment(chains),
        ...behind.environment,
        NETWORKS: watched.join(','),
        WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true',
        // Tests and benchmarks use one API key more than a client may; tests of rate limits set their own limit.
        RATE_LIMIT_FACTOR: '100',
        SCREENING_LIST_FILE: sanctionsListFile,
        HEALTH_PORT: String(hasOwnHealthPort(service) ? healthPort : port),
        ...(service === 'gateway' && { GATEWAY_PORT: String(port) }),
        ...(service === 'dashboard' && {
          DASHBOARD_PORT: String(port),
          DASHBOARD_URL: `http://127.0.0.1:${port}`,
          // Tests that forward requests start a gateway and set its URL.
          GATEWAY_URL: 'http://127.0.0.1:9',
          API_URL: 'https://api.example',
          SESSION_SECRET: secretsKey,
          MAIL_URL: 'log:',
          MAIL_FROM: 'dashboard@localhost',
        }),
        ...(service === 'archive' && {
          ARCHIVE_URL: pathToFileURL(archive).href,
          ARCHIVE_SIGNING_KEY: secretsKey,
          ARCHIVE_FLUSH_SECONDS: '1',
          ARCHIVE_DELIVERIES_SECONDS: '1',
        }),
        ...(service === 'checkout' && {
          CHECKOUT_PORT: String(port),
          CHECKOUT_URL: `http://127.0.0.1:${port}`,
          // As above.
          GATEWAY_URL: 'http://127.0.0.1:9',
        }),
        ...env,
      },
      // Through pipes, what the services write would keep the test busy.
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    const exited = once(child, 'exit').then(([code, signal]) => {
      running.delete(instance);
      return { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
    const instance: Instance = {
      service,
      url: `http://127.0.0.1:${port}`,
      health: `http://127.0.0.1:${hasOwnHealthPort(service, release) ? healthPort : port}`,
      pid: child.pid ?? 0,
      log: file,
      exited,
      kill: (signal) => child.kill(signal),
    };
    running.add(instance);
    if (wait) {
      await until(
        `${service} to be ready (its log: ${file})`,
        async () => {
          if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
          return (await fetch(`${instance.health}/readyz`)).ok;
        },
        READY_WITHIN_MS,
      );
    }
    return instance;
  }

  return {
    database,
    databaseUrl,
    log,
    prefix,
    accountId: account.id,
    apiKeys: account.apiKeys,
    webhookSecrets: account.webhookSecrets,
    secretsKey: Buffer.from(secretsKey, 'base64'),
    observationSecret,
    passSecret: Buffer.from(passSecret),
    sanctionsListFile,
    archive,
    asWatcher: (message) =>
      encodeObservation({ ...message, chain: BASE_SEPOLIA }, observationKey(observationSecret, BASE_SEPOLIA)),
    start,
    async close() {
      // Every step runs, also after a failed one: resources that stay open would hide the cause.
      const failures: unknown[] = [];
      for (const step of [
        () => Promise.all([...running].map((instance) => (instance.kill('SIGKILL'), instance.exited))),
        () => behind.stop(),
        () => database.close(),
        // Topics and databases that stay behind would slow down later tests.
        () => log.deleteTopics(),
        drop,
      ])
        await step().catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw new AggregateError(failures, `the cluster ${name} was not cleaned up`);
    },
  };
}
