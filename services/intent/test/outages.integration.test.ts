import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { trustedClock } from '@pf/clock';
import { findOutcomes } from '@pf/database';
import { gateway } from '@pf/domain/testing';
import {
  type Cluster,
  compareProjection,
  readBackingStack,
  readWholeLog,
  startCluster,
  startTcpProxy,
  type TcpProxy,
  until,
} from '@pf/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { create, of, PARTITIONS } from './messages.ts';
import { CommandClient, type RunningWriter, startWriter, type WriterLocation } from './running-writer.ts';

// The machine may be busy with the other processes of the stack.
let cluster: Cluster;
let client: CommandClient;
let proxies: { readonly database: TcpProxy; readonly redis: TcpProxy };
let location: WriterLocation;
let running: RunningWriter | null = null;

beforeAll(async () => {
  cluster = await startCluster();
  client = await CommandClient.open(cluster.log, cluster.database);
  const { database, redis } = readBackingStack();
  proxies = { database: await startTcpProxy(new URL(database).host), redis: await startTcpProxy(new URL(redis).host) };
  location = {
    databaseUrl: cluster.databaseUrl,
    prefix: cluster.prefix,
    sessionTimeoutMs: 1_000,
    proxies: { database: proxies.database.address, redis: proxies.redis.address },
  };
});

afterEach(async () => {
  await Promise.all([proxies.database.restore(), proxies.redis.restore()]);
  await running?.stop();
  running = null;
  // Whatever the fault: the projection equals the log, and no command was decided twice.
  const { intents, problems } = await readWholeLog(cluster);
  expect(problems).toEqual([]);
  expect(await compareProjection(cluster.database, intents)).toEqual([]);
});

afterAll(async () => {
  await Promise.all([client.close(), proxies.database.close(), proxies.redis.close()]);
  await cluster.close();
});

describe('A writer killed between commit and projection', () => {
  it('leaves its reply to the next owner, which reads the outcome from the log', async () => {
    const dying = fork(path.join(import.meta.dirname, 'dying-writer.ts'), [JSON.stringify(location)], {
      execArgv: ['--conditions=source', '--import', 'tsx'],
    });
    await once(dying, 'message');
    const command = create();
    const exited = once(dying, 'exit');
    await client.send({ ...command, replyTo: client.channel });
    expect(await exited).toEqual([null, 'SIGKILL']);
    expect(await findOutcomes(cluster.database, [command.commandId])).toEqual([]);
    expect((await readWholeLog(cluster)).events.map(({ commandId }) => commandId)).toContain(command.commandId);

    running = await startWriter(location);
    const outcome = await client.outcome(command.commandId);
    expect(outcome).toMatchObject({ kind: 'accepted', intentId: command.intentId, replayed: false });
    const [reply] = await until(
      'the reply',
      () => client.repliesTo(command.commandId).length > 0 && client.repliesTo(command.commandId),
    );
    expect(reply).toMatchObject({ outcome, intent: { id: command.intentId, state: 'created' } });
    // The same command again is known.
    await client.send({ ...command, replyTo: client.channel });
    await until('the second reply', () => client.repliesTo(command.commandId).length === 2);
    expect(client.repliesTo(command.commandId)[1]).toEqual(reply);
  });
});

/** A writer whose clock is behind drops no command as too late, however long an outage takes on a busy machine. */
const PATIENT = trustedClock(() => Date.now() - 60_000);

describe('An outage of Postgres', () => {
  it('delays commands, which are decided when Postgres is back', async () => {
    running = await startWriter(location, { clock: PATIENT });
    const { owner } = running;
    await client.execute(create({}, { partition: 0 }));
    await proxies.database.cut();
    const command = create({}, { partition: 0 });
    await client.send({ ...command, replyTo: client.channel });
    await until('the partition to be given up', () => !owner.owned().includes(0));
    expect(client.repliesTo(command.commandId)).toEqual([]);
    await proxies.database.restore();
    await until('the reply', () => client.repliesTo(command.commandId).length > 0);
    expect(client.repliesTo(command.commandId)).toMatchObject([{ outcome: { kind: 'accepted' } }]);
    await until('all partitions', () => owner.owned().length === PARTITIONS);
  });

  it('between commit and projection delays the projection and the reply until Postgres is back', async () => {
    let cutting = true;
    running = await startWriter(location, {
      clock: PATIENT,
      wrap: (writer) => {
        const project = writer.project.bind(writer);
        writer.project = async (...batch) => {
          if (cutting) await proxies.database.cut();
          cutting = false;
          return project(...batch);
        };
        return writer;
      },
    });
    const command = create();
    await client.send({ ...command, replyTo: client.channel });
    await until('the event in the log', async () =>
      (await readWholeLog(cluster)).events.some(({ commandId }) => commandId === command.commandId),
    );
    expect(await findOutcomes(cluster.database, [command.commandId])).toEqual([]);
    await proxies.database.restore();
    await until('the reply', () => client.repliesTo(command.commandId).length > 0);
    expect(client.repliesTo(command.commandId)).toMatchObject([
      { outcome: { kind: 'accepted' }, intent: { id: command.intentId } },
    ]);
  });
});

describe('An outage of Redis', () => {
  it.each([
    ['disconnected', () => proxies.redis.cut()],
    ['silent', async () => proxies.redis.freeze()],
  ])('leaves outcomes in Postgres while it is %s, and replies resume after it', async (_how, interrupt) => {
    running = await startWriter(location);
    await until('a reply', async () => (await client.execute(create())).outcome.kind === 'accepted');
    await interrupt();
    const command = create();
    await client.send({ ...command, replyTo: client.channel });
    expect(await client.outcome(command.commandId)).toMatchObject({ kind: 'accepted' });
    expect(await client.outcome((await sendOnly(of(command.intentId, gateway.cancel()))).commandId)).toMatchObject({
      kind: 'accepted',
    });
    await proxies.redis.restore();
    await until('a reply', async () => {
      const probe = await sendOnly(create());
      await client.outcome(probe.commandId);
      return client.repliesTo(probe.commandId).length > 0;
    });
  });

  const sendOnly = async (command: ReturnType<typeof create>): Promise<ReturnType<typeof create>> => {
    await client.send({ ...command, replyTo: client.channel });
    return command;
  };
});
