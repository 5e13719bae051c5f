import type { Observation } from '@pf/domain';
import { type RpcPool, withSecondOpinion } from '@pf/rpc';
import { getReceipt, type Block, type Receipt } from '../../evm/calls.ts';
import { isAbsentEverywhere } from '../../evm/observe/absence.ts';
import type { ReceiptSchedule } from '../../evm/observe/receipt-schedule.ts';
import { callsInStep } from '../../step-share.ts';
import type { WatchedIntent } from '../../port.ts';
import { finalRevert, ignoresReverts } from '../../final-revert.ts';
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
  return all.filter((one) => hasExpired(one, final) || schedule.isDue(one.submission.hash, now)).slice(0, most);
}

/** The outcome of a transaction in a final block: what it paid, or that it failed. */
async function ended(
  context: Scan,
  { id: intentId, status }: Submitted,
  receipt: Receipt,
): Promise<readonly Observation[]> {
  if (receipt.status !== 0n) return observedIn(context, [receipt]);
  if (ignoresReverts(status)) return [finalRevert(intentId, receipt.transactionHash, `block ${receipt.blockNumber}`)];
  return [
    {
      kind: 'observation',
      type: 'reverted',
      intentId,
      data: { hash: receipt.transactionHash, reason: 'the transaction reverted on chain' },
    },
  ];
}

/**
 * Reads the receipts. Without one, a transaction that has expired at the final block provably never lands: every
 * upstream that responds has this very block and no receipt.
 */
export async function readPendingOutcomes(
  context: Scan,
  pool: RpcPool,
  schedule: ReceiptSchedule,
  pendingOutcomes: readonly Submitted[],
  final: Block,
  now: number,
): Promise<readonly Observation[]> {
  if (pendingOutcomes.length === 0) return [];
  const receipts = await withSecondOpinion(
    pool,
    context.node,
    pendingOutcomes.map(({ submission }) => getReceipt(submission.hash)),
  );
  const observations: Observation[] = [];
  for (const [place, pending] of pendingOutcomes.entries()) {
    const { id, submission } = pending;
    const receipt = receipts[place] ?? null;
    schedule.asked(submission.hash, submission.preparedAt, now);
    if (receipt !== null) {
      if (receipt.blockNumber <= final.number) observations.push(...(await ended(context, pending, receipt)));
    } else if (hasExpired(pending, final)) {
      const at = context.proofBlocks.of(submission.hash, final, now);
      if (!(await isAbsentEverywhere(pool, submission.hash, at))) continue;
      const validBefore = submission.lifetime.kind === 'time' ? submission.lifetime.validBefore : 0n;
      const proof =
        `it has expired: the final block ${at.number} has the timestamp ${at.timestamp}, ` +
        `its validBefore is ${validBefore}, and it has no receipt`;
      observations.push({ kind: 'observation', type: 'dropped', intentId: id, data: { hash: submission.hash, proof } });
    }
  }
  return observations;
}
