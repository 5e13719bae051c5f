import type { Observation, TransactionHash } from '@pf/domain';
import type { Block } from '../../evm/calls.ts';
import { Unreadable } from '../../evm/observe/read-each.ts';
import type { Unjudged } from '../../evm/observe/reading.ts';
import type { SecondLook } from '../../evm/observe/step.ts';
import { NOT_IN_TIME } from '../../late-reads.ts';
import { dueAgain, type SetAside } from '../../set-aside.ts';
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
  const { late } = context;
  const isLate = ({ hash }: SetAside): boolean => late?.reads.isKnown(hash) === true;
  const come = comeOf(context, aside);
  // What no step waits for takes no place of others.
  const waiting = aside.filter((one) => isLate(one) && !come.has(one.hash));
  for (const one of dueAgain(context.watch, waiting, now, late?.reads.room ?? 0))
    if (readLate(context, one.hash)) unjudged.push({ ...one, reason: NOT_IN_TIME });
  const others = aside.filter((one) => !isLate(one) && !come.has(one.hash));
  const again = dueAgain(context.watch, others, now, AGAIN_MAX);
  const due = [...aside.filter(({ hash }) => come.has(hash)), ...again];
  const receipts = new Map([
    ...come,
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
