import { createContext, use, useEffect, useState } from 'react';
import type { Place } from './client.ts';
import { isFirstPage } from './pages.ts';
import { queryClient } from './query-client.ts';

/** Queries are read again after so long in any case: a notice can be lost. */
const LIVE_MS = 60_000;
/** The same while there is no stream. */
const LOST_MS = 10_000;
/** How soon a stream that was refused is tried again. */
const RETRY_MS = 10_000;
/** A server that is replaced ends its streams, and another one takes them at once: nothing to speak of. */
const GRACE_MS = 5_000;
const LIVE = { live: true } as const;

/** Whether the stream of the account is lost. */
export const LostContext = createContext(false);

/**
 * Options of a query that is read again as soon as something of the account changes. A list of which further pages were
 * opened stays as it is.
 */
export function useLive() {
  const isLost = use(LostContext);
  return {
    meta: LIVE,
    refetchInterval: (query: Parameters<typeof isFirstPage>[0]) => isFirstPage(query) && (isLost ? LOST_MS : LIVE_MS),
  };
}

const readAgain = (): void =>
  void queryClient.invalidateQueries({ predicate: (query) => query.meta?.['live'] === true && isFirstPage(query) });

/**
 * Follows an account while its page can be seen: browsers open few connections to a server without HTTP/2, and hidden
 * pages would take them all. @returns whether the stream is lost
 */
export function useAccountStream({ accountId, mode }: Place): boolean {
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const path = `/api/accounts/${encodeURIComponent(accountId)}/${mode}/stream`;
    let source: EventSource | null = null;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let grace: ReturnType<typeof setTimeout> | undefined;
    const close = (): void => {
      clearTimeout(retry);
      clearTimeout(grace);
      grace = undefined;
      source?.close();
      source = null;
    };
    const open = (): void => {
      const opened = new EventSource(path);
      source = opened;
      opened.addEventListener('open', () => {
        clearTimeout(grace);
        grace = undefined;
        setLost(false);
      });
      opened.addEventListener('changed', readAgain);
      opened.addEventListener('error', () => {
        grace ??= setTimeout(() => setLost(true), GRACE_MS);
        // Refused, so that the browser does not connect again by itself.
        if (opened.readyState === EventSource.CLOSED) retry = setTimeout(open, RETRY_MS);
      });
    };
    const onVisibility = (): void => {
      close();
      if (!document.hidden) open();
    };
    onVisibility();
    document.addEventListener('visibilitychange', onVisibility);
    return () => {
      document.removeEventListener('visibilitychange', onVisibility);
      close();
      setLost(false);
    };
  }, [accountId, mode]);
  return isLost;
}
