import type { AccountId, Address } from '@pf/domain';
import { Turns } from '../../in-turns.ts';
import { ownersIn } from '../../owners.ts';
import type { WatchSet } from '../../port.ts';
import { newestOf, type Checkpoint } from './checkpoints.ts';

/**
 * ms between two readings of the logs of all recipients where one call does not take them all. Between them a step
 * looks at those that are paid soonest: an early look.
 */
export const WHOLE_MS = 15_000;

/** How far an observer has read. */
export interface ReadPosition {
  readonly checkpoints: readonly Checkpoint[];
  readonly whole?: bigint | undefined;
}

/**
 * Up to this block the logs of all recipients were read. Early looks go on from the newest checkpoint, and never move
 * this: what they leave out is read from here.
 */
export const wholeOf = (position: ReadPosition): bigint => position.whole ?? newestOf(position).number;

/** As it is stored: nothing where it is the newest checkpoint, as older versions take it to be. */
export const writtenWhole = (position: ReadPosition, whole: bigint): { readonly whole?: bigint } =>
  whole < newestOf(position).number ? { whole } : {};

/** Recipients of one early look. Few upstreams take more than a thousand of them in a call, and a step is soon over. */
const EARLY_MAX = 4_000;

/**
 * The recipients of live submissions, of announced payments and of new intents. Of very many, so many as an early look
 * takes, by turns of the accounts that own the intents: the reading of all recipients has the others.
 */
export function soonestPaid(
  watch: Pick<WatchSet, 'awaited' | 'expected' | 'ownersOf' | 'submitted'>,
): readonly Address[] {
  const soonest = new Set<Address>();
  for (const { terms } of watch.submitted()) soonest.add(terms.requestor);
  for (const { terms } of watch.expected()) soonest.add(terms.requestor);
  for (const recipient of watch.awaited()) soonest.add(recipient);
  const all = [...soonest];
  if (all.length <= EARLY_MAX) return all;
  const turns = new Turns<AccountId | null>();
  const inOrder = turns.orderShared(
    all,
    (recipient) => ownersIn(watch, recipient),
    (ofOne) => ofOne,
  );
  return inOrder.slice(0, EARLY_MAX).map(([, recipient]) => recipient);
}
