import { newRequestRecordId, type Position } from '@pf/contracts';
import { REQUEST_LOG_DAYS } from '@pf/contracts/dashboard';
import type { IntentOwner } from '../ledger/intents.ts';
import type { Database } from '../postgres/database.ts';

/** An authenticated request and its response: never a body, never a secret. */
export interface RequestRecord extends IntentOwner {
  /** When the response ended. */
  readonly at: Date;
  readonly method: string;
  /** The pattern of its path: `/v1/intents/{id}`. */
  readonly route: string;
  /** As it was asked for, without secrets and cut off where it is long. */
  readonly path: string;
  readonly status: number;
  readonly errorCode: string | null;
  /** The key that it was made with; null for a person, and for a payer with a client secret. */
  readonly keyId: string | null;
  /** The person who made it in the dashboard; null for a key. */
  readonly userId: string | null;
  /** The intent in its path, or the one that it created. */
  readonly intentId: string | null;
  readonly durationMs: number;
  /** X-Request-Id of the response. */
  readonly requestId: string;
  /** How many requests of its account and mode before this one have no record. */
  readonly omitted: number;
}

/** Partitions: for the days that are listed in whole or in part, today included, and one that is empty for tomorrow. */
const SLOTS = REQUEST_LOG_DAYS + 2;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const partitionOf = (slot: number): string => `service.request_records_${slot}`;
/** The partitions. */
export const REQUEST_RECORD_TABLES = Array.from({ length: SLOTS }, (_none, slot) => partitionOf(slot));

const slotOf = (at: number): number => Math.floor(at / DAY_MS) % SLOTS;

/** Stores records, in one statement. */
export async function storeRequestRecords(
  { scans }: Pick<Database, 'scans'>,
  records: readonly RequestRecord[],
): Promise<void> {
  if (records.length === 0) return;
  await scans.query({
    name: 'store-request-records',
    text: `INSERT INTO service.request_records (slot, at, id, account_id, livemode, method, route, status, status_class,
                                                error_code, key_id, user_id, intent_id, duration_ms, request_id, path,
                                                omitted)
           SELECT slot, at, id, account, livemode, method, route, status, status / 100, error, key, person, intent,
                  duration, request, path, omitted
             FROM unnest($1::smallint[], $2::timestamptz[], $3::text[], $4::text[], $5::boolean[], $6::text[],
                         $7::text[], $8::smallint[], $9::text[], $10::text[], $11::text[], $12::text[], $13::int[],
                         $14::text[], $15::text[], $16::int[])
               AS record (slot, at, id, account, livemode, method, route, status, error, key, person, intent, duration,
                          request, path, omitted)`,
    values: [
      records.map(({ at }) => slotOf(at.getTime())),
      records.map(({ at }) => at),
      records.map(() => newRequestRecordId()),
      records.map(({ accountId }) => accountId),
      records.map(({ livemode }) => livemode),
      records.map(({ method }) => method),
      records.map(({ route }) => route),
      records.map(({ status }) => status),
      records.map(({ errorCode }) => errorCode),
      records.map(({ keyId }) => keyId),
      records.map(({ userId }) => userId),
      records.map(({ intentId }) => intentId),
      records.map(({ durationMs }) => durationMs),
      records.map(({ requestId }) => requestId),
      records.map(({ path }) => path),
      records.map(({ omitted }) => omitted),
    ],
  });
}

/**
 * Empties the partition of tomorrow, which has the records of eight days ago. In the last hour of a day it does
 * nothing: a clock that is ahead may write to tomorrow's already.
 * @returns whether there was anything to delete
 */
export async function forgetRequestRecords({ sql }: Pick<Database, 'sql'>, now: number): Promise<boolean> {
  if (slotOf(now + HOUR_MS) !== slotOf(now)) return false;
  const table = partitionOf(slotOf(now + DAY_MS));
  const { rows } = await sql.query<{ used: boolean }>(`SELECT EXISTS (SELECT slot FROM ${table}) AS used`);
  if (rows[0]?.used !== true) return false;
  await sql.query(`TRUNCATE ${table}`);
  return true;
}

/** The statuses 2xx, 3xx, 4xx or 5xx. */
const STATUS_CLASSES = [2, 3, 4, 5] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

export interface RequestFilters {
  readonly statusClass?: StatusClass | undefined;
  readonly keyId?: string | undefined;
  readonly intentId?: string | undefined;
}

/** A record with the names of who made the request. */
export interface ListedRequest extends Omit<RequestRecord, keyof IntentOwner | 'path'> {
  readonly id: string;
  /** Null if an earlier release has stored it. */
  readonly path: string | null;
  readonly keyHint: string | null;
  readonly keyName: string | null;
  readonly userName: string | null;
}

/**
 * The requests of an account and mode in the last seven days that match all filters, newest first. One filter is a
 * range of an index of each day; of several, an intent or a key is read, and the others are checked row by row.
 * @param after where the page before ended; null: begins with the newest
 */
export async function listRequestRecords(
  { scans }: Pick<Database, 'scans'>,
  owner: IntentOwner,
  filters: RequestFilters,
  { after, limit, now }: { readonly after: Position | null; readonly limit: number; readonly now: number },
): Promise<readonly ListedRequest[]> {
  return (await scans.query<ListedRequest>(requestsStatement(owner, filters, { after, limit, now }))).rows;
}

/** The statement of listRequestRecords. */
export function requestsStatement(
  { accountId, livemode }: IntentOwner,
  { statusClass, keyId, intentId }: RequestFilters,
  { after, limit, now }: { readonly after: Position | null; readonly limit: number; readonly now: number },
): { readonly text: string; readonly values: unknown[] } {
  const values: unknown[] = [accountId, livemode, new Date(now - REQUEST_LOG_DAYS * DAY_MS), limit];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const conditions = ['account_id = $1', 'livemode = $2', 'at >= $3'];
  if (after) conditions.push(`(at, id) < (${parameter(new Date(after.createdAt))}, ${parameter(after.id)})`);
  if (keyId !== undefined) conditions.push(`key_id = ${parameter(keyId)}`);
  if (intentId !== undefined) conditions.push(`intent_id = ${parameter(intentId)}`);
  const isNarrow = keyId !== undefined || intentId !== undefined;
  const classes = statusClass === undefined ? STATUS_CLASSES : [statusClass];
  // The whole list is that of its classes, merged. A key or an intent has an index of its own, with all classes.
  const runs = isNarrow
    ? [`status_class = ANY(${parameter(classes)}::smallint[])`]
    : classes.map((one) => `status_class = ${parameter(one)}`);
  const order = 'ORDER BY at DESC, id DESC LIMIT $4';
  const page = runs
    .map((run) => `(SELECT * FROM service.request_records WHERE ${[...conditions, run].join(' AND ')} ${order})`)
    .join(' UNION ALL ');
  return {
    text: `
      SELECT page.id, page.at, method, route, path, status, error_code AS "errorCode", key_id AS "keyId",
             user_id AS "userId", intent_id AS "intentId", duration_ms AS "durationMs", request_id AS "requestId",
             omitted,
             key.hint AS "keyHint", key.name AS "keyName", person.name AS "userName"
        FROM (SELECT * FROM (${page}) AS runs ${order}) AS page
        LEFT JOIN service.api_keys AS key ON key.id = key_id
        LEFT JOIN dashboard.users AS person ON person.id = user_id
       ORDER BY page.at DESC, page.id DESC`,
    values,
  };
}
