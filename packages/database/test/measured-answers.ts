import type { Database } from '../src/index.ts';

/** A database, and the size of what its statements return. */
export interface MeasuredAnswers {
  readonly database: Database;
  /** Of each statement so far, the bytes of the texts in its rows. */
  readonly bytes: number[];
}

export function measureAnswers(database: Database): MeasuredAnswers {
  const bytes: number[] = [];
  const query = async (...given: unknown[]): Promise<unknown> => {
    const result = (await (database.sql.query as (...all: unknown[]) => unknown).apply(database.sql, given)) as {
      readonly rows: readonly object[];
    };
    const texts = result.rows
      .flatMap((row): unknown[] => Object.values(row))
      .filter((value) => typeof value === 'string');
    bytes.push(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
    return result;
  };
  const sql = new Proxy(database.sql, {
    get: (pool, property) => (property === 'query' ? query : Reflect.get(pool, property)) as unknown,
  });
  return { database: { ...database, sql }, bytes };
}

/** Metadata of the largest size that a request may have: 60 KB of JSON, in each state and event. */
export const largestMetadata = (): Record<string, string> =>
  Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`key${n}`, '\u0001'.repeat(500)]));
