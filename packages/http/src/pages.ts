import { CURSOR_RULE, parseQuery, type Position, readCursor, readEventCursor } from '@pf/contracts';
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

/** A page of a list. @param rows up to `limit` + 1 of them: one more than the page shows if there is another page */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string,
): { readonly rows: readonly Row[]; readonly hasMore: boolean; readonly nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return { rows: page, hasMore, nextCursor: hasMore && last !== undefined ? cursorOf(last) : null };
}
