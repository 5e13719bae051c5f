import { isAuthorization, type TransactionHash } from '@pf/domain';
import type { WatchSet } from '../../port.ts';
import type { SetAside } from '../../set-aside.ts';
import { mayBeOf } from './lapsed.ts';

/** Of those that may have brought one authorization: its payer can make any number of them. */
const OF_ONE_MAX = 3;

/**
 * What must not be given up, or it could be taken for dropped: the transactions of live submissions and of lost
 * settlements, and of an authorization, which others bring to the chain, the first that may have brought it.
 */
export function awaitedAmong(
  watch: Pick<WatchSet, 'submitted' | 'settling'>,
  setAside: readonly Pick<SetAside, 'hash' | 'recipient' | 'payer'>[],
): (one: Pick<SetAside, 'hash'>) => boolean {
  // Most steps set nothing aside, and then no submission is looked at.
  if (setAside.length === 0) return () => false;
  const awaited = new Set<TransactionHash>();
  const byRecipient = Map.groupBy(setAside, ({ recipient }) => recipient);
  for (const { submission } of watch.submitted()) {
    const { hash, terms } = submission;
    if (!isAuthorization(submission)) awaited.add(hash);
    else
      for (const one of byRecipient
        .get(terms.requestor)
        ?.filter((aside) => mayBeOf({ submission }, aside))
        .slice(0, OF_ONE_MAX) ?? [])
        awaited.add(one.hash);
  }
  for (const { settlement } of watch.settling()) if (settlement.lost) awaited.add(settlement.hash);
  return ({ hash }) => awaited.has(hash);
}
