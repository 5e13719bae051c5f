import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseCommand } from '@pf/contracts';
import { type Database, openDatabase } from '@pf/database';
import { openConnection, type RedisConnection } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  openRoleLogins,
  readBackingStack,
  startCluster,
  until,
} from '@pf/testing';
import { Wallet } from 'ethers/wallet';
import { Kafka, logLevel } from 'kafkajs';

const connect = (url: string): RedisConnection =>
  openConnection(url, { log: createLogger('test', 'silent'), withoutRedis: 'the test fails' });

/** The service that calls the URLs of strangers is the likeliest to be taken over. */
describe('whoever has the credentials of the webhook service', () => {
  const stack = readBackingStack();
  let cluster: Cluster;
  let client: ApiClient;
  let gateway: Instance;
  let intent: Instance;
  let redis: RedisConnection;
  let database: Database;
  beforeAll(async () => {
    cluster = await startCluster(stack);
    [gateway, intent] = await Promise.all([cluster.start('gateway'), cluster.start('intent')]);
    client = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    redis = connect(stack.redisLogins?.['webhook'] ?? '');
    const logins = await openRoleLogins(cluster.databaseUrl);
    database = openDatabase({ url: logins?.pf_webhook ?? '', applicationName: 'thief' });
  });
  afterAll(async () => {
    redis.disconnect();
    await database.close();
    await cluster.close();
  });

  const create = async () => {
    const requestor = Wallet.createRandom().address;
    const { body } = await client.create({ chain: 'eip155:84532', token: 'USDC', amount: '5', requestor });
    return body.intent;
  };

  it('cannot have a payer sign what it says, even where it can publish on every channel', async () => {
    const [ours, thief] = [await create(), await create()];
    const payer = stack.chains['base']?.wallets[0]?.address ?? '';
    const { body: stolen } = await client.build(thief.id, payer);
    // As the operator of Redis, and while the writer is too busy to reply.
    const admin = connect(stack.redis);
    const kafka = new Kafka({ clientId: 'thief', brokers: stack.kafka.split(','), logLevel: logLevel.NOTHING });
    const consumer = kafka.consumer({ groupId: `${cluster.prefix}thief` });
    await consumer.connect();
    await consumer.subscribe({ topic: `${cluster.prefix}intent.commands`, fromBeginning: true });
    let forged = 0;
    await consumer.run({
      eachMessage: async ({ message }) => {
        const command = parseCommand(message.value?.toString() ?? '');
        if (command.type !== 'record_build' || command.intentId !== ours.id || command.replyTo === null) return;
        const { commandId, intentId, replyTo } = command;
        const build = {
          version: 1,
          fulfiller: payer,
          transaction: stolen.transaction,
          lifetime: { kind: 'unlimited' },
        };
        const outcome = { kind: 'accepted', commandId, intentId, replayed: false, build, attempts: null };
        forged += await admin.publish(replyTo, JSON.stringify([{ outcome, intent: null }]));
      },
    });
    intent.kill('SIGSTOP');
    const building = client.build(ours.id, payer);
    await until('a forged reply to reach the gateway', () => forged > 0);
    intent.kill('SIGCONT');
    const { status, body } = await building;
    await consumer.disconnect();
    admin.disconnect();

    expect(status).toBe(200);
    expect(body.intent.id).toBe(ours.id);
    expect(body.transaction).not.toEqual(stolen.transaction);
    const built = Buffer.from(body.transaction.blob, 'base64').toString('hex');
    expect(built).toContain(ours.requestor.slice(2).toLowerCase());
    expect(await readFile(gateway.log, 'utf8')).toContain('is not signed by an intent service');
  });

  it.each([
    ['publish replies', ['publish', 'pf:replies:any', '[]']],
    ['read replies', ['psubscribe', 'pf:replies:*']],
    ['read metadata off the notices', ['psubscribe', '*']],
    ['give clients their limits back', ['del', 'pf:limit:any']],
    ['empty it', ['flushall']],
    ['list the keys', ['keys', '*']],
    ['list the keys step by step', ['scan', '0']],
    ['read other keys by sorting its own', ['sort', '{pf-webhook}:any', 'by', 'nosort', 'get', 'pf:limit:*']],
    ['load a function for others to call', ['function', 'load', '#!lua name=thief']],
    ['delete functions', ['function', 'flush']],
    ['forget the scripts that others call', ['script', 'flush']],
    ['end the scripts of others', ['script', 'kill']],
    ['see who is connected', ['client', 'list']],
    ['end connections', ['client', 'kill', 'type', 'pubsub']],
    ['hold up connections', ['client', 'pause', '1']],
    ['see what others send', ['monitor']],
    ['see the channels of others', ['pubsub', 'channels']],
    ['see the users', ['acl', 'list']],
    ['read its settings', ['config', 'get', '*']],
    ['stop it', ['shutdown', 'nosave']],
  ] as const)('cannot %s in Redis', async (_what, [command, ...values]) => {
    await expect(redis.call(command, ...values)).rejects.toThrow(/^NOPERM/);
  });

  it.each([
    ['read the secrets of people', 'SELECT * FROM dashboard.credentials'],
    ['read sessions', 'SELECT * FROM dashboard.sessions'],
    ['read API keys', 'SELECT * FROM service.api_keys'],
    ['read what sealed events are opened with', 'SELECT * FROM service.intent_keys'],
    ['read signed transactions', 'SELECT * FROM service.signed_transactions'],
    ['make a person an owner', "UPDATE dashboard.members SET role = 'owner'"],
    ['change an intent', "UPDATE ledger.intents SET state = '{}'"],
    ['delete events', 'DELETE FROM ledger.intent_events'],
    ['send webhooks elsewhere', "UPDATE service.webhook_endpoints SET url = 'https://thief.example'"],
    ['change a secret', 'UPDATE service.webhook_secrets SET id = id'],
    ['fill the disk with what no table has', "SELECT lo_from_bytea(0, 'thief')"],
    ['hold up migrations', 'SELECT pg_advisory_lock(72707369)'],
    ['take all room for locks', 'SELECT pg_try_advisory_lock(n) FROM generate_series(1, 1000000) n'],
    ['hold up creates of endpoints', 'SELECT pg_advisory_xact_lock(1)'],
    ['hold up reads of the ledger', 'DO $$ BEGIN LOCK TABLE ledger.intents IN ACCESS EXCLUSIVE MODE; END $$'],
    ['end the sessions of others', 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> user'],
    ['see what others ask', "SELECT pg_read_file('postgresql.auto.conf')"],
    ['write temporary tables', 'CREATE TEMPORARY TABLE thief AS SELECT 1'],
  ] as const)('cannot %s in Postgres', async (_what, statement) => {
    await expect(database.sql.query(statement)).rejects.toThrow(/permission denied/);
  });
});
