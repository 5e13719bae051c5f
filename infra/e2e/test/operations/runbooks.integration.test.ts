import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import { addWebhookEndpoint, createStore, type DatabaseRole, listKeys } from '@pf/database';
import type { Brokers } from '@pf/local/brokers';
import { redisProgram } from '@pf/local/redis';
import {
  apiClient,
  chainOf,
  type Cluster,
  imageProgram,
  type Instance,
  readBackingStack,
  roleUrls,
  type ServiceName,
  startCluster,
  until,
} from '@pf/testing';
import { type Block, commandBlocks, SETUP } from '../../../k8s-checks/src/runbooks/blocks.ts';
import { complaining, runInShell } from '../../../k8s-checks/src/runbooks/shell.ts';
import { startSecuredKafka } from './runbooks/secured-kafka.ts';
import { type Surroundings, SURROUNDINGS } from './runbooks/surroundings.ts';
import { commitOffsets, INTENT_PASSWORD } from './runbooks/transaction.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../../../..');
const PROGRAMS = path.join(import.meta.dirname, 'runbooks');
const PASSWORDS = {
  'pf-archive': 'archive',
  'pf-gateway': 'gateway',
  'pf-intent': INTENT_PASSWORD,
  'pf-operator': 'operator',
  'pf-topics': 'topics',
  'pf-watcher': 'watcher',
  'pf-webhook': 'webhook',
} as const;
type KafkaName = keyof typeof PASSWORDS;
const SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule required';
const OPERATOR = `username="pf-operator" password="${PASSWORDS['pf-operator']}"`;
/** Of an account's URL in live mode, as in the pages. */
const SHOP = 'https://shop.example/webhooks';
interface Group {
  readonly pages: string;
  readonly pattern: RegExp;
  /** Whether the commands wait for an intent service. */
  readonly writes?: boolean;
}
/** By the beginnings of their names: together they would take longer than a test may. */
const GROUPS: readonly Group[] = [
  { pages: 'runbooks of a to d', pattern: /^runbooks\/[a-d]/ },
  { pages: 'runbooks of e to l', pattern: /^runbooks\/[e-l]/ },
  { pages: 'runbooks of m to z', pattern: /^runbooks\/[m-z]/ },
  { pages: 'pages beside the runbooks', pattern: /^(?!runbooks\/|privacy\.md)/ },
  { pages: 'page on privacy', pattern: /^privacy\.md/, writes: true },
];
/** None of the services reads it. */
const NO_PARTITION = 99;

/** As a person types it into psql. */
const typed = ({ place, language, code }: Block): Block =>
  language === 'sh'
    ? { place, language, code }
    : { place, language: 'sh', code: `psql "$DATABASE_URL" -c "$(cat <<'STATEMENTS'\n${code}\nSTATEMENTS\n)"\n` };

