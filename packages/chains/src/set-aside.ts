import { bigintText, instant, transactionHash } from '@pf/contracts';
import type { Address, Instant, TransactionHash } from '@pf/domain';
import { z } from 'zod';
import { inTurns } from './in-turns.ts';

/** What a cursor keeps of a transaction that could not be judged. */
export const setAside = z.object({
  hash: transactionHash,
  /** Block number or slot. */
  place: bigintText,
  /** Why, for the operator. */
  reason: z.string(),
  /** The recipient to whom it may have paid something: the list has room for each. */
  recipient: z.string().transform((text) => text as Address),
  /** Who may have paid it: within a recipient's share none delays another. Absent: not known. */
  payer: z
    .string()
    .transform((text) => text as Address)
    .optional(),
  /** When it was set aside first, and when it is looked at again. */
  since: instant,
  dueAt: instant,
});
/**
 * A transaction that no step could judge: too large, of a shape that is unknown here, or its upstream lacked what was
 * needed. It is looked at again later, by another upstream too, and never stops the work for others.
 */
export type SetAside = z.infer<typeof setAside>;

/** All that a network keeps, by turns of the recipients, and with what must not be given up. */
const KEPT_MAX = 500;
const HELD_MAX = 1_000;
/** It is looked at again when it has waited half as long again, within these bounds, and given up after the last. */
const AGAIN_MIN_MS = 1_000;
const AGAIN_MAX_MS = 600_000;
const GIVEN_UP_MS = 24 * 3_600_000;
/** Warnings of one look: of more, only their number is told. */
const WARNED_MAX = 20;

const nextLook = (since: Instant, now: Instant): Instant =>
  now + Math.min(Math.max(Math.round((now - since) / 2), AGAIN_MIN_MS), AGAIN_MAX_MS);

/** Whom a transaction concerns. */
export interface Party {
  readonly recipient: Address;
  readonly payer?: Address | undefined;
}

/** By turns of the recipients, and within each by turns of the payers, so that none delays another. */
export function byTurns<T extends Party>(all: readonly T[]): readonly T[] {
  const byRecipient = [...Map.groupBy(all, ({ recipient }) => recipient).values()];
  return inTurns(
    byRecipient.flatMap((ofOne) => inTurns(ofOne, ({ payer }) => payer)),
    ({ recipient }) => recipient,
  );
}

/** Those that are to be looked at again now, by turns. */
export const dueAgain = (all: readonly SetAside[], now: Instant, most: number): readonly SetAside[] =>
  byTurns(all.filter(({ dueAt }) => dueAt <= now)).slice(0, most);

export interface SetAsideUpdate {
  readonly kept: readonly SetAside[];
  /** For the operator: what is new here, and what is given up. */
  readonly warnings: readonly string[];
}

/**
 * The list after a look: without what was judged, with what could not be judged (again).
 * @param failed what could not be judged, with the reason
 * @param isHeld what must not be given up: an intent waits for its outcome
 */
export function afterLook(
  before: readonly SetAside[],
  judged: ReadonlySet<TransactionHash>,
  failed: readonly Pick<SetAside, 'hash' | 'place' | 'reason' | 'recipient' | 'payer'>[],
  now: Instant,
  isHeld: (one: SetAside) => boolean = () => false,
): SetAsideUpdate {
  const warnings: string[] = [];
  const kept = new Map(before.filter(({ hash }) => !judged.has(hash)).map((one) => [one.hash, one]));
  for (const one of failed) {
    const since = kept.get(one.hash)?.since;
    if (since === undefined) warnings.push(`${one.hash} of ${one.place} is set aside: ${one.reason}`);
    kept.set(one.hash, { ...one, since: since ?? now, dueAt: nextLook(since ?? now, now) });
  }
  for (const one of kept.values())
    if (now - one.since >= GIVEN_UP_MS && !isHeld(one)) {
      warnings.push(`${one.hash} of ${one.place} is given up: ${one.reason}`);
      kept.delete(one.hash);
    }
  // Whoever has the most gives up the newest ones first.
  for (const [turn, one] of byTurns([...kept.values()]).entries()) {
    if (turn < KEPT_MAX || (turn < HELD_MAX && isHeld(one))) continue;
    warnings.push(`${one.hash} of ${one.place} is given up: its recipient has too many that could not be judged`);
    kept.delete(one.hash);
  }
  const untold = warnings.splice(WARNED_MAX).length;
  if (untold > 0) warnings.push(`${untold} more transactions are set aside or given up`);
  return { kept: [...kept.values()], warnings };
}
