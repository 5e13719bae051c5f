import type { Instant } from '@pf/domain';
import type { Database } from '../postgres/database.ts';

/** How far a partition of intent.events is projected. */
export interface Checkpoint {
  readonly position: bigint;
  /** The latest event time that the partition's writer has stamped; 0 before the first event. */
  readonly lastAt: Instant;
}

/** The checkpoint of a partition; one that has never been projected begins at 0. */
export async function readCheckpoint(database: Database, partition: number): Promise<Checkpoint> {
  const [checkpoint] = await readCheckpoints(database, [partition]);
  if (checkpoint === undefined) throw new Error('a checkpoint for each partition');
  return checkpoint;
}

/** Those of several partitions, in their order and with one statement. */
export async function readCheckpoints(
  database: Database,
  partitions: readonly number[],
): Promise<readonly Checkpoint[]> {
  // Owners read them every two seconds, and they are there but for the first time.
  const known = await findCheckpoints(database, partitions);
  const missing = partitions.filter((partition) => !known.has(partition));
  if (missing.length > 0) {
    await database.sql.query(
      `INSERT INTO ledger.checkpoints (partition, position, last_at)
        SELECT partition, 0, to_timestamp(0) FROM unnest($1::smallint[]) AS partition
        ON CONFLICT (partition) DO NOTHING`,
      [missing],
    );
    for (const [partition, checkpoint] of await findCheckpoints(database, missing)) known.set(partition, checkpoint);
  }
  return partitions.map((partition) => {
    const checkpoint = known.get(partition);
    if (checkpoint) return checkpoint;
    throw new Error(`The checkpoint of partition ${partition} was removed while it was read`);
  });
}

async function findCheckpoints(database: Database, partitions: readonly number[]): Promise<Map<number, Checkpoint>> {
  const { rows } = await database.sql.query<{ partition: number; position: string; last_at: Date }>({
    name: 'find-checkpoints',
    text: 'SELECT partition, position, last_at FROM ledger.checkpoints WHERE partition = ANY($1)',
    values: [partitions],
  });
  return new Map(rows.map((row) => [row.partition, { position: BigInt(row.position), lastAt: row.last_at.getTime() }]));
}
