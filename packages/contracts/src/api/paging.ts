import { z } from 'zod';
import { instant } from '../scalars.ts';
import { must } from './fields.ts';
import { PAGE_LIMIT } from './limits.ts';

const limitRule = must(`a whole number from 1 to ${PAGE_LIMIT.max}`);
/** The parameter `limit` with its default: a string, as everything in a query. */
export const pageLimit = (otherwise: number) =>
  z
    .string(limitRule)
    .regex(/^(100|[1-9]\d?)$/, limitRule)
    .transform(Number)
    .default(otherwise)
    .meta({
      description: 'Number of objects to return.',
      override: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT.max, default: otherwise },
    });

export const CURSOR_RULE = 'the `nextCursor` of an earlier response';
const cursorRule = must(CURSOR_RULE);

/** The query parameters of every list. `readCursor` decodes the cursor. */
export const pageQuery = {
  limit: pageLimit(PAGE_LIMIT.default),
  cursor: z
    .string(cursorRule)
    .max(200, cursorRule)
    .optional()
    .meta({ description: 'The `nextCursor` of the previous page.' }),
};

/** The fields of every list response beside its rows. */
export const pageResponse = { hasMore: z.boolean(), nextCursor: z.string().nullable() };

/** What the rows of a page may have together, in bytes of JSON: one reader must not hold much of a process's memory. */
export const PAGE_BYTES_MAX = 1024 * 1024;

/** Rows of a list in their order, and whether it goes on behind them, though there are fewer than were asked for. */
export interface Listed<Row> {
  readonly rows: readonly Row[];
  readonly isCut: boolean;
}

/** The position of a row in a list that is sorted newest first, so that new rows never appear on later pages. */
export interface Position {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly id: string;
}

/** The end of the year 9999: ISO 8601 writes later years differently. */
const LAST_INSTANT = 253_402_300_799_999;
const position = z.tuple([instant.max(LAST_INSTANT), z.string().regex(/^[a-z]{2,6}_[0-9A-Za-z]{1,40}$/)]);

/** Encodes a position as an opaque cursor. It contains no filters, so it is valid in any list of the same rows. */
export const writeCursor = ({ createdAt, id }: Position): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');

/** Decodes a cursor, or returns null if `writeCursor` did not make it. */
export function readCursor(cursor: string): Position | null {
  const parsed = position.safeParse(contentOf(cursor));
  if (!parsed.success) return null;
  const [createdAt, id] = parsed.data;
  return { createdAt, id };
}

const version = z.tuple([z.number().int().positive().max(2_147_483_647)]);

/** Encodes the version of an intent's event as an opaque cursor of its history, which is sorted oldest first. */
export const writeEventCursor = (after: number): string => Buffer.from(JSON.stringify([after])).toString('base64url');

/** Decodes a cursor, or returns null if `writeEventCursor` did not make it. */
export function readEventCursor(cursor: string): number | null {
  const parsed = version.safeParse(contentOf(cursor));
  return parsed.success ? parsed.data[0] : null;
}

function contentOf(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    // Not JSON: truncated, or not a cursor of this API.
    return null;
  }
}
