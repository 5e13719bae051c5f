import { listIntentsQuery, OPERATIONS, writeCursor } from '@pf/contracts';
import {
  type Database,
  type IntentFilter,
  type IntentOwner,
  listIntents as findIntents,
  newestCold,
} from '@pf/database';
import { isoTime, view } from '@pf/domain';
import { bytesOfJson, pageOf, positionOf, readQuery } from '@pf/http';
import type { Endpoint } from '../endpoint.ts';
import { filterOf } from './filter.ts';
import type { Adapters } from './lookup.ts';

/** GET /intents: the account's intents in the mode of the key, newest first. */
export const listIntents = ({
  adapters,
  database,
}: {
  readonly adapters: Adapters;
  readonly database: Database;
}): Endpoint => ({
  operation: OPERATIONS.listIntents,
  async handle({ holder, request }) {
    const { limit, cursor, ...query } = readQuery(request, listIntentsQuery);
    const after = positionOf({ cursor });
    const filter = filterOf(adapters, query, holder.livemode);
    const found = await findIntents(database, holder, filter, after, limit + 1);
    const { rows, hasMore, nextCursor } = pageOf(found, limit, writeCursor, (row) => bytesOfJson(view(row)));
    const endsAt = hasMore ? null : await endOf(database, holder, filter);
    return { status: 200, body: { intents: rows.map(view), hasMore, nextCursor, ...(endsAt && { endsAt }) } };
  },
});

/** Up to when intents were created that have left Postgres, and are not listed; null if the list lacks none of them. */
async function endOf(
  database: Database,
  owner: IntentOwner,
  { createdAfter }: Pick<IntentFilter, 'createdAfter'>,
): Promise<string | null> {
  const newest = await newestCold(database, owner);
  return newest === null || (createdAfter !== undefined && newest <= createdAfter) ? null : isoTime(newest);
}
