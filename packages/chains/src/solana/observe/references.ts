import type { Reference } from '@pf/domain';
import type { WatchSet } from '../../port.ts';
import { getSignaturesForAddress, type SignatureInfo } from '../calls.ts';
import { type Commit, listedAt } from './accounts.ts';
import type { Memory } from './memory.ts';

/** References that one step looks up: of intents with a payment under way, and of expired ones. */
const LOOKED_FOR_MAX = 2;
const LAPSED_MAX = 10;
/** A reference belongs to one payment; more is a repetition or abuse. */
const PAGE = 25;
/** A reference is looked up at once, and again when its waiting time has grown by half, within these bounds. */
const AGAIN_MIN_MS = 2_000;
const AGAIN_MAX_MS = 60_000;

export interface ReferenceReading {
  readonly calls: readonly ReturnType<typeof getSignaturesForAddress>[];
  read(answers: readonly (readonly SignatureInfo[])[], head: bigint, now: number): Commit;
}

/**
 * Looks up payments by their reference, for intents with a payment under way: so they are found also where they went to
 * another account of the requestor, or where there are too many accounts to poll all of them in every step. A reference
 * that is no longer expected is looked up one last time, and so is that of every intent that expires.
 */
export function dueReferences(memory: Memory, watch: WatchSet, head: bigint, now: number): ReferenceReading {
  const expected = new Set<Reference>([...watch.expected()].map(({ terms }) => terms.reference));
  for (const reference of expected)
    if (!memory.expected.has(reference)) memory.expected.set(reference, { since: now, dueAt: now });
  const isDue = ([reference, { dueAt }]: [Reference, { readonly dueAt: number }]): boolean =>
    dueAt <= now || !expected.has(reference);
  const due = [...memory.expected].filter(isDue).slice(0, LOOKED_FOR_MAX);
  const lapsed = lapsedIn(watch, memory);
  return {
    calls: [...due.map(([reference]) => reference), ...lapsed].map((reference) =>
      getSignaturesForAddress(reference, { limit: PAGE, atLeast: listedAt(head) }),
    ),
    read: (answers, reached, at) => () => {
      for (const answer of answers) {
        const found = answer.filter(
          ({ slot, err, signature }) => err === null && slot <= reached && !memory.looked.has(signature),
        );
        for (const { signature, slot } of found.toReversed())
          if (!memory.unseen.has(signature)) memory.unseen.set(signature, { slot, since: at });
      }
      for (const reference of lapsed) memory.lookedLast.set(reference, true);
      for (const [reference, { since }] of due) {
        // Moves to the end: the others have their turn first.
        memory.expected.delete(reference);
        if (expected.has(reference))
          memory.expected.set(reference, {
            since,
            dueAt: at + Math.min(Math.max((at - since) / 2, AGAIN_MIN_MS), AGAIN_MAX_MS),
          });
        else memory.lookedLast.set(reference, true);
      }
    },
  };
}

/** The next expired references that were not looked up one last time. */
function lapsedIn(watch: WatchSet, memory: Memory): readonly Reference[] {
  const found: Reference[] = [];
  for (const { terms } of watch.lapsed()) {
    if (found.length === LAPSED_MAX) break;
    if (!memory.lookedLast.has(terms.reference) && !memory.expected.has(terms.reference)) found.push(terms.reference);
  }
  return found;
}
