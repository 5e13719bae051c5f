import { listDeliveriesQuery, OPERATIONS, writeCursor } from '@pf/contracts';
import { type Database, listDeliveries as findDeliveries } from '@pf/database';
import { pageOf, positionOf, readQuery } from '@pf/http';
import type { Endpoint } from '../endpoint.ts';
import { shownDelivery } from './shown.ts';

/** GET /webhooks: the account's deliveries in the mode of the key, newest first. */
export const listDeliveries = ({ database }: { readonly database: Database }): Endpoint => ({
  operation: OPERATIONS.listDeliveries,
  async handle({ holder, request }) {
    const { limit, cursor, ...filters } = readQuery(request, listDeliveriesQuery);
    const found = await findDeliveries(database, holder, filters, positionOf({ cursor }), limit + 1);
    const { rows, hasMore, nextCursor } = pageOf(found, limit, ({ createdAt, id }) =>
      writeCursor({ createdAt: createdAt.getTime(), id }),
    );
    return { status: 200, body: { deliveries: rows.map(shownDelivery), hasMore, nextCursor } };
  },
});
