import type { DepositId, Instant } from '../model/ids.ts';
import type { Place } from '../model/landing.ts';
import type {
  Deposit,
  DepositCommand,
  DepositCommandType,
  DepositEvent,
  DepositEventData,
  DepositEventType,
  DepositObservation,
  DepositRefusal,
  DepositState,
} from './deposit.ts';
import { evolveDeposit } from './evolve.ts';

/** An observation of a deposit that is held goes to the dead letters. */
export class HeldDepositError extends Error {
  override readonly name = 'HeldDepositError';
}

/** An event and the deposit after it. */
export interface DepositTransition {
  readonly event: DepositEvent;
  readonly deposit: Deposit;
}

/**
 * What a watcher saw of a deposit: the event that it leads to, or null where nothing of it is new. Pure, and the same
 * observation twice changes nothing the second time: a transfer is received once, however often it is read.
 * @param now stamped by the partition's owner
 * @param before undefined where no event of it is in the log
 * @throws HeldDepositError
 */
export const decideDeposit = (
  observation: DepositObservation,
  now: Instant,
  before: Deposit | undefined,
): DepositTransition | null => {
  if (before?.heldFrom !== undefined)
    throw new HeldDepositError(`${before.id} is held from version ${before.heldFrom}`);
  const append = <Type extends DepositEventType>(type: Type, data: DepositEventData[Type]): DepositTransition =>
    transitionTo(before, observation.depositId, now, type, data);
  switch (observation.type) {
    case 'deposit_landed': {
      const { data } = observation;
      if (before === undefined || before.level === 'lost') return append('deposit.received', data);
      if (before.level === 'finalized') return null;
      // The intent counts it. A node that shows it as a deposit again must not have it counted twice.
      if (before.level === 'withdrawn') return null;
      // The reorg between them was seen by another watcher, or not yet.
      if (!isAt(before.arrival, data.arrival)) return append('deposit.received', data);
      return data.level === 'finalized' ? append('deposit.finalized', {}) : null;
    }
    case 'deposit_lost':
      return counts(before) && isAt(before.arrival, observation.data.place) ? append('deposit.lost', {}) : null;
    case 'deposit_withdrawn': {
      const { place, intentId, claimed } = observation.data;
      // Whoever holds a payment link can claim any transfer: that undoes no payment of another.
      if (claimed === true && before?.state === 'assigned') return null;
      return counts(before) && isAt(before.arrival, place) ? append('deposit.withdrawn', { intentId }) : null;
    }
    default:
      return observation satisfies never;
  }
};

/** What a command leads to. No transition: the deposit is as it wants it already. */
export type DepositDecision =
  | { readonly kind: 'accepted'; readonly transition: DepositTransition | null }
  | { readonly kind: 'refused'; readonly refusal: DepositRefusal };

/** Events of a deposit beyond which its account changes nothing more: what the chain shows has no such bound. */
const CHANGES_MAX = 200;

/** What each command makes of a deposit, and from which state. */
const ACTS = {
  ignore_deposit: { from: 'open', to: 'ignored', event: 'deposit.ignored', verb: 'ignored' },
  reopen_deposit: { from: 'ignored', to: 'open', event: 'deposit.reopened', verb: 'reopened' },
  assign_deposit: { from: 'open', to: 'assigned', event: 'deposit.assigned', verb: 'assigned' },
  unassign_deposit: { from: 'assigned', to: 'open', event: 'deposit.unassigned', verb: 'unassigned' },
} as const satisfies Readonly<
  Record<DepositCommandType, { from: DepositState; to: DepositState; event: DepositEventType; verb: string }>
>;

/**
 * What an account wants of its deposit. The same command twice changes nothing the second time, and is accepted.
 * @param now stamped by the partition's owner
 */
export const decideDepositCommand = (
  command: DepositCommand,
  now: Instant,
  before: Deposit | undefined,
): DepositDecision => {
  const { type, depositId, accountId, livemode } = command;
  const refused = (
    code: DepositRefusal['code'],
    message: string,
    more: Pick<DepositRefusal, 'current'> = {},
  ): DepositDecision => ({ kind: 'refused', refusal: { code, message, depositId, ...more } });
  if (before?.accountId !== accountId || before.livemode !== livemode)
    return refused('deposit.not_found', 'There is no deposit with this id.');
  if (before.heldFrom !== undefined)
    return refused('deposit.unavailable', 'The deposit cannot be processed at the moment. Nothing was changed.');
  const { from, to, event, verb } = ACTS[type];
  const { state, level, version, intentId } = before;
  // One deposit pays one intent.
  if (command.type === 'assign_deposit' && state === 'assigned' && intentId !== command.intentId)
    return refused(
      'deposit.invalid_state',
      `The deposit is assigned to ${String(intentId)}. Unassign it before you assign it to another payment intent.`,
      { current: { state, level } },
    );
  if (state === to) return { kind: 'accepted', transition: null };
  if (version >= CHANGES_MAX && type !== 'unassign_deposit')
    return refused('deposit.invalid_state', `The deposit has changed ${CHANGES_MAX} times, so it stays as it is.`, {
      current: { state, level },
    });
  // What was undone, or pays an intent, is no money of its own that anything could be done about.
  const differs = counts(before) ? state : level;
  // The intent need not wait for money that has gone.
  const isUndone = type === 'unassign_deposit' && state === from;
  if (differs !== from && !isUndone)
    return refused('deposit.invalid_state', `The deposit is ${differs}, so it cannot be ${verb}.`, {
      current: { state, level },
    });
  const subject = command.type === 'assign_deposit' ? command.intentId : intentId;
  const data = event === 'deposit.assigned' || event === 'deposit.unassigned' ? { intentId: subject } : {};
  return {
    kind: 'accepted',
    transition: transitionTo(before, depositId, now, event, data as DepositEventData[typeof event]),
  };
};

const transitionTo = <Type extends DepositEventType>(
  before: Deposit | undefined,
  depositId: DepositId,
  now: Instant,
  type: Type,
  data: DepositEventData[Type],
): DepositTransition => {
  const event = { type, depositId, version: (before?.version ?? 0) + 1, at: now, data } as DepositEvent;
  return { event, deposit: evolveDeposit(before, event) };
};

const counts = (deposit: Deposit | undefined): deposit is Deposit =>
  deposit?.level === 'confirmed' || deposit?.level === 'finalized';

const isAt = (one: Place, other: Place): boolean => one.block === other.block && one.blockHash === other.blockHash;
