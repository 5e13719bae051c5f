import type { EndedDelivery } from '@pf/database';
import { digestOf } from '../chain.ts';
import { boolean, type Columns, integer, text, time } from '../columns.ts';

/** The columns of the deliveries' files. docs/reference/archive.md describes them. */
export const DELIVERY_COLUMNS: Columns<EndedDelivery> = {
  delivery_id: text((row) => row.id),
  event_id: text((row) => row.eventId),
  event_type: text((row) => row.eventType),
  intent_id: text((row) => row.intentId),
  account_id: text((row) => row.accountId),
  livemode: boolean((row) => row.livemode),
  endpoint_id: text((row) => row.endpointId),
  outcome: text((row) => row.outcome),
  attempts: integer((row) => row.attempts),
  response_status: integer((row) => row.responseStatus),
  created_at: time('created_at', (row) => row.createdAt.getTime()),
  first_attempt_at: time('first_attempt_at', (row) => row.firstAttemptAt?.getTime() ?? null),
  last_attempt_at: time('last_attempt_at', (row) => row.lastAttemptAt?.getTime() ?? null),
  ended_at: time('ended_at', (row) => row.endedAt.getTime()),
};

/** Of each delivery in files the row of its last end: it may have ended before, or lie in two files. */
export const lastEnds = (source: string): string =>
  `SELECT * FROM ${source}
   QUALIFY row_number() OVER (PARTITION BY delivery_id ORDER BY ended_at DESC, attempts DESC) = 1`;

/**
 * A file of ended deliveries. It is named by its content, so it can be proven without a manifest:
 *
 *     deliveries/day=2026-11-25/1500-9f86d081….parquet    written on this day; 1,500 rows; the SHA-256 of its bytes
 */
export interface DeliveryFile {
  readonly key: string;
  readonly day: string;
  readonly rows: number;
  readonly sha256: string;
}

export const DELIVERIES = 'deliveries/';
const NAME = /^deliveries\/day=(\d{4}-\d\d-\d\d)\/(\d+)-([0-9a-f]{64})\.parquet$/;

export function deliveryFile(day: string, rows: number, content: Uint8Array): DeliveryFile {
  const sha256 = digestOf(content);
  return { key: `${DELIVERIES}day=${day}/${rows}-${sha256}.parquet`, day, rows, sha256 };
}

/** Those of these keys that are files of deliveries. */
export const deliveryFilesIn = (keys: readonly string[]): readonly DeliveryFile[] =>
  keys.flatMap((key) => {
    const [, day, rows, sha256] = NAME.exec(key) ?? [];
    return day === undefined || rows === undefined || sha256 === undefined
      ? []
      : [{ key, day, rows: Number(rows), sha256 }];
  });

/** Files of a day are merged when there are so many, or when their day is over. */
export const MERGED_AT = 24;
/** Rows of the files that are merged into one: it has some 15 MB. */
const MERGED_ROWS_MAX = 200_000;
/** Files that are merged at once, and lie in memory. */
const MERGED_FILES_MAX = 500;

/** The files that are to become one, of each such group. @param today `2026-11-25` */
export function mergeable(files: readonly DeliveryFile[], today: string): readonly (readonly DeliveryFile[])[] {
  const groups: DeliveryFile[][] = [];
  for (const ofDay of Map.groupBy(files, ({ day }) => day).values()) {
    let [group, rows]: [DeliveryFile[], number] = [[], 0];
    for (const file of ofDay.toSorted((a, b) => a.rows - b.rows)) {
      if (rows + file.rows > MERGED_ROWS_MAX || group.length === MERGED_FILES_MAX) {
        groups.push(group);
        [group, rows] = [[], 0];
      }
      group.push(file);
      rows += file.rows;
    }
    groups.push(group);
  }
  return groups.filter(
    ([first, ...others]) =>
      first !== undefined && others.length > 0 && (first.day < today || others.length + 1 >= MERGED_AT),
  );
}
