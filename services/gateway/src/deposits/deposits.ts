import {
  emptyRequest,
  listDepositsQuery,
  type Operation,
  OPERATIONS,
  parseDepositId,
  writeCursor,
} from '@pf/contracts';
import { type Database, findDeposit, type IntentOwner, listDeposits as findDeposits } from '@pf/database';
import { type DepositCommandType, type DepositId, depositView, type PublicDeposit } from '@pf/domain';
import { pageOf, positionOf, readBody, readQuery } from '@pf/http';
import type { Request } from 'express';
import { ApiError } from '../api-error.ts';
import type { Commands } from '../commands.ts';
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

/** The deposit id in the request's path. @throws ApiError `deposit.not_found` if it cannot be the id of a deposit */
function pathId({ params }: Request, partitions: number): DepositId {
  const named = parseDepositId(String(params['id']), partitions);
  if (!named) throw new ApiError('deposit.not_found');
  return named.id;
}

async function shownDeposit(database: Database, id: DepositId, owner: IntentOwner): Promise<PublicDeposit> {
  const deposit = await findDeposit(database, id, owner);
  if (!deposit) throw new ApiError('deposit.not_found');
  return depositView(deposit);
}

/** GET /deposits/{id}. */
export const getDeposit = ({ database, partitions }: Dependencies): Endpoint => ({
  operation: OPERATIONS.getDeposit,
  async handle({ holder, request }) {
    return { status: 200, body: { deposit: await shownDeposit(database, pathId(request, partitions), holder) } };
  },
});

/** An endpoint that sends a command and returns the deposit after it, which is projected before the outcome comes. */
const depositCommand =
  (operation: Operation, type: DepositCommandType) =>
  ({ commands, database, partitions }: Dependencies & { readonly commands: Commands }): Endpoint => ({
    operation,
    async handle({ holder, request, response }) {
      const depositId = pathId(request, partitions);
      await readBody(request, response, emptyRequest);
      const { accountId, livemode } = holder;
      await commands.requireOfDeposit({ type, depositId, accountId, livemode });
      return { status: 200, body: { deposit: await shownDeposit(database, depositId, holder) } };
    },
  });

/** POST /deposits/{id}/ignore. */
export const ignoreDeposit = depositCommand(OPERATIONS.ignoreDeposit, 'ignore_deposit');
/** POST /deposits/{id}/reopen. */
export const reopenDeposit = depositCommand(OPERATIONS.reopenDeposit, 'reopen_deposit');
