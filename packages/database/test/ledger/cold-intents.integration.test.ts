import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import { events, samples } from '@pf/domain/testing';
import { digestOfRows, findOldIntents, type OldIntent, ProjectionWriter, readCheckpoint } from '../../src/index.ts';
import { largestMetadata, measureAnswers } from '../measured-answers.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { NOW, PartitionLog } from './partition-log.ts';

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;

describe('The search for old intents', () => {
  const partition = 5;
  const ids = Array.from({ length: 60 }, () => newIntentId(partition));
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
    await readCheckpoint(own.database, partition);
    const log = new PartitionLog(partition);
    const metadata = largestMetadata();
    const story = ids.flatMap((id) =>
      [events.created({ metadata }), events.cancelled()].map((event) => events.of(id, event)),
    );
    await new ProjectionWriter(own.database.sql).project(log.append(0n, BigInt(story.length), ...story));
  });
  afterAll(() => own.close());

  const search = (database: OwnDatabase['database'], after: OldIntent | null, limit = 1_000) =>
    findOldIntents(database, samples.BASE_SEPOLIA, [partition], NOW + DAY_MS, after, limit);

  it('returns pieces of less than 8 MiB, however large the intents are, and in the end each of them once', async () => {
    const { database, bytes } = measureAnswers(own.database);
    const found: OldIntent[] = [];
    for (let after: OldIntent | null = null; ;) {
      const piece = await search(database, after);
      after = piece.at(-1) ?? null;
      if (after === null) break;
      found.push(...piece);
    }
    expect(found.map(({ id }) => id).sort()).toEqual(ids.toSorted());
    for (const one of found) expect(Buffer.from(digestOfRows(one))).toEqual(Buffer.from(one.digest));
    expect(bytes.length).toBeGreaterThan(3);
    expect(Math.max(...bytes)).toBeLessThan(8 * MIB);
  });

  it('returns an intent that is larger than a piece by itself', async () => {
    const [first, second] = await search(own.database, null, 2);
    await own.database.sql.query(
      `INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at)
       VALUES ($1, 100, 'evt_large', 'intent.updated', repeat('x', $2), to_timestamp($3))`,
      [second?.id, 9 * MIB, NOW / 1_000],
    );
    const pieces = [await search(own.database, null), await search(own.database, first ?? null)];
    expect(pieces.map((piece) => piece.map(({ id }) => id))).toEqual([[first?.id], [second?.id]]);
  });
});
