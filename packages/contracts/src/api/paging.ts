import { z } from 'zod';
import { instant } from '../scalars.ts';
import { must } from './fields.ts';
import { PAGE_LIMIT } from './limits.ts';

const limitRule = must(`a whole number from 1 to ${PAGE_LIMIT.max}`);
/** In a query everything is text. */
const limit = z
  .string(limitRule)
  .regex(/^(100|[1-9]\d?)$/, limitRule)
  .transform(Number)
  .default(PAGE_LIMIT.default)
  .meta({
    description: 'How many to answer at once.',
    override: { type: 'integer', minimum: 1, maximum: PAGE_LIMIT.max, default: PAGE_LIMIT.default },
  });

const cursorRule = must('the `nextCursor` of an earlier answer');

/** What every list takes. The cursor is read by readCursor. */
export const pageQuery = {
  limit,
  cursor: z
    .string(cursorRule)
    .max(200, cursorRule)
    .optional()
    .meta({ description: 'The `nextCursor` of the page before.' }),
};

/** What every list answers beside its rows. */
export const pageResponse = { hasMore: z.boolean(), nextCursor: z.string().nullable() };

/** The place of a row in a list, newest first: rows are never put in before one that has been seen. */
export interface Position {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly id: string;
}

/** The end of the year 9999, beyond which formats disagree. */
const LAST_INSTANT = 253_402_300_799_999;
const position = z.tuple([instant.max(LAST_INSTANT), z.string().regex(/^[a-z]{2,6}_[1-9A-HJ-NP-Za-km-z]{1,40}$/)]);

/** A position as clients carry it: opaque. It holds nothing but a time and an id, and names no filters: it fits any list of the same rows. */
export const writeCursor = ({ createdAt, id }: Position): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');

/** The position of a cursor, or null where it is none of ours. */
export function readCursor(cursor: string): Position | null {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    // Not JSON: somebody else's, or one that was cut.
    return null;
  }
  const parsed = position.safeParse(content);
  if (!parsed.success) return null;
  const [createdAt, id] = parsed.data;
  return { createdAt, id };
}
