import { z } from 'zod';
import { instant } from '../scalars.ts';
import { must } from './fields.ts';
import { PAGE_LIMIT } from './limits.ts';

const limitRule = must(`a whole number from 1 to ${PAGE_LIMIT.max}`);
/** A string, as everything in a query. */
const limit = z
  .string(limitRule)
  .regex(/^(100|[1-9]\d?)$/, limitRule)
  .transform(Number)
  .default(PAGE_LIMIT.default)
  .meta({
    description: 'Number of objects to return.',
    override: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT.max, default: PAGE_LIMIT.default },
  });

export const CURSOR_RULE = 'the `nextCursor` of an earlier response';
const cursorRule = must(CURSOR_RULE);

/** The query parameters of every list. `readCursor` decodes the cursor. */
export const pageQuery = {
  limit,
  cursor: z
    .string(cursorRule)
    .max(200, cursorRule)
    .optional()
    .meta({ description: 'The `nextCursor` of the previous page.' }),
};

/** The fields of every list response beside its rows. */
export const pageResponse = { hasMore: z.boolean(), nextCursor: z.string().nullable() };

/** The position of a row in a list that is sorted newest first, so that new rows never appear on later pages. */
export interface Position {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly id: string;
}

/** The end of the year 9999: ISO 8601 writes later years differently. */
const LAST_INSTANT = 253_402_300_799_999;
const position = z.tuple([instant.max(LAST_INSTANT), z.string().regex(/^[a-z]{2,6}_[1-9A-HJ-NP-Za-km-z]{1,40}$/)]);

/** Encodes a position as an opaque cursor. It contains no filters, so it is valid in any list of the same rows. */
export const writeCursor = ({ createdAt, id }: Position): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');

/** Decodes a cursor, or returns null if `writeCursor` did not make it. */
export function readCursor(cursor: string): Position | null {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    // Not JSON: truncated, or not a cursor of this API.
    return null;
  }
  const parsed = position.safeParse(content);
  if (!parsed.success) return null;
  const [createdAt, id] = parsed.data;
  return { createdAt, id };
}
