import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError, messageOf } from '../api/error.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';
import { Page } from './page.tsx';

/** What a query has found; before that its outline, and what to do where it failed. */
export function Loaded<Data>({
  query,
  outline = <Skeleton />,
  children,
}: {
  readonly query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'isFetching' | 'refetch'>;
  readonly outline?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}) {
  const { data, error, isFetching, refetch } = query;
  if (data === undefined && !error) return outline;
  return (
    <>
      {error && (
        <Notice
          kind="bad"
          title={data === undefined ? 'This could not be loaded.' : 'This could not be updated: it may be out of date.'}
          action={
            !(error instanceof ApiError) || error.isTemporary ? (
              <Button isPending={isFetching} onPress={() => void refetch()}>
                Try again
              </Button>
            ) : undefined
          }
        >
          {messageOf(error)}
        </Notice>
      )}
      {data !== undefined && children(data)}
    </>
  );
}

/** A page of one thing. Where there is no such thing, it says so, and leads back. */
export function LoadedPage<Data>({
  missing,
  back,
  ...rest
}: Parameters<typeof Loaded<Data>>[0] & {
  /** The heading where it does not exist: "Payment not found". */
  readonly missing: string;
  readonly back: ReactNode;
}) {
  const { error } = rest.query;
  if (error instanceof ApiError && error.status === 404)
    return (
      <Page title={missing} back={back} about="This account has none with this address in this mode.">
        <p>It may be of another account, or of the other mode: switch above.</p>
      </Page>
    );
  return <Loaded {...rest} />;
}

/** The outline of what is being loaded. */
export function Skeleton({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div className="skeleton" role="status">
      <span className="hidden">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} aria-hidden />
      ))}
    </div>
  );
}

/** The way to the rows after those that are shown. */
export const More = ({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => Promise<unknown>;
  };
}) =>
  hasNextPage && (
    <div className="row middle">
      <Button isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
        Show older
      </Button>
    </div>
  );

/** Says what will be here, and how it comes. */
export function Empty({
  title,
  icon,
  actions,
  children,
}: {
  readonly title: string;
  readonly icon?: ReactNode;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <div className="empty">
      {icon !== undefined && <div className="empty-icon">{icon}</div>}
      <h3>{title}</h3>
      {children !== undefined && <div className="muted">{children}</div>}
      {actions !== undefined && <div className="row">{actions}</div>}
    </div>
  );
}
