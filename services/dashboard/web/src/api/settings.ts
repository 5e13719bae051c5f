import { queryOptions } from '@tanstack/react-query';
import { dashboard } from './client.ts';
import { queryClient } from './query-client.ts';
import type { SettingsChanges } from './types.ts';

const settingsKey = (accountId: string): readonly string[] => ['settings', accountId];

export const settingsQuery = (accountId: string) =>
  queryOptions({
    queryKey: settingsKey(accountId),
    queryFn: ({ signal }) => dashboard('get', '/accounts/{accountId}/settings', { params: { accountId }, signal }),
  });

/** Sends changes, and shows the settings that come back. */
export async function saveSettings(accountId: string, body: SettingsChanges): Promise<void> {
  const saved = await dashboard('patch', '/accounts/{accountId}/settings', { params: { accountId }, body });
  queryClient.setQueryData(settingsKey(accountId), saved);
}
