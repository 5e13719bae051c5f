import { trustedClock } from '@pf/clock';
import {
  COMMAND_DEADLINE_MS,
  encodeInput,
  newIntentId,
  parseDeadLetter,
  partitionOf,
  webhookBody,
} from '@pf/contracts';
import { forgetOutcomes } from '@pf/database';
import { CLOCK_TOLERANCE_MS } from '@pf/domain';
import type { LogReader, Publisher } from '@pf/event-log';
import { intentChannel, type Notice, openConnection } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import { about, gateway, samples, watcher } from '@pf/domain/testing';
import { type Cluster, compareProjection, readBackingStack, readWholeLog, startCluster, until } from '@pf/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { create, observed, of } from './messages.ts';
import { CommandClient, type RunningWriter, startWriter } from './running-writer.ts';

// The machine may be busy with the other processes of the stack.
let cluster: Cluster;
let running: RunningWriter;
let client: CommandClient;
let publisher: Publisher;
let reader: LogReader;
/** Milliseconds by which the writer's clock is ahead of the broker's. */
let ahead = 0;

beforeAll(async () => {
  cluster = await startCluster();
  [client, publisher, reader] = [
    await CommandClient.open(cluster.log, cluster.database),
    await cluster.log.publisher(),
    await cluster.log.reader('test'),
  ];
  running = await startWriter(cluster, { clock: trustedClock(() => Date.now() + ahead) });
});

afterEach(() => {
  ahead = 0;
});

afterAll(async () => {
  await running.stop();
  await Promise.all([client.close(), publisher.close(), reader.close()]);
  await cluster.close();
});

const eventsOf = async (intentId: string) =>
  (await readWholeLog(cluster)).events.filter((event) => event.intentId === intentId);

describe('A command', () => {
  it('leads to an event in the log, a row, the body of a webhook, an outcome and a reply', async () => {
    const metadata = { order: 'ä "quoted" \\ , {NULL}' };
    const command = create({ metadata });
    const reply = await client.execute(command);
    expect(reply).toMatchObject({
      outcome: { kind: 'accepted', intentId: command.intentId },
      intent: { id: command.intentId, state: 'created', metadata },
    });

    const [event, ...others] = await eventsOf(command.intentId);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'intent.created',
      version: 1,
      commandId: command.commandId,
      intent: reply.intent,
    });
    const { rows } = await cluster.database.sql.query<{ body: string; metadata: unknown; partition: number }>(
      `SELECT event.body, intent.metadata, intent.partition
       FROM ledger.intent_events AS event JOIN ledger.intents AS intent ON intent.id = event.intent_id
       WHERE intent.id = $1`,
      [command.intentId],
    );
    expect(rows).toEqual([{ body: event && webhookBody(event), metadata, partition: partitionOf(command.intentId) }]);
    expect(await client.outcome(command.commandId)).toEqual(reply.outcome);
  });

  it('is decided once and replied to twice when it arrives twice', async () => {
    const command = { ...create(), replyTo: client.channel };
    await client.send(command, command);
    await until('two replies', () => client.repliesTo(command.commandId).length === 2);
    const [first, second] = client.repliesTo(command.commandId);
    expect(second).toEqual(first);
    expect(await eventsOf(command.intentId)).toHaveLength(1);
  });

  it('makes one intent when a hundred creates use one idempotency key at once', async () => {
    const commands = Array.from({ length: 100 }, () => create({ idempotencyKey: 'hundred' }));
    const replies = await Promise.all(commands.map((command) => client.execute(command)));
    expect(new Set(replies.map(({ intent }) => intent?.id)).size).toBe(1);
    expect(replies.filter(({ outcome }) => outcome.kind === 'accepted' && !outcome.replayed)).toHaveLength(1);
    const { rows } = await cluster.database.sql.query("SELECT FROM ledger.intents WHERE idempotency_key = 'hundred'");
    expect(rows).toHaveLength(1);
    // And once more, from the row and not from the batch.
    expect(await client.execute(create({ idempotencyKey: 'hundred' }))).toMatchObject({ outcome: { replayed: true } });
  });

  it('changes nothing when it comes after its deadline', async () => {
    const late = create({}, { partition: 4 });
    ahead = COMMAND_DEADLINE_MS + CLOCK_TOLERANCE_MS + 1_000;
    await client.send({ ...late, replyTo: client.channel });
    // In the same partition behind it, and without a deadline: after the reply to this one, the late one was processed.
    await client.execute(of(newIntentId(4), gateway.release(samples.FIRST)));
    expect(await eventsOf(late.intentId)).toEqual([]);
    expect(client.repliesTo(late.commandId)).toEqual([]);
  });

  it('notifies the intent’s stream of a public change', async () => {
    const command = create();
    await client.execute(command);
    const redis = openConnection(readBackingStack().redis, {
      log: createLogger('test', 'silent'),
      withoutRedis: 'the test fails',
    });
    const notices: Notice[] = [];
    redis.on('message', (_channel: string, text: string) => notices.push(JSON.parse(text) as Notice));
    await redis.subscribe(intentChannel(command.intentId));
    await client.execute(of(command.intentId, gateway.cancel()));
    await until('a notice', () => notices.length > 0);
    expect(notices).toEqual([{ intentId: command.intentId, version: 2, state: 'cancelled' }]);
    redis.disconnect();
  });
});