describe('The commands of docs/operations, with the rights of the operator', () => {
  let folder: string;
  let brokers: Brokers;
  let cluster: Cluster;
  let gateway: Instance;
  let intentId: string;
  let endpointId = '';
  let surroundingsFile: string;
  let deliveryId = '';
  /** The command of a shell. */
  let redisCli = '';

  /** The variables of a user of Kafka, without prefixes as in production. */
  const kafka = (name: KafkaName): Readonly<Record<string, string>> => ({
    KAFKA_BROKERS: brokers.addresses,
    KAFKA_PARTITIONS: '6',
    KAFKA_REPLICATION: '1',
    KAFKA_PREFIX: '',
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: name,
    KAFKA_SASL_PASSWORD: PASSWORDS[name],
  });
  const start = (service: ServiceName): Promise<Instance> =>
    cluster.start(service, { env: kafka(`pf-${service}` as KafkaName) });
  const stop = async (service: Instance): Promise<void> => {
    service.kill('SIGTERM');
    await service.exited;
  };
  const databaseOf = (role: DatabaseRole): string => roleUrls(cluster.databaseUrl)[role];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-runbooks-'));
    [brokers, cluster] = await Promise.all([
      startSecuredKafka(ROOT, path.join(folder, 'kafka'), PASSWORDS),
      startCluster(),
    ]);
    await run(process.execPath, [imageProgram(), 'topics'], {
      env: { PATH: process.env['PATH'], ...kafka('pf-topics') },
    });
    const [intent, archive, watcher] = await Promise.all([
      start('intent'),
      start('archive'),
      start('watcher'),
      start('webhook'),
    ]);
    gateway = await start('gateway');
    const api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    const created = await api.create({
      chain: 'eip155:84532',
      token: 'USDC',
      amount: '1',
      requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    });
    intentId = created.body.intent.id;
    await until(
      'the archive to have the intent',
      async () => (await readdir(path.join(cluster.archive, 'events'))).length > 0,
    );
    // A network of the pages was watched, too.
    await until('the watcher to have a cursor', async () => {
      const { rowCount } = await cluster.database.sql.query(
        `INSERT INTO service.network_watches (chain, holder, epoch, expires_at, updated_at, cursor, shards)
           SELECT 'eip155:8453', holder, epoch, expires_at, updated_at, cursor, shards FROM service.network_watches
            WHERE cursor IS NOT NULL`,
      );
      return rowCount === 1;
    });
    // The pages stop the intent service before they set its offsets back.
    for (const service of [intent, archive, watcher]) await stop(service);
    const live = { accountId: cluster.accountId, livemode: true };
    await addWebhookEndpoint(cluster.database, { ...live, url: SHOP });
    const { webhooks } = createStore(cluster.database);
    await webhooks.positions([NO_PARTITION]);
    const event = {
      eventId: 'evt_runbooks',
      eventType: 'intent.created',
      intentId: newIntentId(0),
      version: 1,
      ...live,
      traceparent: null,
      requestId: null,
    } as const;
    const batch = { partition: NO_PARTITION, from: 0n, next: 1n, events: [event] };
    const [delivery] = (await webhooks.recordDeliveries([batch], new Date())).due;
    ({ id: deliveryId, endpointId } = delivery ?? { id: '', endpointId: '' });
    await cluster.database.sql.query('DELETE FROM service.webhook_positions WHERE partition = $1', [NO_PARTITION]);
    await cluster.database.sql.query(
      `UPDATE service.webhook_endpoints SET disabled_at = now(), disabled_by = 'failing' WHERE id = $1`,
      [endpointId],
    );
    await commitOffsets(brokers.addresses);
    await allowScram();
    redisCli = await redisCommand();
    await run('sh', ['-c', `${redisCli} ACL SETUSER pf-webhook '>the-old-password'`]);
    surroundingsFile = path.join(folder, 'surroundings.json');
    await writeFile(surroundingsFile, JSON.stringify(await surroundings()));
  });
  afterAll(async () => {
    await run('sh', ['-c', `${redisCli} ACL SETUSER pf-webhook '<the-new-password'`]);
    await cluster.close();
    await brokers.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The user of Kafka's tools logs in as in production, which only the broker's administrator can let it. */
  async function allowScram(): Promise<void> {
    const login = path.join(folder, 'admin.properties');
    await writeFile(
      login,
      [
        'security.protocol=SASL_PLAINTEXT',
        'sasl.mechanism=PLAIN',
        'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required ' +
          'username="admin" password="admin";',
      ].join('\n'),
    );
    const jars = path.join(ROOT, '.tools/kafka/*');
    const change = ['--alter', '--entity-type', 'users', '--entity-name', 'pf-operator'];
    const password = `SCRAM-SHA-512=[password=${PASSWORDS['pf-operator']}]`;
    await run('java', [
      ...['-cp', jars, 'kafka.admin.ConfigCommand', '--bootstrap-server', brokers.addresses],
      ...['--command-config', login, ...change, '--add-config', password],
    ]);
  }

  async function redisCommand(): Promise<string> {
    const { file, env } = await redisProgram(path.join(ROOT, '.tools'));
    const program = path.join(path.dirname(file), 'redis-cli');
    const variables = `PATH='${process.env['PATH']}' LD_LIBRARY_PATH='${env?.['LD_LIBRARY_PATH'] ?? ''}'`;
    return `${variables} '${program}' -e -u '${readBackingStack().redis}'`;
  }

  async function surroundings(): Promise<Surroundings> {
    const brokerFolder = path.join(folder, 'broker');
    await mkdir(brokerFolder);
    const archive = { ARCHIVE_URL: pathToFileURL(cluster.archive).href };
    const secretsKey = { SECRETS_KEY: cluster.secretsKey.toString('base64') };
    return {
      jars: path.join(ROOT, '.tools/kafka'),
      brokers: brokers.addresses,
      brokerFolder,
      image: imageProgram(),
      // What the manifests give them.
      environments: {
        operator: { DATABASE_URL: databaseOf('pf_operator'), ...kafka('pf-operator'), ...secretsKey },
        // As docs/operations/log-set-back.md patches it.
        'operator of an import': {
          DATABASE_URL: databaseOf('pf_operator'),
          ...kafka('pf-intent'),
          ...secretsKey,
          ...archive,
        },
        archive: { DATABASE_URL: databaseOf('pf_archive'), ...kafka('pf-archive'), ...archive },
        gateway: { DATABASE_URL: databaseOf('pf_gateway'), SCREENING_LIST_FILE: cluster.sanctionsListFile },
        intent: {},
      },
      values: {
        PATH: process.env['PATH'] ?? '',
        'secret/database-operator/DATABASE_URL': databaseOf('pf_operator'),
        'secret/database-owner/DATABASE_URL': cluster.databaseUrl,
        'secret/pf-operator/sasl.jaas.config': `${SCRAM} ${OPERATOR};`,
        'secret/pf-cluster-ca-cert/ca.crt': rootCertificates[0] ?? '',
        'configmap/kafka-ca/ca.crt': rootCertificates[1] ?? '',
      },
      replaced: { 'http://127.0.0.1:4001': gateway.health, '"/archive"': JSON.stringify(cluster.archive) },
      victimUrl: databaseOf('pf_gateway'),
      refused: {
        // One page has enabled it before.
        'pf webhooks enable': 'is not a live URL that was disabled',
        // Nothing was set back here.
        'INSERT INTO service.accounts': 'duplicate key',
      },
    };
  }

  it.each(GROUPS)('do what they say in the $pages', async ({ pages, pattern, writes = false }) => {
    const intent = writes ? await start('intent') : null;
    const blocks = commandBlocks(ROOT).filter(({ place }) => place.startsWith(SETUP) || pattern.test(place));
    const program = (name: string): string =>
      `exec '${process.execPath}' --conditions=source '${path.join(PROGRAMS, name)}' "$@"\n`;
    // The other commands of kubectl are those of `npm run test:k8s`.
    const kubectl = `case "$*" in *' exec '* | *' -o jsonpath='*) ${program('kubectl-process.ts').trim()} ;; esac\n`;
    const [key] = await listKeys(cluster.database, { accountId: cluster.accountId });
    const keys = path.join(cluster.archive, 'keys');
    const [published = ''] = await readdir(keys);
    const { publicKey } = JSON.parse(await readFile(path.join(keys, published), 'utf8')) as { publicKey: string };
    const shell = path.join(folder, pages.replaceAll(' ', '-'));
    const { chains } = readBackingStack();
    const complaints = await runInShell(blocks.map(typed), {
      root: ROOT,
      folder: shell,
      tools: ['curl', 'jq'],
      programs: {
        kubectl: `#!/bin/sh\n${kubectl}`,
        psql: `#!/bin/sh\n${program('psql-process.ts')}`,
        'redis-cli': complaining(redisCli),
      },
      environment: {
        [SURROUNDINGS]: surroundingsFile,
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
        RPC_BASE: chainOf({ chains } as never, 'base').rpcUrl,
        RPC_SOLANA: chainOf({ chains } as never, 'solana').rpcUrl,
      },
      placeholders: {
        'pi_…': intentId,
        pi_5mUj8xNgYq3vWJ2hTfKd7: intentId,
        'acct_…': cluster.accountId,
        acct_3mJr7AoUXx2Wqd: cluster.accountId,
        'key_…': key?.id ?? '',
        'whd_…': deliveryId,
        'whe_…': endpointId,
        'sha256:…': 'sha256:any',
        '0x…': `0x${'7'.repeat(40)}`,
        "PASSWORD '…'": "PASSWORD 'any'",
        'S3tH…=': publicKey,
        'intent-…': 'intent-0',
        'gateway-…': 'gateway-0',
        'watcher-base-…': 'watcher-base-0',
      },
    });
    if (intent) await stop(intent);
    expect({
      complaints,
      output: complaints.length > 0 && (await readFile(path.join(shell, 'output'), 'utf8')),
    }).toEqual({
      complaints: [],
      output: false,
    });
  });
});
