import { isAuthorization, type TransactionHash } from '@pf/domain';
import type { WatchSet } from '../../port.ts';
import { inPieces } from '../../parts.ts';
import { byTurns, firstByTurns, type Parties, partiesOf, type Party } from '../../set-aside.ts';
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

/** False for what awaitedAmong never picks, known by a look at it alone. */
function awaitable(
  watch: Pick<WatchSet, 'submitted' | 'settling'>,
): (one: Parties & { readonly hash: TransactionHash }) => boolean {
  const hashes = new Set<TransactionHash>();
  const parties = new Set<string>();
  for (const { submission } of watch.submitted())
    if (isAuthorization(submission))
      parties.add(submission.terms.requestor).add(`${submission.terms.requestor} ${submission.sender}`);
    else hashes.add(submission.hash);
  for (const { settlement } of watch.settling()) if (settlement.lost) hashes.add(settlement.hash);
  if (hashes.size + parties.size === 0) return () => false;
  return (one) =>
    hashes.has(one.hash) ||
    (parties.size > 0 &&
      partiesOf(one).some(({ recipient, payer }) =>
        parties.has(payer === undefined ? recipient : `${recipient} ${payer}`),
      ));
}
