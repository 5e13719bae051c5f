import { isAuthorization, type TransactionHash } from '@pf/domain';
import type { WatchSet } from '../../port.ts';
import { type Parties, partiesOf } from '../../set-aside.ts';
import { isBetween, wasUsedBy } from './lapsed.ts';
import type { Memory } from './memory.ts';

/** Of those that may have brought one authorization: its payer can make any number of them. */
const OF_ONE_MAX = 3;

/**
 * What must not be given up, or it could be taken for dropped: the transactions of live submissions and of lost
 * settlements, and of an authorization, which others bring to the chain, the first that may have brought it.
 * @param memory of those that are known not to have brought it
 */
export function awaitedAmong<T extends Parties & { readonly hash: TransactionHash }>(
  watch: Pick<WatchSet, 'submitted' | 'settling'>,
  setAside: readonly T[],
  memory: Pick<Memory, 'usedBy'> | null = null,
): (one: Pick<T, 'hash'>) => boolean {
  // Most steps set nothing aside, and then no submission is looked at.
  if (setAside.length === 0) return () => false;
  const awaited = new Set<TransactionHash>();
  const byRecipient = Map.groupBy(
    setAside.flatMap((one) =>
      [...new Set(partiesOf(one).map(({ recipient }) => recipient))].map((of) => ({ of, one })),
    ),
    ({ of }) => of,
  );
  for (const { submission } of watch.submitted()) {
    if (!isAuthorization(submission)) {
      awaited.add(submission.hash);
      continue;
    }
    const likely = (byRecipient.get(submission.terms.requestor) ?? [])
      .map(({ one }) => one)
      .filter((one) => isBetween({ submission }, one) && (memory && wasUsedBy(memory, { submission }, one)) !== false);
    for (const one of likely.slice(0, OF_ONE_MAX)) awaited.add(one.hash);
  }
  for (const { settlement } of watch.settling()) if (settlement.lost) awaited.add(settlement.hash);
  return ({ hash }) => awaited.has(hash);
}

/** False for what awaitedAmong never picks (isBetween), known by a look at it alone. */
export function awaitable(
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
