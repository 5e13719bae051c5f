import type { AccountId, Address, Reference } from '@pf/domain';
import { inTurns } from '../../in-turns.ts';
import { ownersIn } from '../../owners.ts';
import type { WatchSet } from '../../port.ts';
import { type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { getSignaturesForAddress, type SignatureInfo } from '../calls.ts';
import { type Commit, listedAt } from './accounts.ts';
import type { Memory } from './memory.ts';

/** References that one step looks up: of intents with a payment under way, and of expired ones. */
const LOOKED_FOR_MAX = 2;
const LAPSED_MAX = 10;
/** Of so many expired intents the next ones are chosen. */
const LAPSED_SEEN_MAX = 1_000;
/** A reference belongs to one payment; more is a repetition or abuse. */
const PAGE = 25;
/** A reference is looked up at once, and again when its waiting time has grown by half, within these bounds. */
const AGAIN_MIN_MS = 2_000;
const AGAIN_MAX_MS = 60_000;

type Answers = readonly (readonly SignatureInfo[])[];
export interface ReferenceReading {
  readonly calls: readonly ReturnType<typeof getSignaturesForAddress>[];
  /** The last look at references, which counts only at a node that has this head. Null: due again in the next step. */
  lookLast(node: RpcNode): Promise<Answers | null>;
  read(answers: Answers, last: Answers | null, head: bigint, now: number): Commit;
}

/**
 * Looks up payments by their reference, for intents with a payment under way: so they are found also where they went to
 * another account of the requestor, or where there are too many accounts to poll all of them in every step. A reference
 * that is no longer expected is looked up one last time, and so is that of every intent that expires.
 * @param most expired references that the upstream's rate allows in a step
 */
export function dueReferences(
  memory: Memory,
  watch: WatchSet,
  head: bigint,
  now: number,
  most: number,
): ReferenceReading {
  const expected = new Map([...watch.expected()].map(({ terms }) => [terms.reference, terms.requestor]));
  for (const reference of expected.keys())
    if (!memory.expected.has(reference)) memory.expected.set(reference, { since: now, dueAt: now });
  const isDue = ([reference, { dueAt }]: [Reference, { readonly dueAt: number }]): boolean =>
    dueAt <= now || !expected.has(reference);
  const recipientOf = ([reference]: [Reference, unknown]): Address | null => expected.get(reference) ?? null;
  const ownersOf = (one: [Reference, unknown]): readonly (AccountId | null)[] => ownersIn(watch, recipientOf(one));
  // The intents of one account must not delay those of others, nor those of one recipient.
  const open = [...memory.expected].filter(isDue);
  const taken = memory.referenceTurns
    .orderShared(open, ownersOf, (ofOne) => memory.expectedTurns.order(ofOne, recipientOf))
    .slice(0, LOOKED_FOR_MAX);
  const due = taken.map(([, one]) => one);
  const awaited = due.filter(([reference]) => expected.has(reference));
  const ended = due.flatMap(([reference]) => (expected.has(reference) ? [] : [reference]));
  const last = [...ended, ...lapsedIn(watch, memory, Math.min(LAPSED_MAX, most))];
  const listed = (reference: Reference, atLeast: bigint): ReturnType<typeof getSignaturesForAddress> =>
    getSignaturesForAddress(reference, { limit: PAGE, atLeast });
  return {
    calls: awaited.map(([reference]) => listed(reference, listedAt(head))),
    lookLast: async (node) => {
      if (last.length === 0) return null;
      try {
        return await node.batch(last.map((reference) => listed(reference, head)));
      } catch (error) {
        // It has not come so far: nothing else of the step depends on it.
        if (error instanceof RpcUpstreamError) return null;
        throw error;
      }
    },
    read: (answers, lastAnswers, reached, at) => () => {
      for (const answer of [...answers, ...(lastAnswers ?? [])]) {
        const found = answer.filter(
          ({ slot, err, signature }) => err === null && slot <= reached && !memory.looked.has(signature),
        );
        for (const { signature, slot } of found.toReversed())
          if (!memory.unseen.has(signature)) memory.unseen.set(signature, { slot, since: at, dueAt: at, of: null });
      }
      memory.expectedTurns.served(due.map(recipientOf), new Set([...expected.values(), null]));
      memory.referenceTurns.served(
        taken.map(([owner]) => owner),
        new Set([...memory.expected].flatMap(ownersOf)),
      );
      for (const [reference, { since }] of awaited) {
        // Moves to the end: the others have their turn first.
        memory.expected.delete(reference);
        memory.expected.set(reference, {
          since,
          dueAt: at + Math.min(Math.max((at - since) / 2, AGAIN_MIN_MS), AGAIN_MAX_MS),
        });
      }
      if (lastAnswers === null) return;
      for (const reference of last) {
        memory.expected.delete(reference);
        memory.lookedLast.set(reference, true);
      }
    },
  };
}

/** The next expired references that were not looked up one last time, by turns of their recipients. */
function lapsedIn(watch: WatchSet, memory: Memory, most: number): readonly Reference[] {
  const found: { readonly reference: Reference; readonly requestor: Address }[] = [];
  for (const { terms } of watch.lapsed()) {
    if (found.length === LAPSED_SEEN_MAX) break;
    if (!memory.lookedLast.has(terms.reference) && !memory.expected.has(terms.reference)) found.push(terms);
  }
  return inTurns(found, ({ requestor }) => requestor)
    .slice(0, most)
    .map(({ reference }) => reference);
}
