import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
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
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { create, of, PARTITIONS } from './messages.ts';
import { Asker, type Place, type RunningWriter, startWriter } from './running-writer.ts';

// The machine may be busy with the other processes of the stack.
jest.setTimeout(60_000);

let cluster: Cluster;
let asker: Asker;
let proxies: { readonly database: TcpProxy; readonly redis: TcpProxy };
let place: Place;
let running: RunningWriter | null = null;

beforeAll(async () => {
  cluster = await startCluster();
  asker = await Asker.open(cluster.log, cluster.database);
  const { database, redis } = readBackingStack();
  proxies = { database: await startTcpProxy(new URL(database).host), redis: await startTcpProxy(new URL(redis).host) };
  place = {
    databaseUrl: cluster.databaseUrl,
    prefix: cluster.prefix,
    sessionTimeoutMs: 1_000,
    detours: { database: proxies.database.address, redis: proxies.redis.address },
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
  await Promise.all([asker.close(), proxies.database.close(), proxies.redis.close()]);
  await cluster.close();
});

describe('A writer killed between commit and projection', () => {
  it('leaves its reply to the next owner, which reads the outcome from the log', async () => {
    const dying = fork(path.join(import.meta.dirname, 'dying-writer.ts'), [JSON.stringify(place)], {
      execArgv: ['--conditions=source', '--import', 'tsx'],
    });
    await once(dying, 'message');
    const command = create();
    const exited = once(dying, 'exit');
    await asker.send({ ...command, replyTo: asker.channel });
    expect(await exited).toEqual([null, 'SIGKILL']);
    expect(await findOutcomes(cluster.database, [command.commandId])).toEqual([]);
    expect((await readWholeLog(cluster)).events.map(({ commandId }) => commandId)).toContain(command.commandId);

    running = await startWriter(place);
    const outcome = await asker.outcome(command.commandId);
    expect(outcome).toMatchObject({ kind: 'accepted', intentId: command.intentId, replayed: false });
    const [reply] = await until(
      'the reply',
      () => asker.repliesTo(command.commandId).length > 0 && asker.repliesTo(command.commandId),
    );
    expect(reply).toMatchObject({ outcome, intent: { id: command.intentId, state: 'created' } });
    // The same command again is known.
    await asker.send({ ...command, replyTo: asker.channel });
    await until('the second reply', () => asker.repliesTo(command.commandId).length === 2);
    expect(asker.repliesTo(command.commandId)[1]).toEqual(reply);
  });
});

describe('An outage of Postgres', () => {
  it('delays commands, which are decided when Postgres is back', async () => {
    running = await startWriter(place);
    const { owner } = running;
    await asker.ask(create({}, { partition: 0 }));
    await proxies.database.cut();
    const command = create({}, { partition: 0 });
    await asker.send({ ...command, replyTo: asker.channel });
    await until('the partition to be given up', () => !owner.owned().includes(0));
    expect(asker.repliesTo(command.commandId)).toEqual([]);
    await proxies.database.restore();
    await until('the reply', () => asker.repliesTo(command.commandId).length > 0);
    expect(asker.repliesTo(command.commandId)).toMatchObject([{ outcome: { kind: 'accepted' } }]);
    await until('all partitions', () => owner.owned().length === PARTITIONS);
  });

  it('between commit and projection delays the projection and the reply until Postgres is back', async () => {
    let cutting = true;
    running = await startWriter(place, {
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
    await asker.send({ ...command, replyTo: asker.channel });
    await until('the event in the log', async () =>
      (await readWholeLog(cluster)).events.some(({ commandId }) => commandId === command.commandId),
    );
    expect(await findOutcomes(cluster.database, [command.commandId])).toEqual([]);
    await proxies.database.restore();
    await until('the reply', () => asker.repliesTo(command.commandId).length > 0);
    expect(asker.repliesTo(command.commandId)).toMatchObject([
      { outcome: { kind: 'accepted' }, intent: { id: command.intentId } },
    ]);
  });
});

describe('An outage of Redis', () => {
  it.each([
    ['disconnected', () => proxies.redis.cut()],
    ['silent', async () => proxies.redis.freeze()],
  ])('leaves outcomes in Postgres while it is %s, and replies resume after it', async (_how, interrupt) => {
    running = await startWriter(place);
    await until('a reply', async () => (await asker.ask(create())).outcome.kind === 'accepted');
    await interrupt();
    const command = create();
    await asker.send({ ...command, replyTo: asker.channel });
    expect(await asker.outcome(command.commandId)).toMatchObject({ kind: 'accepted' });
    expect(await asker.outcome((await sendOnly(of(command.intentId, gateway.cancel()))).commandId)).toMatchObject({
      kind: 'accepted',
    });
    await proxies.redis.restore();
    await until('a reply', async () => {
      const probe = await sendOnly(create());
      await asker.outcome(probe.commandId);
      return asker.repliesTo(probe.commandId).length > 0;
    });
  });

  const sendOnly = async (command: ReturnType<typeof create>): Promise<ReturnType<typeof create>> => {
    await asker.send({ ...command, replyTo: asker.channel });
    return command;
  };
});