describe('A message that cannot be processed', () => {
  const lettersOf = async (partition: number) => {
    const letters = [];
    for await (const { records } of reader.read(
      'intent.dead',
      partition,
      0n,
      await reader.endOffset('intent.dead', partition),
    ))
      letters.push(...records.map(({ value }) => parseDeadLetter(value ?? '')));
    return letters;
  };

  it('becomes a dead letter with its partition and offset, and the next command is decided', async () => {
    const partition = 5;
    await publisher.publish('intent.commands', { partition, key: 'poison', value: '{"password":"hunter2"' });
    const broken = create({ metadata: { note: 'NOTE' } }, { partition, replyTo: client.channel });
    await publisher.publish('intent.commands', {
      partition,
      key: 'poison',
      value: encodeInput(broken).replace('NOTE', '\\u0000'),
    });
    const observation = observed(about(newIntentId(partition), watcher.landed(samples.FIRST)));
    await client.send(observation);
    const next = await client.execute(create({}, { partition }));
    expect(next.outcome.kind).toBe('accepted');
    await until('the reply to the broken command', () => client.repliesTo(broken.commandId).length > 0);
    expect(client.repliesTo(broken.commandId)).toMatchObject([{ outcome: { kind: 'dead' }, intent: null }]);
    expect(await client.outcome(broken.commandId)).toMatchObject({ kind: 'dead', intentId: broken.intentId });
    const letters = await until('three letters', async () => {
      const found = await lettersOf(partition);
      return found.length >= 3 && found;
    });
    // An observation is a payment: its letter alone is enough to process it again.
    expect(letters.map(({ topic, reason, payload }) => [topic, reason, payload]).sort()).toEqual([
      ['chain.observations', 'cannot be decided: UnknownIntentError', encodeInput(observation)],
      ['intent.commands', 'data.metadata.note: must not contain U+0000 or lone surrogates', null],
      ['intent.commands', 'the record is not JSON', null],
    ]);
    expect(JSON.stringify(letters)).not.toContain('hunter2');
  });

  it('never reaches the projection, whatever text it has', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 });
    const data = fc.sample(fc.record({ metadata: fc.dictionary(text, text, { maxKeys: 5 }), token: text }), {
      numRuns: 200,
      seed: 7,
    });
    const replies = await Promise.all(data.map((change) => client.execute(create(change, { partition: 1 }))));
    expect(new Set(replies.map(({ outcome }) => outcome.kind))).toEqual(new Set(['accepted', 'dead']));
    expect((await client.execute(create({}, { partition: 1 }))).outcome.kind).toBe('accepted');
  });
});

describe('The time of a partition', () => {
  const past = async (command: ReturnType<typeof create>): Promise<void> => {
    const { intent } = await client.execute(command);
    await until('its time to run out', () => Date.now() >= Date.parse(intent?.expiresAt ?? ''));
  };
  const stateOf = async (intentId: string): Promise<unknown> =>
    (
      await cluster.database.sql.query<{ status: string }>('SELECT status FROM ledger.intents WHERE id = $1', [
        intentId,
      ])
    ).rows[0]?.status;

  it('expires an open intent when expiresAt has passed', async () => {
    const [short, long] = [create({ ttlSeconds: 1 }), create()];
    await client.execute(long);
    await past(short);
    await running.expiry.look();
    await until('its expiry', async () => (await stateOf(short.intentId)) === 'expired');
    expect((await eventsOf(short.intentId)).map(({ type, commandId }) => [type, commandId])).toEqual([
      ['intent.created', expect.any(String)],
      ['intent.expired', null],
    ]);
    expect(await stateOf(long.intentId)).toBe('created');
  });

  it('does not expire an intent whose landing was observed before the expiry', async () => {
    const commands = Array.from({ length: 12 }, () => create({ ttlSeconds: 1 }));
    await Promise.all(commands.map(past));
    const looks: Promise<void>[] = [];
    await Promise.all(
      commands.map(async ({ intentId }) => {
        await client.send(observed(about(intentId, watcher.landed(samples.FIRST))));
        looks.push(running.expiry.look());
      }),
    );
    await Promise.all(looks);
    for (const { intentId } of commands)
      await until('its payment', async () => (await stateOf(intentId)) === 'confirmed');
    const types = (await readWholeLog(cluster)).events
      .filter(({ intentId }) => commands.some((command) => command.intentId === intentId))
      .map(({ type }) => type);
    expect(types).not.toContain('intent.expired');
  });

  it('never goes back, though the next writer’s clock is behind', async () => {
    const partition = 2;
    ahead = 5_000;
    const first = await client.execute(create({}, { partition }));
    await running.stop();
    ahead = 0;
    running = await startWriter(cluster, { clock: trustedClock(() => Date.now() + ahead) });
    const second = await client.execute(create({}, { partition }));
    expect(Date.parse(second.intent?.createdAt ?? '')).toBeGreaterThanOrEqual(
      Date.parse(first.intent?.createdAt ?? ''),
    );
  });
});

describe('The stored data', () => {
  it('has outcomes of the last day; older ones are deleted in batches', async () => {
    const command = create();
    await client.execute(command);
    await cluster.database.sql.query(
      `INSERT INTO service.command_outcomes (command_id, body, at)
       SELECT gen_random_uuid(), '{}', now() - interval '25 hours' FROM generate_series(1, 25)`,
    );
    const dayAgo = Date.now() - 24 * 60 * 60 * 1000;
    expect([
      await forgetOutcomes(cluster.database, dayAgo, 20),
      await forgetOutcomes(cluster.database, dayAgo, 20),
      await forgetOutcomes(cluster.database, dayAgo, 20),
    ]).toEqual([20, 5, 0]);
    expect(await client.outcome(command.commandId)).toMatchObject({ kind: 'accepted' });
  });

  it('equals the fold of the log, byte for byte', async () => {
    const { intents, problems } = await readWholeLog(cluster);
    expect(problems).toEqual([]);
    expect(intents.size).toBeGreaterThan(100);
    expect(await compareProjection(cluster.database, intents)).toEqual([]);
  });
});
