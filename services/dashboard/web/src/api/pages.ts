/** How a list is read page by page, by the cursors of the API. */
export const BY_CURSOR = {
  initialPageParam: null as string | null,
  getNextPageParam: ({ nextCursor }: { readonly nextCursor: string | null }) => nextCursor,
};

interface Read {
  readonly state: { readonly data: unknown };
}

/** Whether a query has no further pages. A list with some is not read again: whoever reads those wants them to stay. */
export const isFirstPage = ({ state: { data } }: Read): boolean =>
  ((data as { readonly pages?: readonly unknown[] } | undefined)?.pages?.length ?? 1) === 1;
