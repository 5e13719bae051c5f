import type { Observation, TransactionHash } from '@pf/domain';
import type { Block } from '../../evm/calls.ts';
import { dueBesides } from '../../evm/observe/due-again.ts';
import { Unreadable } from '../../evm/observe/read-each.ts';
import type { Unjudged } from '../../evm/observe/reading.ts';
import type { SecondLook } from '../../evm/observe/step.ts';
import { NOT_IN_TIME } from '../../late-reads.ts';
import type { SetAside } from '../../set-aside.ts';
import { comeOf, type Found, isShown, readLate, receiptsOf } from './receipts.ts';
import { observedIn, type Scan } from './scan.ts';

/** Transactions that are looked at again in one step. */
const AGAIN_MAX = 20;

/** Looks again at transactions that could not be judged, each by itself: what holds one up delays no other. */
export async function lookAgain(
  context: Scan,
  aside: readonly SetAside[],
  final: Block,
  now: number,
): Promise<SecondLook<Observation>> {
  const found: Observation[] = [];
  const unjudged: Unjudged[] = [];
  const judged = new Set<TransactionHash>();
  const { come, beside, again } = dueBesides(context.watch, aside, now, AGAIN_MAX, context.late);
  for (const one of beside) if (readLate(context, one.hash)) unjudged.push({ ...one, reason: NOT_IN_TIME });
  const due = [...come, ...again];
  const receipts = new Map([
    ...comeOf(context, come),
    ...(await receiptsOf(
      context,
      again.map(({ hash }) => hash),
    )),
  ]);
  for (const { hash, place, recipient, payer } of due) {
    const shown = receipts.get(hash);
    if (shown === undefined) continue;
    const reason = problemOf(shown, final);
    if (reason !== null) {
      unjudged.push({ hash, place, reason, recipient, payer });
      continue;
    }
    const findings = await observedIn(context, isShown(shown) ? [shown] : []);
    found.push(...findings.found);
    unjudged.push(...findings.unjudged);
    if (findings.unjudged.length === 0) judged.add(hash);
  }
  return { found, unjudged, judged };
}

function problemOf(found: Found, final: Block): string | null {
  if (found === null) return 'no upstream has its receipt';
  if (found instanceof Unreadable) return found.reason;
  return found.receipt.blockNumber <= final.number ? null : 'it is in a block that is not final';
}
