import type { TransactionHash } from '@pf/domain';
import type { SignatureInfo } from '../calls.ts';

/** Transactions of a further page of a list. */
export const LONG_PAGE = 1_000;

/**
 * The last two of a page of a list. The next page is requested from the last but one on: it begins with the last,
 * unless the node does not know it.
 */
export interface PageEnd {
  readonly before: TransactionHash;
  readonly last: TransactionHash;
}

/**
 * Whether a page goes on where the one before ended: a node that does not know where it begins lists nothing, or what
 * it likes. The list is read from its newest again.
 * @param paging null: this is the first page
 */
export const goesOn = (paging: PageEnd | null, page: readonly SignatureInfo[]): boolean =>
  paging === null || page[0]?.signature === paging.last;

/**
 * Where the next page begins; null where the list was read to its end, or to what was read before.
 * @param limit what the first page was asked for
 */
export function restOf(
  paging: PageEnd | null,
  page: readonly SignatureInfo[],
  limit: number,
  isKnown: (last: SignatureInfo) => boolean,
): PageEnd | null {
  const [before, last] = page.slice(-2);
  // The first of a further page is the last of the page before. Providers may list fewer than they are asked for: only
  // a page without any other ends the list.
  const isEnd = paging === null ? page.length < limit : page.length === 1;
  if (isEnd || before === undefined || last === undefined || isKnown(last)) return null;
  return { before: before.signature, last: last.signature };
}
