// The sanctions provider of the local stack. It also keeps the list fresh; in production a job does that with
// `pf sanctions update`.
import { writeListFile } from '@pf/screening/list-file';
import { startSanctionsProvider } from '@pf/testing/sanctions-provider';
import { z } from 'zod';
import { sanctionedByList, sanctionedByProvider } from './addresses.ts';

/** Screening rejects a list that is older than 48 hours. */
const REFRESH_MS = 6 * 3_600_000;
/** About the latency of a provider in the same region. */
const LATENCY_MS = 5;

const { PORT, API_KEY, LIST_FILE } = z
  .object({ PORT: z.coerce.number().int(), API_KEY: z.string(), LIST_FILE: z.string() })
  .parse(process.env);

const refresh = (): Promise<void> =>
  writeListFile(LIST_FILE, {
    version: 1,
    source: 'local stack',
    publishedOn: null,
    fetchedAt: new Date().toISOString(),
    count: sanctionedByList.length,
    addresses: sanctionedByList,
  });

await refresh();
// A failed refresh ends the process; the supervisor restarts it and shows why.
const refreshing = setInterval(() => void refresh(), REFRESH_MS);
const provider = await startSanctionsProvider({
  port: PORT,
  apiKey: API_KEY,
  sanctioned: sanctionedByProvider,
  latencyMs: LATENCY_MS,
});
process.once('SIGTERM', () => {
  clearInterval(refreshing);
  void provider.close();
});
