import { parseQuery, type Position, readCursor, writeCursor } from '@pf/contracts';
import type { Request } from 'express';
import type { z } from 'zod';
import { validationFailed } from './api-error.ts';

/** Checks a request's query by its schema. @throws ApiError `request.validation_failed` */
export function readQuery<Shape extends z.ZodRawShape>(
  { query }: Pick<Request, 'query'>,
  schema: z.ZodObject<Shape>,
): z.output<z.ZodObject<Shape>> {
  const parsed = parseQuery(schema, query);
  if (!parsed.ok) throw validationFailed(parsed.issues);
  return parsed.value;
}

/** Where the page before ended; null for the first page. @throws ApiError naming `cursor` where it is none of ours */
export function positionOf({ cursor }: { readonly cursor?: string | undefined }): Position | null {
  if (cursor === undefined) return null;
  const position = readCursor(cursor);
  if (!position)
    throw validationFailed([{ param: 'cursor', message: 'cursor must be the `nextCursor` of an earlier answer' }]);
  return position;
}

/** A page of a list, of rows that were asked for one beyond `limit`: so it is known whether there are more. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  place: (row: Row) => Position,
): { readonly rows: readonly Row[]; readonly hasMore: boolean; readonly nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return { rows: page, hasMore, nextCursor: hasMore && last !== undefined ? writeCursor(place(last)) : null };
}
