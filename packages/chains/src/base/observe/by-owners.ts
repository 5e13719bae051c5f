import type { TransactionHash } from '@pf/domain';
import type { WatchSet } from '../../port.ts';
import { byTurns, type Party } from '../../set-aside.ts';
import { awaitedAmong } from './awaited.ts';

/**
 * In which order to look at transactions where there may be no room for all: those that open intents wait for, then by
 * turns of the accounts that own the intents, of their recipients, and of the payers. So whoever pays one recipient a
 * thousand times delays only what that recipient gets, and there no other payer.
 */
export function byOwners<T extends Party & { readonly hash: TransactionHash }>(
  watch: Pick<WatchSet, 'ownersOf' | 'submitted' | 'settling'>,
  all: readonly T[],
): readonly T[] {
  const isAwaited = awaitedAmong(watch, all);
  const inOrder = byTurns(watch, all);
  return [...inOrder.filter(isAwaited), ...inOrder.filter((one) => !isAwaited(one))];
}
