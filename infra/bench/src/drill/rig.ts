import { execFile, type ExecFileException } from 'node:child_process';
import { readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { addWebhookEndpoint } from '@pf/database';
import { createEventLog, type EventLog } from '@pf/event-log';
import { type Broker, type Brokers, startBrokers } from '@pf/local/brokers';
import { type ReplicatedPostgres, startReplicatedPostgres } from '@pf/local/replicated-postgres';
import {
  type Cluster,
  imageProgram,
  startCluster,
  type StartOptions,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { startRedis } from '../chaos/redis.ts';
import { BenchResources } from '../bench-resources.ts';
import { KeptServices } from '../kill-brokers/services.ts';

const run = promisify(execFile);
const BLOCK_MS = 500;
const NEW_GATEWAY_MS = 60_000;
const MAX_OUTPUT = 64 * 1024 * 1024;

/** How a command ended: its exit code, its JSON, and what it wrote to stderr. */
interface Ended {
  readonly code: number;
  readonly answer: unknown;
  readonly errors: string;
}

/** A whole deployment of its own that a drill may destroy: one broker, Postgres, Redis, a chain, every service. */
export interface DrillRig {
  readonly cluster: Cluster;
  readonly services: KeptServices;
  readonly chain: Anvil;
  readonly receiver: WebhookReceiver;
  readonly postgres: ReplicatedPostgres;
  /** The cluster that is used now. */
  readonly brokers: Brokers;
  /** The folder with its data. */
  readonly folder: string;
  /** The log of the cluster that is used now. */
  log(): EventLog;
  /** The public key of the archive, as the service has logged it. */
  archiveKey(): Promise<string>;
  /** `pf … --json`, with what an operator has in the environment. */
  pf(...args: readonly string[]): Promise<Ended>;
  /** `pf …` that must succeed. @returns its JSON */
  mustPf(...args: readonly string[]): Promise<unknown>;
  /** A job of the image, such as `topics`. */
  job(name: string): Promise<void>;
  /** What services that are started now get. */
  options(): StartOptions;
  /** The base URL of the API with `/v1`; waits until a gateway runs. */
  api(): Promise<string>;
  /** Copies the disks of the broker at one moment, as a volume's snapshot does. */
  snapshotBroker(): Promise<string>;
  /** Ends the broker and starts it on a snapshot of its disks, or on empty ones. */
  replaceDisks(snapshot: string | null): Promise<void>;
  /** Another cluster, empty. */
  startOtherBrokers(): Promise<Brokers>;
  /** From now on services that are started, and `pf`, use it. */
  moveTo(brokers: Brokers): void;
  close(keep: boolean): Promise<void>;
}

export async function startDrillRig(): Promise<DrillRig> {
  const resources = await BenchResources.in('drill');
  const { folder } = resources;
  try {
    const [chain, postgres, first, redis, receiver] = await Promise.all([
      resources.start(startAnvil({ blockMs: BLOCK_MS }), (resource) => resource.stop()),
      resources.start(startReplicatedPostgres(path.join(folder, 'postgres')), (resource) => resource.close()),
      resources.start(startBrokers({ count: 1, folder: path.join(folder, 'kafka') }), (resource) => resource.close()),
      resources.start(startRedis(folder), (resource) => resource.close()),
      resources.start(webhookReceiver(), (resource) => resource.close()),
    ]);
    let brokers = first;
    const cluster = await startCluster(
      { database: postgres.url, redis: redis.url, kafka: first.addresses, chains: {} },
      [chain],
    );
    resources.endBy(async () => {
      // The former cluster of a move is down: its topics are deleted with its disks.
      const [node] = first.nodes;
      if (node?.pid === null) await node.start();
      await cluster.close();
    });
    const services = new KeptServices(cluster);
    resources.endBy(() => services.stop());
    await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url: receiver.url });

    const environment = (): NodeJS.ProcessEnv => ({
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      DATABASE_URL: cluster.databaseUrl,
      KAFKA_BROKERS: brokers.addresses,
      KAFKA_PARTITIONS: String(cluster.log.partitions),
      KAFKA_PREFIX: cluster.prefix,
      SECRETS_KEY: cluster.secretsKey.toString('base64'),
      ARCHIVE_URL: pathToFileURL(cluster.archive).href,
    });
    const program = imageProgram();
    const image = async (args: readonly string[]): Promise<Ended> => {
      const { code, stdout, stderr } = await run(process.execPath, ['--enable-source-maps', program, ...args], {
        env: environment(),
        maxBuffer: MAX_OUTPUT,
      }).then(
        (ended) => ({ code: 0, ...ended }),
        (error: ExecFileException & { readonly stdout: string; readonly stderr: string }) => ({
          code: Number(error.code ?? 1),
          stdout: error.stdout,
          stderr: error.stderr,
        }),
      );
      return { code, answer: parsed(stdout), errors: stderr };
    };
    // What is archived is verified for all accounts at once.
    const pf = (...args: readonly string[]): Promise<Ended> =>
      image(['pf', ...args, ...(args[0] === 'ledger' ? [] : ['--account', cluster.accountId]), '--json']);
    const must = async (name: string, ending: Promise<Ended>): Promise<unknown> => {
      const { code, answer, errors } = await ending;
      if (code !== 0) throw new Error(`\`${name}\` ended with ${code}: ${errors || JSON.stringify(answer)}`);
      return answer;
    };
    const node = (): Broker => {
      const [only] = brokers.nodes;
      if (!only) throw new Error('The drill has no broker.');
      return only;
    };
    const disks = path.join(folder, 'kafka/broker-1/log');
    let snapshots = 0;
    return {
      cluster,
      services,
      chain,
      receiver,
      postgres,
      get brokers() {
        return brokers;
      },
      folder,
      log: () =>
        createEventLog({
          brokers: brokers.addresses.split(','),
          partitions: cluster.log.partitions,
          clientId: 'drill',
          prefix: cluster.prefix,
        }),
      async archiveKey() {
        const text = await readFile(services.of('archive')[0]?.log ?? '', 'utf8');
        const [, key] = /"publicKey":"([^"]+)"/.exec(text) ?? [];
        if (key === undefined) throw new Error('The archive service has not logged its public key.');
        return key;
      },
      pf,
      mustPf: (...args) => must(`pf ${args.join(' ')}`, pf(...args)),
      job: async (name) => void (await must(name, image([name]))),
      options: () => ({ env: { KAFKA_BROKERS: brokers.addresses } }),
      api: () =>
        until(
          'a gateway',
          async () => {
            const url = services.url('gateway');
            const [instance] = services.of('gateway');
            return instance && url !== null && (await fetch(`${instance.health}/readyz`)).ok && `${url}/v1`;
          },
          NEW_GATEWAY_MS,
        ),
      async snapshotBroker() {
        const target = path.join(folder, `snapshot-${(snapshots += 1)}`);
        node().suspend();
        // Indexes are allocated in advance: their holes are not copied.
        await run('cp', ['-a', '--sparse=always', disks, target]).finally(() => node().resume());
        return target;
      },
      async replaceDisks(snapshot) {
        await node().kill();
        await rm(disks, { recursive: true });
        if (snapshot !== null) await rename(snapshot, disks);
        await node().start();
      },
      async startOtherBrokers() {
        return await resources.start(startBrokers({ count: 1, folder: path.join(folder, 'mirror') }), (resource) =>
          resource.close(),
        );
      },
      moveTo(next) {
        brokers = next;
      },
      close: (keep) => resources.close(keep),
    };
  } catch (error) {
    await resources.close(false);
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Jobs write lines of a log.
    return text;
  }
}
