import {
  CURSOR_RULE,
  type Listed,
  PAGE_BYTES_MAX,
  parseQuery,
  type Position,
  readCursor,
  readEventCursor,
} from '@pf/contracts';
import type { Request } from 'express';
import type { z } from 'zod';
import { validationFailed } from './http-error.ts';

/** Validates a request's query. @throws ApiError `request.validation_failed` */
export function readQuery<Shape extends z.ZodRawShape>(
  { query }: Pick<Request, 'query'>,
  schema: z.ZodObject<Shape>,
): z.output<z.ZodObject<Shape>> {
  const parsed = parseQuery(schema, query);
  if (!parsed.ok) throw validationFailed(parsed.issues);
  return parsed.value;
}

/** Where the previous page ended; null for the first page. @throws ApiError `request.validation_failed` */
export const positionOf = ({ cursor }: { readonly cursor?: string | undefined }): Position | null =>
  decoded(cursor, readCursor);

/**
 * The version of the event with which the previous page ended; null for the first page.
 * @throws ApiError `request.validation_failed`
 */
export const versionOf = ({ cursor }: { readonly cursor?: string | undefined }): number | null =>
  decoded(cursor, readEventCursor);

function decoded<Decoded>(cursor: string | undefined, read: (cursor: string) => Decoded | null): Decoded | null {
  if (cursor === undefined) return null;
  const position = read(cursor);
  if (position === null) throw validationFailed([{ param: 'cursor', message: `cursor must be ${CURSOR_RULE}` }]);
  return position;
}

/**
 * A page of a list. It ends early, but never without a row, where its rows are larger than PAGE_BYTES_MAX.
 * @param found up to `limit` + 1 rows: one more than the page shows if there is another page, or fewer that are cut
 * @param bytesOf the size of a row as JSON, of lists whose rows hold what clients have chosen
 */
export function pageOf<Row>(
  found: readonly Row[] | Listed<Row>,
  limit: number,
  cursorOf: (row: Row) => string,
  bytesOf?: (row: Row) => number,
): { readonly rows: readonly Row[]; readonly hasMore: boolean; readonly nextCursor: string | null } {
  const { rows, isCut } = 'isCut' in found ? found : { rows: found, isCut: false };
  const page = rows.slice(0, bytesOf ? Math.max(1, countWithin(rows.slice(0, limit), bytesOf)) : limit);
  const last = page.at(-1);
  const hasMore = isCut || rows.length > page.length;
  return { rows: page, hasMore, nextCursor: hasMore && last !== undefined ? cursorOf(last) : null };
}

/** How many of the first rows have PAGE_BYTES_MAX together. */
function countWithin<Row>(rows: readonly Row[], bytesOf: (row: Row) => number): number {
  let bytes = 0;
  const end = rows.findIndex((row) => (bytes += bytesOf(row)) > PAGE_BYTES_MAX);
  return end === -1 ? rows.length : end;
}

/** The size of a value as JSON, in bytes. */
export const bytesOfJson = (value: object): number => Buffer.byteLength(JSON.stringify(value));
