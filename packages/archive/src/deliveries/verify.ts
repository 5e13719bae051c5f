import { digestOf } from '../chain.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { DELIVERIES, deliveryFilesIn } from './files.ts';

/** What a check of the files of ended deliveries has found. */
export interface DeliveriesReport {
  readonly files: number;
  /** A delivery may have several. */
  readonly rows: number;
  /** Empty: all is well. */
  readonly problems: readonly string[];
}

/** More of the same kind say nothing new. */
const PROBLEMS_MAX = 20;

/**
 * Proves that each file of deliveries has the bytes that it was created with: its name has their SHA-256. Files that
 * are missing are not noticed, because no manifest lists them.
 * @throws StoreUnavailableError
 */
export async function verifyDeliveries(store: ObjectStore): Promise<DeliveriesReport> {
  const problems: string[] = [];
  let [files, rows] = [0, 0];
  const keys = await store.list(DELIVERIES);
  const named = deliveryFilesIn(keys);
  const known = new Set(named.map(({ key }) => key));
  for (const key of keys)
    if (key.endsWith('.parquet') && !known.has(key))
      problems.push(`${key} is no file of deliveries: move it away, because other programs read it`);
  for (const file of named) {
    const content = await store.read(file.key);
    // It was merged meanwhile, into a file that need not be proven now.
    if (content === null) continue;
    files++;
    rows += file.rows;
    if (digestOf(content) !== file.sha256) problems.push(`${file.key} does not have the bytes of its name`);
  }
  return { files, rows, problems: problems.slice(0, PROBLEMS_MAX) };
}
