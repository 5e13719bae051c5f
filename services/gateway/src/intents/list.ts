import { listIntentsQuery, OPERATIONS, writeCursor } from '@pf/contracts';
import { type Database, listIntents as findIntents } from '@pf/database';
import { view } from '@pf/domain';
import { pageOf, positionOf, readQuery } from '@pf/http';
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
    const found = await findIntents(database, holder, filterOf(adapters, query, holder.livemode), after, limit + 1);
    const { rows, hasMore, nextCursor } = pageOf(found, limit, writeCursor);
    return { status: 200, body: { intents: rows.map(view), hasMore, nextCursor } };
  },
});
