import {
  assignDepositRequest,
  emptyRequest,
  listDepositsQuery,
  type Operation,
  OPERATIONS,
  parseDepositId,
  parseIntentId,
  writeCursor,
} from '@pf/contracts';
import { type Database, type IntentOwner, type IntentQueries, listDeposits as findDeposits } from '@pf/database';
import {
  type Deposit,
  type DepositCommandData,
  type DepositId,
  depositView,
  type PublicDeposit,
  refusalOfAssignment,
  refusalOfUnassignment,
} from '@pf/domain';
import { pageOf, positionOf, readBody, readQuery } from '@pf/http';
import type { Request } from 'express';
import { ApiError } from '../api-error.ts';
import type { Commands } from '../commands.ts';
import type { Endpoint, EndpointResponse } from '../endpoint.ts';
import { filterOf } from '../intents/filter.ts';
import { requireCleanWallets, type ScreeningDependencies } from '../intents/clean-wallets.ts';
import { type Adapters, requireDecidable, requireIntent } from '../intents/lookup.ts';
import { requireAllowed } from '../refusals.ts';

interface ListingDependencies {
  readonly adapters: Adapters;
  readonly database: Database;
}

interface Dependencies {
  readonly intents: Pick<IntentQueries, 'findDeposit'>;
  readonly partitions: number;
}

/** GET /deposits: the account's deposits in the mode of the key, newest first. */
export const listDeposits = ({ adapters, database }: ListingDependencies): Endpoint => ({
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

async function requireDeposit({ intents }: Dependencies, id: DepositId, owner: IntentOwner): Promise<Deposit> {
  const deposit = await intents.findDeposit(id, owner);
  if (!deposit) throw new ApiError('deposit.not_found');
  return deposit;
}

const shownDeposit = async (dependencies: Dependencies, id: DepositId, owner: IntentOwner): Promise<PublicDeposit> =>
  depositView(await requireDeposit(dependencies, id, owner));

/** GET /deposits/{id}. */
export const getDeposit = (dependencies: Dependencies): Endpoint => ({
  operation: OPERATIONS.getDeposit,
  async handle({ holder, request }) {
    const depositId = pathId(request, dependencies.partitions);
    return { status: 200, body: { deposit: await shownDeposit(dependencies, depositId, holder) } };
  },
});

interface DecidingDependencies extends Dependencies {
  readonly commands: Commands;
}

/** Sends a command, and responds with the deposit after it, which is projected before the outcome comes. */
async function decide(
  dependencies: DecidingDependencies,
  depositId: DepositId,
  { accountId, livemode }: IntentOwner,
  command: DepositCommandData,
): Promise<EndpointResponse> {
  await dependencies.commands.requireOfDeposit({ ...command, depositId, accountId, livemode });
  return { status: 200, body: { deposit: await shownDeposit(dependencies, depositId, { accountId, livemode }) } };
}

const depositCommand =
  (operation: Operation, type: 'ignore_deposit' | 'reopen_deposit') =>
  (dependencies: DecidingDependencies): Endpoint => ({
    operation,
    async handle({ holder, request, response }) {
      const depositId = pathId(request, dependencies.partitions);
      await readBody(request, response, emptyRequest);
      return decide(dependencies, depositId, holder, { type });
    },
  });

/** POST /deposits/{id}/ignore. */
export const ignoreDeposit = depositCommand(OPERATIONS.ignoreDeposit, 'ignore_deposit');
/** POST /deposits/{id}/reopen. */
export const reopenDeposit = depositCommand(OPERATIONS.reopenDeposit, 'reopen_deposit');

interface AssigningDependencies extends DecidingDependencies, ScreeningDependencies {
  readonly intents: IntentQueries;
}

/**
 * POST /deposits/{id}/assign. The terms are compared here, because the deposit's writer does not have the intent; the
 * intent's writer compares them again, and tells of a mismatched payment where they have changed meanwhile. The sender
 * was not screened when the money came: no intent was submitted for it.
 */
export const assignDeposit = (dependencies: AssigningDependencies): Endpoint => ({
  operation: OPERATIONS.assignDeposit,
  async handle({ holder, request, response }) {
    const { intents, partitions } = dependencies;
    const depositId = pathId(request, partitions);
    const { intentId: text } = await readBody(request, response, assignDepositRequest);
    const deposit = await requireDeposit(dependencies, depositId, holder);
    const named = parseIntentId(text, partitions);
    if (!named) throw new ApiError('intent.not_found');
    const intent = await requireIntent(intents, named.id, holder);
    requireDecidable(intent);
    requireAllowed(refusalOfAssignment(deposit, intent));
    const { chain, requestor } = intent;
    const wallets = { chain, requestor, fulfiller: deposit.arrival.from };
    await requireCleanWallets(dependencies, wallets, { holder, what: 'assign', intentId: intent.id });
    return decide(dependencies, depositId, holder, { type: 'assign_deposit', intentId: intent.id });
  },
});

/**
 * POST /deposits/{id}/unassign. A refund that is created at the same moment cannot be paid: its original is unpaid, as
 * after a reorg.
 */
export const unassignDeposit = (dependencies: AssigningDependencies): Endpoint => ({
  operation: OPERATIONS.unassignDeposit,
  async handle({ holder, request, response }) {
    const { intents, partitions } = dependencies;
    const depositId = pathId(request, partitions);
    await readBody(request, response, emptyRequest);
    const deposit = await requireDeposit(dependencies, depositId, holder);
    if (deposit.state === 'assigned' && deposit.intentId !== null) {
      const intent = await requireIntent(intents, deposit.intentId, holder);
      // It could not take in that the deposit pays it no longer, and another would be paid by the same money.
      requireDecidable(intent);
      requireAllowed(refusalOfUnassignment(deposit, intent));
    }
    return decide(dependencies, depositId, holder, { type: 'unassign_deposit' });
  },
});
