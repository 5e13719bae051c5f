import type { Address } from '@pf/domain';
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

/** The recipients of new intents, of announced payments and of live submissions. */
export function soonestPaid(watch: Pick<WatchSet, 'awaited' | 'expected' | 'submitted'>): readonly Address[] {
  const soonest = new Set(watch.awaited());
  for (const { terms } of watch.expected()) soonest.add(terms.requestor);
  for (const { terms } of watch.submitted()) soonest.add(terms.requestor);
  return [...soonest];
}
