import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './error.ts';

const RETRIES_MAX = 2;

/** Whoever's session has ended sees the sign-in page: every page reads this entry. */
function noteSignedOut(error: unknown): void {
  if (error instanceof ApiError && error.code === 'session.required') queryClient.setQueryData(['session'], null);
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteSignedOut }),
  mutationCache: new MutationCache({ onError: noteSignedOut }),
  defaultOptions: {
    queries: {
      retry: (failures, error) => error instanceof ApiError && error.isTemporary && failures < RETRIES_MAX,
      staleTime: 5_000,
    },
    mutations: { retry: false },
  },
});
