import { bigintText, instant, transactionHash } from '@pf/contracts';
import type { Address, Instant, TransactionHash } from '@pf/domain';
import { z } from 'zod';

/** What a cursor keeps of a transaction that could not be judged. */
export const setAside = z.object({
  hash: transactionHash,
  /** Block number or slot. */
  place: bigintText,
  /** Why, for the operator. */
  reason: z.string(),
  /** The recipient to whom it may have paid something: the list has room for each. */
  recipient: z.string().transform((text) => text as Address),
  /** When it was set aside first, and when it is looked at again. */
  since: instant,
  dueAt: instant,
});
/**
 * A transaction that no step could judge: too large, of a shape that is unknown here, or its upstream lacked what was
 * needed. It is looked at again later, by another upstream too, and never stops the work for others.
 */
export type SetAside = z.infer<typeof setAside>;

/** All that a network keeps, and what one recipient may have of that while others need room. */
const KEPT_MAX = 500;
/** It is looked at again when it has waited half as long again, within these bounds, and given up after the last. */
const AGAIN_MIN_MS = 1_000;
const AGAIN_MAX_MS = 600_000;
const GIVEN_UP_MS = 24 * 3_600_000;

const nextLook = (since: Instant, now: Instant): Instant =>
  now + Math.min(Math.max(Math.round((now - since) / 2), AGAIN_MIN_MS), AGAIN_MAX_MS);

/** Those that are to be looked at again now, by turns of their recipients, so that no recipient delays another. */
export function dueAgain(all: readonly SetAside[], now: Instant, most: number): readonly SetAside[] {
  const due = [
    ...Map.groupBy(
      all.filter(({ dueAt }) => dueAt <= now),
      ({ recipient }) => recipient,
    ).values(),
  ];
  const turns = Math.max(0, ...due.map(({ length }) => length));
  return Array.from({ length: turns }, (_, turn) => due.flatMap((ofOne) => ofOne[turn] ?? []))
    .flat()
    .slice(0, most);
}

export interface SetAsideUpdate {
  readonly kept: readonly SetAside[];
  /** For the operator: what is new here, and what is given up. */
  readonly warnings: readonly string[];
}

/**
 * The list after a look: without what was judged, with what could not be judged (again).
 * @param failed what could not be judged, with the reason
 */
export function afterLook(
  before: readonly SetAside[],
  judged: ReadonlySet<TransactionHash>,
  failed: readonly Pick<SetAside, 'hash' | 'place' | 'reason' | 'recipient'>[],
  now: Instant,
): SetAsideUpdate {
  const warnings: string[] = [];
  const kept = new Map(before.filter(({ hash }) => !judged.has(hash)).map((one) => [one.hash, one]));
  for (const one of failed) {
    const since = kept.get(one.hash)?.since;
    if (since === undefined) warnings.push(`${one.hash} of ${one.place} is set aside: ${one.reason}`);
    kept.set(one.hash, { ...one, since: since ?? now, dueAt: nextLook(since ?? now, now) });
  }
  for (const { hash, place, reason, since } of kept.values())
    if (now - since >= GIVEN_UP_MS) {
      warnings.push(`${hash} of ${place} is given up: ${reason}`);
      kept.delete(hash);
    }
  while (kept.size > KEPT_MAX) {
    const { hash, place } = newestOfGreediest([...kept.values()]);
    warnings.push(`${hash} of ${place} is given up: its recipient has too many that could not be judged`);
    kept.delete(hash);
  }
  return { kept: [...kept.values()], warnings };
}

/** The newest one of the recipient that has the most. */
function newestOfGreediest(all: readonly SetAside[]): SetAside {
  const byRecipient = [...Map.groupBy(all, ({ recipient }) => recipient).values()];
  const greediest = byRecipient.reduce((most, ofOne) => (ofOne.length > most.length ? ofOne : most));
  return greediest.at(-1) as SetAside;
}
