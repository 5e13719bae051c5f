/**
 * Bytes of what rows hold that one statement of a list reads: one caller must not fill a process with rows of which its
 * page shows few.
 */
const PAGE_BYTES = 1024 * 1024;

/** Rows of a list in their order, and whether it goes on behind them, though there are fewer than were asked for. */
export interface Listed<Row> {
  readonly rows: readonly Row[];
  readonly isCut: boolean;
}

/**
 * Ends a list early where its rows are large, but never without a row.
 * @param select its rows in its order, with `bytes`: the size of what each holds
 * @param order of the list, by columns of `select`
 */
export const withinPage = (select: string, order: string): string => `
  SELECT * FROM (
    SELECT listed.*, sum(bytes) OVER (${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
      FROM (${select}) AS listed) AS measured
   WHERE bytes_before IS NULL OR bytes_before < ${PAGE_BYTES} ${order}`;

/** @param wanted how many rows the statement would have returned, had they been small */
export const isCut = (rows: readonly { readonly bytes: number }[], wanted: number): boolean =>
  rows.length < wanted && rows.reduce((sum, { bytes }) => sum + bytes, 0) >= PAGE_BYTES;
