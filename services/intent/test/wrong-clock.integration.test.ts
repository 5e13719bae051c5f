import { gateway } from '@pf/domain/testing';
import { type Cluster, compareProjection, readWholeLog, startCluster, until } from '@pf/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, of, PARTITIONS } from './messages.ts';
import { CommandClient, type RunningWriter, startWriter } from './running-writer.ts';

const HOUR_MS = 3_600_000;

let cluster: Cluster;
let client: CommandClient;
let running: RunningWriter[] = [];

beforeEach(async () => {
  cluster = await startCluster();
  client = await CommandClient.open(cluster.log, cluster.database);
});

afterEach(async () => {
  await Promise.all(running.map((writer) => writer.stop()));
  running = [];
  await client.close();
  await cluster.close();
});

/** A writer whose wall clock is ahead by as much as the test says, now and later. */
async function writerBy(clock: { lead: number }): Promise<RunningWriter> {
  const writer = await startWriter(cluster, { wall: () => Date.now() + clock.lead });
  running.push(writer);
  return writer;
}
const ownsAll = (writer: RunningWriter) => until('all partitions', () => writer.owner.owned().length === PARTITIONS);
const createAll = (change: Parameters<typeof create>[0] = {}) =>
  Promise.all(Array.from({ length: PARTITIONS }, (_, partition) => client.execute(create(change, { partition }))));
const lastAts = async (): Promise<readonly number[]> => {
  const { rows } = await cluster.database.sql.query<{ at: Date }>('SELECT last_at AS at FROM ledger.checkpoints');
  return rows.map(({ at }) => at.getTime());
};

describe('A writer whose clock is wrong', () => {
  it.each([
    ['an hour fast', HOUR_MS],
    ['an hour slow', -HOUR_MS],
    ['8 s fast', 8_000],
    ['8 s slow', -8_000],
  ])('gives its partitions up when it becomes %s, and owns them again once it is right', async (_how, lead) => {
    const [mine, other] = [{ lead: 0 }, { lead: 0 }];
    const first = await writerBy(mine);
    await ownsAll(first);
    // Due within the hour.
    const made = await createAll({ ttlSeconds: 600 });
    const second = await writerBy(other);

    mine.lead = lead;
    // Commands are under way while the clock steps: none is dropped, and none is decided by it.
    await Promise.all(made.map(({ outcome: { intentId } }) => client.execute(of(intentId, gateway.detect()))));
    await ownsAll(second);
    await second.expiry.look();
    await Promise.all(made.map(({ outcome: { intentId } }) => client.execute(of(intentId, gateway.recordBuild()))));
    expect(first.owner.owned()).toEqual([]);

    mine.lead = 0;
    await second.stop();
    running = running.filter((writer) => writer !== second);
    await ownsAll(first);
    await createAll();
    const { events, intents, problems } = await readWholeLog(cluster);
    expect([problems, await compareProjection(cluster.database, intents)]).toEqual([[], []]);
    expect(events.filter(({ type }) => type === 'intent.expired')).toEqual([]);
    // No time was stamped that is not now.
    for (const { at } of events) expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(300_000);
    for (const at of await lastAts()) expect(at).toBeLessThanOrEqual(Date.now());
  });

  it('owns nothing if it starts with it, alone or not, and owns everything once it is set right', async () => {
    const clock = { lead: HOUR_MS };
    const writer = await writerBy(clock);
    const waiting = create();
    await client.send({ ...waiting, replyTo: client.channel });
    expect(writer.owner.owned()).toEqual([]);
    clock.lead = 0;
    await ownsAll(writer);
    await client.execute(create());
    expect((await readWholeLog(cluster)).events.every(({ at }) => Date.parse(at) <= Date.now())).toBe(true);
  });
});

describe('A partition that an earlier writer left in the future', () => {
  it('expires nothing early: its event time stands still until the clock has caught up', async () => {
    const before = await writerBy({ lead: 0 });
    await ownsAll(before);
    const made = await createAll({ ttlSeconds: 1_200 });
    await before.stop();
    running = [];
    await cluster.database.sql.query("UPDATE ledger.checkpoints SET last_at = clock_timestamp() + interval '1 hour'");

    const writer = await writerBy({ lead: 0 });
    await ownsAll(writer);
    expect(Math.min(...writer.writer.ahead.values())).toBeGreaterThan(HOUR_MS / 2);
    await writer.expiry.look();
    for (const { outcome } of made) {
      const { intent } = await client.execute(of(outcome.intentId, gateway.detect()));
      expect(intent?.state).toBe('created');
    }
    const { events } = await readWholeLog(cluster);
    const detected = events.filter(({ type }) => type === 'intent.detected');
    const frozen = await lastAts();
    expect(detected.map(({ at }) => Date.parse(at)).sort()).toEqual([...frozen].sort());
  });
});
