import { PAGE_BYTES_MAX } from '@pf/contracts';

/**
 * Ends a list early where its rows are large, but never without a row: a process must not be filled with rows of which
 * the page shows few.
 * @param select its rows in its order, with `bytes`: the size of what each holds
 * @param order of the list, by columns of `select`
 */
export const withinPage = (select: string, order: string): string => `
  SELECT * FROM (
    SELECT listed.*, sum(bytes) OVER (${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
      FROM (${select}) AS listed) AS measured
   WHERE bytes_before IS NULL OR bytes_before < ${PAGE_BYTES_MAX} ${order}`;

/** @param wanted how many rows the statement would have returned, had they been small */
export const isCut = (rows: readonly { readonly bytes: number }[], wanted: number): boolean =>
  rows.length < wanted && rows.reduce((sum, { bytes }) => sum + bytes, 0) >= PAGE_BYTES_MAX;
