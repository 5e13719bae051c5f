import type { DepositObservation } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { depositFinal, depositLost } from '../../deposits.ts';
import type { Network, OpenDeposit, WatchSet } from '../../port.ts';
import { isLongUnshown } from '../../unshown.ts';
import type { SignatureStatus } from '../calls.ts';
import type { Commit } from './accounts.ts';
import { arrivalsIn, isSameArrival } from './arrivals.ts';
import { readingsOf } from './finality.ts';
import { recallNamed } from './lookups.ts';
import type { Memory } from './memory.ts';
import { type Heads, isConfirmed, isFinal, type PendingDeposits } from './pending-outcomes.ts';

/** Transactions whose deposits one step judges. */
const JUDGED_MAX = 100;
/** Those that were judged are judged again after this: the log may have lost it, or no second upstream shows them. */
const AGAIN_MS = 30_000;

const placeKeyOf = ({ hash, block }: Pick<PendingDeposits, 'hash' | 'block'>): string => `${hash} ${block}`;

/**
 * The deposits of blocks that the final chain has come to, by transaction, and by turns of the accounts that own them:
 * those of one account do not delay those of another.
 */
export function dueDeposits(
  watch: WatchSet,
  memory: Memory,
  { finalized }: Heads,
  now: number,
): readonly PendingDeposits[] {
  const due = [...watch.openDeposits()].filter(
    ({ arrival }) =>
      arrival.block <= finalized.absoluteSlot &&
      now - (memory.depositsJudgedAt.get(placeKeyOf(arrival)) ?? Number.NEGATIVE_INFINITY) >= AGAIN_MS,
  );
  const inOrder = memory.depositTurns.order(due, ({ accountId }) => accountId);
  const taken = [...Map.groupBy(inOrder, ({ arrival }) => placeKeyOf(arrival)).values()].slice(0, JUDGED_MAX);
  const ownersOf = (all: readonly OpenDeposit[]) => new Set(all.map(({ accountId }) => accountId));
  // At once: in a step that fails, the others have their turn next.
  memory.depositTurns.served(ownersOf(taken.flat()), ownersOf(due));
  return taken.flatMap((deposits): PendingDeposits[] => {
    const [one] = deposits;
    if (one === undefined) return [];
    const { hash, block, at } = one.arrival;
    // Without a time nothing proves that a node's history reaches back to it.
    return [{ kind: 'deposits', hash, block, since: at ?? Number.NEGATIVE_INFINITY, deposits }];
  });
}

export interface DepositJudgement {
  /** By the word of this node. */
  readonly final: readonly PendingDeposits[];
  /** In another block, or failed there. */
  readonly lost: readonly PendingDeposits[];
  /** This node has none of these in its recent blocks. */
  readonly missing: readonly PendingDeposits[];
}

/** Sorts them by their statuses. */
export function judgeDeposits(
  due: readonly PendingDeposits[],
  statuses: readonly (SignatureStatus | null)[],
  heads: Heads,
): DepositJudgement {
  const judged = due.map((pending, place) => [pending, outcomeOf(pending, statuses[place] ?? null, heads)] as const);
  const of = (outcome: Outcome): readonly PendingDeposits[] =>
    judged.flatMap(([pending, its]) => (its === outcome ? [pending] : []));
  return { final: of('final'), lost: of('lost'), missing: of('missing') };
}

type Outcome = 'final' | 'lost' | 'missing' | 'open';
function outcomeOf({ block }: PendingDeposits, status: SignatureStatus | null, heads: Heads): Outcome {
  if (status === null) return 'missing';
  if (!isConfirmed(status, heads)) return 'open';
  if (status.err !== null || status.slot !== block) return 'lost';
  return isFinal(status, heads) ? 'final' : 'open';
}

/**
 * Deposits that one upstream calls final are so once a second one, where two are configured, has shown that the same
 * money arrived without paying an intent.
 * @param most transactions that the upstream's rate allows in a step
 */
export async function finalDeposits(
  pool: RpcPool,
  node: RpcNode,
  final: readonly PendingDeposits[],
  memory: Memory,
  network: Network,
  watch: WatchSet,
  now: number,
  most: number,
): Promise<{
  readonly deposits: readonly DepositObservation[];
  readonly warnings: readonly string[];
  readonly commit: Commit;
}> {
  if (pool.size === 1) {
    const deposits = final.flatMap((one) => one.deposits.map(depositFinal));
    return { deposits, warnings: [], commit: noteJudged(memory, final, now) };
  }
  const due = final.slice(0, most);
  const agreed: OpenDeposit[] = [];
  const doubted: OpenDeposit[] = [];
  /** No second upstream responds. */
  const unshown: OpenDeposit[] = [];
  for (const [first, group] of Map.groupBy(due, ({ hash }) => memory.depositsShownBy.get(hash) ?? null)) {
    const hashes = group.map(({ hash }) => hash);
    const readings = await pool.doubleCheck(
      node,
      first,
      (by) => readingsOf(by, hashes),
      (shown) => shown.includes(null),
      { alone: false },
    );
    if (readings === null) {
      unshown.push(...group.flatMap(({ deposits }) => deposits));
      continue;
    }
    await recallNamed(watch, readings.flat());
    for (const [place, { deposits }] of group.entries()) {
      const shown = readings.map((of) => {
        const reading = of[place] ?? null;
        return reading === null ? [] : arrivalsIn(reading, network, watch);
      });
      const isShown = (one: OpenDeposit): boolean =>
        shown.every((all) => all.some(({ arrival }) => isSameArrival(arrival, one.arrival)));
      agreed.push(...deposits.filter(isShown));
      doubted.push(...deposits.filter((one) => !isShown(one)));
    }
  }
  const [one, ...others] = doubted.filter(({ arrival: { at } }) => at !== null && isLongUnshown(at, now));
  return {
    deposits: agreed.map(depositFinal),
    warnings:
      one === undefined
        ? []
        : [
            `${network.name}: ${one.id} in ${one.arrival.hash} does not become final: a second upstream shows no ` +
              `such deposit${others.length === 0 ? '' : `, nor ${others.length} more`}`,
          ],
    commit: () => {
      noteJudged(memory, due, now)();
      for (const { id } of [...doubted, ...unshown]) memory.unshown.lacked(id, now);
      for (const { id } of agreed) memory.unshown.shown(id);
    },
  };
}

/** They are lost, and landed again where they are found again. */
export const lostDeposits = (lost: readonly PendingDeposits[]): readonly DepositObservation[] =>
  lost.flatMap(({ deposits }) => deposits.map(depositLost));

/** They were judged. */
export const noteJudged =
  (memory: Memory, judged: readonly PendingDeposits[], now: number): Commit =>
  () => {
    for (const one of judged) memory.depositsJudgedAt.set(placeKeyOf(one), now);
  };
