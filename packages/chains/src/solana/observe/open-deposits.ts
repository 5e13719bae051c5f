import type { DepositObservation, TransactionHash } from '@pf/domain';
import { depositFinal, depositLost, toldKeyOf } from '../../deposits.ts';
import type { Network, OpenDeposit, WatchSet } from '../../port.ts';
import { isLongUnshown } from '../../unshown.ts';
import type { SignatureStatus } from '../calls.ts';
import type { Commit } from './accounts.ts';
import { arrivalsIn, isSameArrival } from './arrivals.ts';
import { type Doubting, showAgain } from './finality.ts';
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
 * @param come transactions that were read beside the steps
 * @param late those that are read there
 */
export function dueDeposits(
  watch: WatchSet,
  memory: Memory,
  { finalized }: Heads,
  now: number,
  come: Pick<ReadonlySet<TransactionHash>, 'has'>,
  late: Pick<Doubting['seconds']['reads'], 'isKnown'>,
): readonly PendingDeposits[] {
  const judgedAt = ({ arrival }: OpenDeposit): number =>
    memory.depositsJudgedAt.get(placeKeyOf(arrival)) ?? Number.NEGATIVE_INFINITY;
  const hasCome = ({ arrival }: OpenDeposit): boolean => come.has(arrival.hash);
  const due = [...watch.openDeposits()].filter(
    (one) => one.arrival.block <= finalized.absoluteSlot && (hasCome(one) || now - judgedAt(one) >= AGAIN_MS),
  );
  // Those last that were judged last: an account's others are not behind them for good.
  const order = (one: number, other: number): number => (one < other ? -1 : one > other ? 1 : 0);
  const waiting = due.filter((one) => !hasCome(one)).sort((one, other) => order(judgedAt(one), judgedAt(other)));
  const inOrder = memory.depositTurns.order(waiting, ({ accountId }) => accountId);
  // What has come costs no call, and comes once: it takes no turn.
  const groups = (all: readonly OpenDeposit[]) => [...Map.groupBy(all, ({ arrival }) => placeKeyOf(arrival)).values()];
  // What is late takes no place of others.
  const isLate = ({ arrival }: OpenDeposit): boolean => late.isKnown(arrival.hash);
  const taken = [
    ...groups(due.filter(hasCome)),
    ...groups(inOrder.filter((one) => !isLate(one))).slice(0, JUDGED_MAX),
    ...groups(inOrder.filter(isLate)).slice(0, JUDGED_MAX),
  ];
  const ownersOf = (all: readonly OpenDeposit[]) => new Set(all.map(({ accountId }) => accountId));
  // At once: in a step that fails, the others have their turn next.
  memory.depositTurns.served(ownersOf(taken.flat()), ownersOf(due));
  return taken.flatMap((deposits): PendingDeposits[] => {
    const [one] = deposits;
    if (one === undefined) return [];
    const { hash, block, to, at } = one.arrival;
    // Without a time nothing proves that a node's history reaches back to it.
    return [{ kind: 'deposits', hash, block, requestor: to, since: at ?? Number.NEGATIVE_INFINITY, deposits }];
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
 */
export async function finalDeposits(
  doubting: Doubting,
  final: readonly PendingDeposits[],
  memory: Memory,
  network: Network,
  watch: WatchSet,
  now: number,
): Promise<{
  readonly deposits: readonly DepositObservation[];
  readonly warnings: readonly string[];
  readonly commit: Commit;
}> {
  if (doubting.pool.size === 1) {
    const deposits = final.flatMap((one) => one.deposits.map(depositFinal));
    return { deposits, warnings: [], commit: noteJudged(memory, final, now) };
  }
  const { shown, left } = await showAgain(doubting, final, ({ hash, block, requestor, deposits }) => {
    // One that has told of them otherwise, or of some, has not shown the others.
    const shownBy = deposits.map(({ id, arrival }) => memory.depositsShownBy.get(toldKeyOf(id, arrival)) ?? null);
    const [first, ...others] = new Set(shownBy);
    return { hash, block, recipient: requestor, first: others.length === 0 ? (first ?? null) : null };
  });
  await recallNamed(watch, [...shown.values()].flat());
  const agreed: OpenDeposit[] = [];
  const doubted: OpenDeposit[] = [];
  for (const [{ deposits }, readings] of shown) {
    const arrived = readings.map((reading) => (reading === null ? [] : arrivalsIn(reading, network, watch)));
    const isShown = (one: OpenDeposit): boolean =>
      arrived.every((all) => all.some(({ arrival }) => isSameArrival(arrival, one.arrival)));
    agreed.push(...deposits.filter(isShown));
    doubted.push(...deposits.filter((one) => !isShown(one)));
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
      const judged = final.filter((pending) => !left.has(pending));
      noteJudged(memory, judged, now)();
      for (const { id } of final.flatMap(({ deposits }) => deposits)) memory.unshown.lacked(id, now);
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
