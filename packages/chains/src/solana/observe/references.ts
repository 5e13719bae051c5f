import type { AccountId, Address, Reference, TransactionHash } from '@pf/domain';
import { inTurns } from '../../in-turns.ts';
import { ownersIn } from '../../owners.ts';
import type { WatchSet } from '../../port.ts';
import { type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { getSignaturesForAddress, type SignatureInfo } from '../calls.ts';
import { type Commit, listedAt } from './accounts.ts';
import type { ExpectedPayment, Memory } from './memory.ts';
import { goesOn, LONG_PAGE, restOf } from './paging.ts';

/** References that one step looks up: of intents with a payment under way, and of expired ones. */
const LOOKED_FOR_MAX = 2;
const LAPSED_MAX = 10;
/** Of so many expired intents the next ones are chosen. */
const LAPSED_SEEN_MAX = 1_000;
/** Transactions of the first page: a reference belongs to one payment; more is a repetition or abuse. */
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
 * that is no longer expected is looked up one last time, and so is that of every intent that expires. Whoever knows a
 * reference may name it in thousands of transactions: its list is read page by page, over several steps.
 * @param most expired references that the upstream's rate allows in a step
 */
export function dueReferences(
  memory: Memory,
  watch: WatchSet,
  head: bigint,
  now: number,
  most: number,
): ReferenceReading {
  const expected = new Set<Reference>();
  for (const { terms } of watch.expected()) {
    expected.add(terms.reference);
    if (!memory.expected.has(terms.reference)) memory.expected.set(terms.reference, begun(terms.requestor, now));
  }
  const isDue = ([reference, { dueAt }]: Named): boolean => dueAt <= now || !expected.has(reference);
  const ownersOf = (one: Named): readonly (AccountId | null)[] => ownersIn(watch, recipientOf(one));
  // The intents of one account must not delay those of others, nor those of one recipient.
  const open = [...memory.expected].filter(isDue);
  const taken = memory.referenceTurns
    .orderShared(open, ownersOf, (ofOne) => memory.expectedTurns.order(ofOne, recipientOf))
    .slice(0, LOOKED_FOR_MAX);
  const due = taken.map(([, one]) => one);
  const awaited = due.filter(([reference]) => expected.has(reference));
  const ended = due.filter(([reference]) => !expected.has(reference));
  const last = [...ended, ...lapsedIn(watch, memory, Math.min(LAPSED_MAX, most), now)].map(lastLook);
  const listed = ([reference, { paging }]: Named, atLeast: bigint): ReturnType<typeof getSignaturesForAddress> =>
    getSignaturesForAddress(reference, { before: paging?.before, limit: paging ? LONG_PAGE : PAGE, atLeast });
  return {
    calls: awaited.map((one) => listed(one, listedAt(head))),
    lookLast: async (node) => {
      if (last.length === 0) return null;
      try {
        return await node.batch(last.map((one) => listed(one, head)));
      } catch (error) {
        // It has not come so far: nothing else of the step depends on it.
        if (error instanceof RpcUpstreamError) return null;
        throw error;
      }
    },
    read: (answers, lastAnswers, reached, at) => () => {
      memory.expectedTurns.served(due.map(recipientOf), new Set([...memory.expected].map(recipientOf)));
      memory.referenceTurns.served(
        taken.map(([owner]) => owner),
        new Set([...memory.expected].flatMap(ownersOf)),
      );
      for (const [place, one] of awaited.entries()) {
        const { since, ...read } = readPage(memory, one, answers[place] ?? [], reached, at).next;
        const pause = Math.min(Math.max((at - since) / 2, AGAIN_MIN_MS), AGAIN_MAX_MS);
        // Moves to the end: the others have their turn first.
        memory.expected.delete(one[0]);
        memory.expected.set(one[0], { ...read, since, isLast: false, dueAt: read.paging === null ? at + pause : at });
      }
      if (lastAnswers === null) return;
      for (const [place, one] of last.entries()) {
        const { next, isEnd } = readPage(memory, one, lastAnswers[place] ?? [], reached, at);
        memory.expected.delete(one[0]);
        if (isEnd) memory.lookedLast.set(one[0], true);
        else memory.expected.set(one[0], next);
      }
    },
  };
}

type Named = readonly [Reference, ExpectedPayment];
const recipientOf = ([, { recipient }]: Named): Address => recipient;
const begun = (recipient: Address, now: number): ExpectedPayment => ({
  recipient,
  since: now,
  dueAt: now,
  isLast: false,
  newest: undefined,
  paging: null,
});
/** Pages that were read before count only where they are of a last look, too: those of others may be too old. */
const lastLook = ([reference, one]: Named): Named => [
  reference,
  one.isLast ? one : { ...one, isLast: true, paging: null },
];

/** Queues what a page of a reference's list shows, whether an account lists it already or not. */
function readPage(
  memory: Memory,
  [reference, one]: Named,
  page: readonly SignatureInfo[],
  head: bigint,
  now: number,
): { readonly next: ExpectedPayment; readonly isEnd: boolean } {
  const { paging, recipient } = one;
  if (!goesOn(paging, page)) return { next: { ...one, paging: null }, isEnd: false };
  // Transactions after the head may pay intents that are not known yet: they are for a later step.
  const reached = page.filter(({ slot }) => slot <= head);
  for (const { signature, slot, err } of reached.toReversed()) {
    if (err !== null || memory.looked.has(signature)) continue;
    const unseen = memory.unseen.get(signature) ?? { slot, since: now, dueAt: now, of: recipient };
    memory.unseen.set(signature, { reference, ...unseen });
  }
  const newest: TransactionHash | undefined = paging?.newest ?? reached[0]?.signature ?? one.newest;
  const rest = restOf(paging, page, PAGE, () => page.some(({ signature }) => signature === one.newest));
  return rest === null
    ? { next: { ...one, newest, paging: null }, isEnd: true }
    : { next: { ...one, paging: { ...rest, newest } }, isEnd: false };
}

/** The next expired references that were not looked up one last time, by turns of their recipients. */
function lapsedIn(watch: WatchSet, memory: Memory, most: number, now: number): readonly Named[] {
  const found: { readonly reference: Reference; readonly requestor: Address }[] = [];
  for (const { terms } of watch.lapsed()) {
    if (found.length === LAPSED_SEEN_MAX) break;
    if (!memory.lookedLast.has(terms.reference) && !memory.expected.has(terms.reference)) found.push(terms);
  }
  return inTurns(found, ({ requestor }) => requestor)
    .slice(0, most)
    .map(({ reference, requestor }) => [reference, begun(requestor, now)]);
}
