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
  // Owners read it every two seconds, and it is there but for the first time.
  const known = await findCheckpoint(database, partition);
  if (known !== null) return known;
  await database.sql.query(
    `INSERT INTO ledger.checkpoints (partition, position, last_at)
      VALUES ($1, 0, to_timestamp(0)) ON CONFLICT (partition) DO NOTHING`,
    [partition],
  );
  const made = await findCheckpoint(database, partition);
  if (made === null) throw new Error(`The checkpoint of partition ${partition} was removed while it was read`);
  return made;
}

async function findCheckpoint(database: Database, partition: number): Promise<Checkpoint | null> {
  const { rows } = await database.sql.query<{ position: string; last_at: Date }>(
    'SELECT position, last_at FROM ledger.checkpoints WHERE partition = $1',
    [partition],
  );
  const [row] = rows;
  return row === undefined ? null : { position: BigInt(row.position), lastAt: row.last_at.getTime() };
}
