import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import type { IntentId } from '@pf/domain';
import { events } from '@pf/domain/testing';
import { lookAtIntents, ProjectionWriter, readCheckpoint } from '../../src/index.ts';
import { largestMetadata, measureAnswers } from '../measured-answers.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { PartitionLog } from './partition-log.ts';

const MIB = 1024 * 1024;
const EVENTS = 8;

describe('A look at the events of many intents', () => {
  const partition = 4;
  const ids = Array.from({ length: 160 }, () => newIntentId(partition));
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
    await readCheckpoint(own.database, partition);
    const log = new PartitionLog(partition);
    const metadata = largestMetadata();
    const story = ids.map((id) => events.of(id, events.created({ metadata })));
    await new ProjectionWriter(own.database.sql).project(log.append(0n, BigInt(story.length), ...story));
    await own.database.sql.query(
      `INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at)
       SELECT intent_id, n, event_id || n, 'intent.detected', n || ' ' || body, at
       FROM ledger.intent_events, generate_series(2, $1) AS n`,
      [EVENTS],
    );
  });
  afterAll(() => own.close());

  it('returns at most 8 MiB at once and 256 KiB of an intent, and after more looks all of it, in order', async () => {
    const { database, bytes } = measureAnswers(own.database);
    const versions = new Map<IntentId, number[]>(ids.map((id) => [id, []]));
    const states = new Map<IntentId, number>();
    let due: readonly IntentId[] = ids;
    while (due.length > 0) {
      const looks = due.map((id) => ({ id, known: states.get(id) ?? 0, after: versions.get(id)?.at(-1) ?? 0 }));
      const seen = await lookAtIntents(database, looks);
      expect([...seen.keys()].sort()).toEqual(due.toSorted());
      for (const [id, { intent, events: read }] of seen) {
        if (intent) states.set(id, intent.version);
        versions.get(id)?.push(...read.map(({ version }) => version));
        expect(read.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)).toBeLessThanOrEqual(MIB / 4);
      }
      expect([...seen.values()].some(({ events: read, more }) => read.length > 0 || !more)).toBe(true);
      due = due.filter((id) => seen.get(id)?.more === true);
    }
    expect(Math.max(...bytes)).toBeLessThanOrEqual(8.1 * MIB);
    expect(new Set([...versions.values()].map(String))).toEqual(new Set(['1,2,3,4,5,6,7,8']));
    expect([states.size, new Set(states.values())]).toEqual([ids.length, new Set([1])]);
  });

  it('serves those first that come first, each of them before any has a second event', async () => {
    const seen = await lookAtIntents(
      own.database,
      ids.map((id) => ({ id, known: 1, after: 0 })),
    );
    const counts = ids.map((id) => seen.get(id)?.events.length ?? -1);
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
    expect(new Set(counts)).toEqual(new Set([1, 0]));
    expect(ids.every((id) => seen.get(id)?.more === true)).toBe(true);
  });

  it('counts the states that it returns, too', async () => {
    const { database, bytes } = measureAnswers(own.database);
    const looks = ids.map((id) => ({ id, known: 0, after: EVENTS }));
    const seen = await lookAtIntents(database, looks);
    expect(bytes[0]).toBeLessThanOrEqual(8.1 * MIB);
    const read = ids.map((id) => seen.get(id)?.intent !== null);
    expect(new Set(read)).toEqual(new Set([true, false]));
    expect(ids.map((id) => seen.get(id)?.more === false)).toEqual(read);
  });

  it('returns an event that is larger than all of this by itself', async () => {
    const [id, other] = ids.slice(-2) as [IntentId, IntentId];
    await own.database.sql.query(
      `INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at)
       VALUES ($1, 100, 'evt_large', 'intent.detected', repeat('x', $2), now())`,
      [id, 9 * MIB],
    );
    const looks = [id, other].map((one) => ({ id: one, known: 1, after: EVENTS - 1 }));
    const first = await lookAtIntents(own.database, looks);
    expect(first.get(id)).toMatchObject({ events: [{ version: EVENTS }], more: true });
    expect(first.get(other)).toMatchObject({ events: [{ version: EVENTS }], more: false });
    const second = await lookAtIntents(own.database, [{ id, known: 1, after: EVENTS }]);
    expect(second.get(id)).toMatchObject({ events: [{ version: 100 }], more: false });
  });
});
