import { VersionGapError } from '../evolve.ts';
import type {
  Address,
  ChainId,
  DepositId,
  Instant,
  IntentId,
  Reference,
  TokenAddress,
  TransactionHash,
} from '../model/ids.ts';
import { instantOf } from '../model/view.ts';
import type { Arrival, Deposit, DepositEvent } from './deposit.ts';
import type { PublicDeposit } from './view.ts';

/**
 * Folds one event into the deposit. Total over all events and states: an event has happened and is never refused.
 * @param before the fold of the events before; undefined before the first.
 * @throws VersionGapError when the event is of another deposit or not the next version.
 */
export const evolveDeposit = (before: Deposit | undefined, event: DepositEvent): Deposit => {
  const { depositId: id, version, at } = event;
  if (version !== (before?.version ?? 0) + 1 || (before !== undefined && before.id !== id)) throw gap(before, event);
  const updatedAt = Math.max(at, (before?.updatedAt ?? -1) + 1);
  if (event.type === 'deposit.received') {
    const { state, createdAt } = before ?? { state: 'open' as const, createdAt: at };
    const seen = { id, version, state, createdAt, updatedAt, ...event.data };
    // Landed again, it goes on paying the intent that its account has assigned it to.
    return before?.state === 'assigned' ? { ...seen, intentId: before.intentId } : seen;
  }
  if (before === undefined) throw gap(before, event);
  const after = { ...before, version, updatedAt };
  switch (event.type) {
    case 'deposit.finalized':
      return { ...after, level: 'finalized' };
    case 'deposit.lost':
      return { ...after, level: 'lost' };
    case 'deposit.withdrawn':
      return {
        ...after,
        level: 'withdrawn',
        // It pays by itself: there is no assignment left that could be undone.
        state: before.state === 'assigned' ? 'open' : before.state,
        intentId: event.data.intentId,
      };
    case 'deposit.ignored':
      return { ...after, state: 'ignored' };
    case 'deposit.reopened':
      return { ...after, state: 'open' };
    case 'deposit.assigned':
      return { ...after, state: 'assigned', intentId: event.data.intentId };
    case 'deposit.unassigned':
      return { ...after, state: 'open', intentId: null };
    default:
      return event satisfies never;
  }
};

/** What every version of a deposit's event has: its place in the history and the public deposit after it. */
export interface DepositEventHead {
  readonly type: string;
  readonly depositId: DepositId;
  readonly version: number;
  readonly accountId: Deposit['accountId'];
  readonly at: Instant;
  readonly shown: PublicDeposit;
}

/**
 * Passes over an event that this code does not understand, as hold() does for intents: the version moves on, the public
 * fields become those that the event shows, and nothing is decided about the deposit here.
 * @throws VersionGapError when it is not the next version.
 */
export const holdDeposit = (before: Deposit | undefined, event: DepositEventHead): Deposit => {
  const { depositId: id, version, accountId, shown } = event;
  if (version !== (before?.version ?? 0) + 1) throw gap(before, event);
  // In the order of the fold and of what is stored: equal folds are equal bytes.
  return {
    id,
    version,
    state: shown.state,
    createdAt: instantOf(shown.createdAt),
    updatedAt: instantOf(shown.updatedAt),
    accountId,
    livemode: shown.livemode,
    chain: shown.chain as ChainId,
    level: shown.level,
    reason: shown.reason,
    intentId: shown.intentId as IntentId | null,
    arrival: before?.arrival ?? arrivalOf(shown),
    heldFrom: before?.heldFrom ?? version,
  };
};

/** What no view shows, of a deposit whose very first event is not understood, is not known. */
const arrivalOf = (shown: PublicDeposit): Arrival => ({
  hash: shown.txSignature as TransactionHash,
  index: shown.transferIndex,
  block: BigInt(shown.block),
  blockHash: null,
  tokenAddress: shown.tokenAddress as TokenAddress | null,
  token: null,
  from: shown.sender as Address | null,
  to: shown.recipient as Address,
  amount: BigInt(shown.amountBaseUnits),
  reference: shown.reference as Reference | null,
  at: shown.blockTime === null ? null : instantOf(shown.blockTime),
});

const gap = (
  before: Deposit | undefined,
  { type, depositId, version }: Pick<DepositEvent, 'depositId' | 'version'> & { readonly type: string },
): VersionGapError => {
  const after = before === undefined ? 'no event' : `version ${before.version} of ${before.id}`;
  return new VersionGapError(`${type} is version ${version} of ${depositId}, after ${after}`);
};
