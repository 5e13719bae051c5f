import type { TransactionHash } from '@pf/domain';
import type { WatchSet } from '../../port.ts';
import { inPieces } from '../../parts.ts';
import { byTurns, firstByTurns, type Parties, type Party } from '../../set-aside.ts';
import { awaitable, awaitedAmong } from './awaited.ts';

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

/** The first of byOwners, where strangers may make any number, little by little. */
export async function firstByOwners<T extends Parties & { readonly hash: TransactionHash }>(
  watch: Pick<WatchSet, 'ownersOf' | 'submitted' | 'settling'>,
  all: readonly T[],
  most: number,
): Promise<readonly T[]> {
  const mayBeAwaited = awaitable(watch);
  const isAwaited = awaitedAmong(watch, await inPieces(all, (one) => (mayBeAwaited(one) ? [one] : [])));
  const awaited: T[] = [];
  const others = await inPieces(all, (one) => {
    if (!isAwaited(one)) return [one];
    awaited.push(one);
    return [];
  });
  return [...byTurns(watch, awaited), ...(await firstByTurns(watch, others, most))].slice(0, most);
}
