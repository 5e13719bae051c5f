import { queryOptions, useQuery } from '@tanstack/react-query';
import { dashboard } from './client.ts';
import { ApiError } from './error.ts';

const STALE_MS = 60_000;

/** Null: no person is signed in. */
async function readSession(signal: AbortSignal) {
  try {
    return await dashboard('get', '/session', { signal });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'session.required') return null;
    throw error;
  }
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => readSession(signal),
  staleTime: STALE_MS,
});

export const useSession = () => useQuery(sessionQuery);
