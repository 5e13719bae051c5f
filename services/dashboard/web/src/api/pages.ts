/** How a list is read page by page, by the cursors of the API. */
export const BY_CURSOR = {
  initialPageParam: null as string | null,
  getNextPageParam: ({ nextCursor }: { readonly nextCursor: string | null }) => nextCursor,
};

interface PagedQuery {
  readonly state: { readonly data: { readonly pages: readonly unknown[] } | undefined };
}

/** Refreshes a list until further pages are read: whoever reads those wants them to stay. */
export const whileFirstPage =
  (refreshMs: number) =>
  ({ state: { data } }: PagedQuery): number | false =>
    (data?.pages.length ?? 1) === 1 ? refreshMs : false;
