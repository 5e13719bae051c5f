import type { Observation, TransactionHash } from '@pf/domain';
import type { Block } from '../../evm/calls.ts';
import type { Absences } from '../../evm/observe/absence.ts';
import { LATE, Unreadable } from '../../evm/observe/read-each.ts';
import type { Findings, Unjudged } from '../../evm/observe/reading.ts';
import type { ReceiptSchedule } from '../../evm/observe/receipt-schedule.ts';
import { callsInStep } from '../../step-share.ts';
import type { WatchedIntent } from '../../port.ts';
import { finalRevert, ignoresReverts } from '../../final-revert.ts';
import { comeOf, readLate, receiptsOf, type Shown } from './receipts.ts';
import { observedIn, type Scan } from './scan.ts';

type Submitted = WatchedIntent & { readonly submission: NonNullable<WatchedIntent['submission']> };

/** At most this many receipts in one step; the others wait for the next. */
const RECEIPTS_MAX = 100;

/** True where the chain's time has reached the transaction's validBefore. */
const hasExpired = ({ submission: { lifetime } }: Submitted, final: Block): boolean =>
  lifetime.kind === 'time' && final.timestamp >= lifetime.validBefore;

/**
 * Live submissions whose receipt is due: on a slow back-off, for what leaves no log, and at once when they have
 * expired.
 */
export function duePendingOutcomes(
  { node, watch, proofBlocks }: Scan,
  schedule: ReceiptSchedule,
  final: Block,
  now: number,
): readonly Submitted[] {
  const all = [...watch.submitted()];
  const hashes = new Set(all.map(({ submission }) => submission.hash));
  schedule.keep(hashes);
  proofBlocks.keep(hashes);
  const most = Math.min(RECEIPTS_MAX, callsInStep(node, 'eth_getTransactionReceipt'));
  const isDue = (one: Submitted): boolean => schedule.isDue(one.submission.hash, now);
  // Those last of which no proof could be had the last time.
  return [...all.filter(isDue), ...all.filter((one) => !isDue(one) && hasExpired(one, final))].slice(0, most);
}

/**
 * The outcome of a transaction in a final block: what it paid, or that it failed. One that succeeded and paid this
 * intent nothing has failed, too. None yet where a second upstream denies it.
 */
async function ended(context: Scan, { id: intentId, status }: Submitted, shown: Shown): Promise<Findings<Observation>> {
  const { receipt } = shown;
  const hash = receipt.transactionHash;
  const isReverted = receipt.status === 0n;
  if (!isReverted) {
    const findings = await observedIn(context, [shown]);
    if (findings.unjudged.length > 0 || findings.found.some((one) => one.intentId === intentId)) return findings;
  }
  if (ignoresReverts(status))
    return { found: [finalRevert(intentId, hash, `block ${receipt.blockNumber}`)], unjudged: [] };
  const reason = isReverted
    ? 'the transaction reverted on chain'
    : 'the transaction succeeded on chain, and paid this payment intent nothing';
  return { found: [{ kind: 'observation', type: 'reverted', intentId, data: { hash, reason } }], unjudged: [] };
}

/**
 * Reads the receipts. Without one, a transaction that has expired at the final block provably never lands: every
 * upstream that responds has this very block and no receipt. One that is set aside has logged a payment: it has landed,
 * whatever upstreams still have of it.
 */
export async function readPendingOutcomes(
  context: Scan,
  schedule: ReceiptSchedule,
  pendingOutcomes: readonly Submitted[],
  final: Block,
  now: number,
  absences: Absences,
): Promise<Findings<Observation>> {
  if (pendingOutcomes.length === 0) return { found: [], unjudged: [] };
  const hashes = pendingOutcomes.map(({ submission }) => submission.hash);
  const come = comeOf(
    context,
    pendingOutcomes.map(({ submission }) => submission),
  );
  const waiting = hashes.filter((hash) => !come.has(hash) && context.late?.reads.isKnown(hash) === true);
  for (const hash of waiting) readLate(context, hash);
  const asked = hashes.filter((hash) => !come.has(hash) && !waiting.includes(hash));
  const receipts = new Map([...come, ...(await receiptsOf(context, asked))]);
  const observations: Observation[] = [];
  const unjudged: Unjudged[] = [];
  const expired: { readonly hash: TransactionHash; readonly at: Block; readonly of: Submitted }[] = [];
  // Final blocks stay: what was proven at one beside the steps holds, also while the receipt is read there once more.
  const beside = absences.collect();
  for (const pending of pendingOutcomes) {
    const { submission } = pending;
    const found = receipts.get(submission.hash);
    const isAside = context.aside.has(submission.hash);
    const at = beside.get(submission.hash);
    // What is read beside the steps is due until it has come.
    if (found === undefined || found === LATE) {
      if (at && !isAside) expired.push({ hash: submission.hash, at, of: pending });
      continue;
    }
    schedule.asked(submission.hash, submission.preparedAt, now);
    if (found instanceof Unreadable) continue;
    if (found === null && come.has(submission.hash)) context.late?.reads.note(submission.hash);
    if (found !== null) {
      if (found.receipt.blockNumber > final.number) continue;
      const end = await ended(context, pending, found);
      observations.push(...end.found);
      unjudged.push(...end.unjudged);
    } else if (hasExpired(pending, final) && !isAside) {
      const { hash } = submission;
      expired.push({ hash, at: at ?? context.proofBlocks.of(hash, final, now), of: pending });
    }
  }
  const absent = await absences.prove(
    expired
      .filter(({ hash }) => !beside.has(hash))
      .map(({ hash, at, of }) => ({ hash, recipient: of.terms.requestor, at })),
    (hash) => context.late?.reads.isKnown(hash) === true,
  );
  for (const { hash, at, of } of expired.filter((one) => absent.has(one.hash) || beside.has(one.hash))) {
    const { lifetime } = of.submission;
    const validBefore = lifetime.kind === 'time' ? lifetime.validBefore : 0n;
    const proof =
      `it has expired: the final block ${at.number} has the timestamp ${at.timestamp}, ` +
      `its validBefore is ${validBefore}, and it has no receipt`;
    observations.push({ kind: 'observation', type: 'dropped', intentId: of.id, data: { hash, proof } });
  }
  return { found: observations, unjudged };
}
