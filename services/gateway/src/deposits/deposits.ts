import { listDepositsQuery, OPERATIONS, parseDepositId, writeCursor } from '@pf/contracts';
import { type Database, findDeposit, listDeposits as findDeposits } from '@pf/database';
import { depositView } from '@pf/domain';
import { pageOf, positionOf, readQuery } from '@pf/http';
import { ApiError } from '../api-error.ts';
import type { Endpoint } from '../endpoint.ts';
import { filterOf } from '../intents/filter.ts';
import type { Adapters } from '../intents/lookup.ts';

interface Dependencies {
  readonly adapters: Adapters;
  readonly database: Database;
  readonly partitions: number;
}

/** GET /deposits: the account's deposits in the mode of the key, newest first. */
export const listDeposits = ({ adapters, database }: Dependencies): Endpoint => ({
  operation: OPERATIONS.listDeposits,
  async handle({ holder, request }) {
    const { limit, cursor, state: states, recipient, ...query } = readQuery(request, listDepositsQuery);
    const after = positionOf({ cursor });
    // What a recipient, a token, a chain and a transaction may be is the same for intents.
    const {
      requestor,
      states: _,
      ...filter
    } = filterOf(
      adapters,
      { ...query, ...(recipient !== undefined && { requestor: recipient }) },
      holder.livemode,
      'recipient',
    );
    const wanted = { ...filter, ...(states && { states }), ...(requestor && { recipient: requestor }) };
    const found = await findDeposits(database, holder, wanted, after, limit + 1);
    const { rows, hasMore, nextCursor } = pageOf(found, limit, writeCursor);
    return { status: 200, body: { deposits: rows.map(depositView), hasMore, nextCursor } };
  },
});

/** GET /deposits/{id}. */
export const getDeposit = ({ database, partitions }: Dependencies): Endpoint => ({
  operation: OPERATIONS.getDeposit,
  async handle({ holder, request }) {
    const named = parseDepositId(String(request.params['id']), partitions);
    const deposit = named && (await findDeposit(database, named.id, holder));
    if (!deposit) throw new ApiError('deposit.not_found');
    return { status: 200, body: { deposit: depositView(deposit) } };
  },
});
