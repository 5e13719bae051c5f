import type { Observation, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import type { Network, WatchSet } from '../../port.ts';
import { isLongUnshown } from '../../unshown.ts';
import type { Commit } from './accounts.ts';
import { landingsIn, textOf } from './landings.ts';
import { recallNamed, type LookupResult } from './lookups.ts';
import { lookAt } from './looking.ts';
import type { Memory } from './memory.ts';
import type { PendingSettlement } from './pending-outcomes.ts';
import type { Reading } from './reading.ts';

/** What a second upstream does not show is asked for again when it has waited half as long again, within this bound. */
const AGAIN_MIN_MS = 1_000;
const AGAIN_MAX_MS = 60_000;
/** By the whole payment: an upstream may invent one in a transaction whose other payments every other one shows. */
export const nameOfSettlement = ({
  intentId,
  hash,
  settlement: { transfer },
}: Pick<PendingSettlement, 'intentId' | 'hash' | 'settlement'>): string =>
  textOf({ intentId, data: { hash, transfer } });

const observed = ({ intentId, hash, settlement: { transfer } }: PendingSettlement): Observation => ({
  kind: 'observation',
  type: 'landed',
  intentId,
  data: { hash, level: 'finalized', transfer },
});

/**
 * Settlements that one upstream calls final are observed as final once a second one has shown the same payment: one
 * that invents a transaction, or what it did, can make none final. Each is asked for once; where one upstream is all
 * there is, none is.
 * @param most transactions that the upstream's rate allows in a step
 */
export async function observeFinal(
  pool: RpcPool,
  node: RpcNode,
  final: readonly PendingSettlement[],
  memory: Memory,
  network: Network,
  watch: WatchSet,
  now: number,
  most: number,
): Promise<LookupResult & { readonly commit: Commit }> {
  const isKnown = (one: PendingSettlement): boolean => pool.size === 1 || memory.shownTwice.has(nameOfSettlement(one));
  const open = final.filter((one) => !isKnown(one));
  const due = open.filter((one) => (memory.shownOnce.get(nameOfSettlement(one))?.dueAt ?? now) <= now).slice(0, most);
  const agreed = new Set<PendingSettlement>();
  const doubted: PendingSettlement[] = [];
  for (const [first, group] of Map.groupBy(due, (one) => memory.shownBy.get(nameOfSettlement(one)) ?? null)) {
    const hashes = group.map(({ hash }) => hash);
    const readings = await pool.doubleCheck(
      node,
      first,
      (by) => readingsOf(by, hashes),
      (shown) => shown.includes(null),
      { alone: false },
    );
    if (readings === null) continue;
    await recallNamed(watch, readings.flat());
    for (const [place, one] of group.entries()) {
      const isSame = readings.every((of) => isIn(of[place] ?? null, one, network, watch));
      if (isSame) agreed.add(one);
      else doubted.push(one);
    }
  }
  const sinceOf = (one: PendingSettlement): number => memory.shownOnce.get(nameOfSettlement(one))?.since ?? now;
  return {
    observations: final.filter((one) => isKnown(one) || agreed.has(one)).map(observed),
    warnings: doubted
      .filter((one) => isLongUnshown(sinceOf(one), now))
      .map(
        (one) =>
          `${network.name}: ${one.hash} of slot ${one.settlement.transfer.block} does not become final: a second ` +
          `upstream shows no such payment of ${one.intentId}`,
      ),
    commit: () => {
      for (const one of agreed) memory.shownTwice.set(nameOfSettlement(one), true);
      for (const one of doubted) {
        const since = sinceOf(one);
        const pause = Math.min(Math.max((now - since) / 2, AGAIN_MIN_MS), AGAIN_MAX_MS);
        memory.shownOnce.set(nameOfSettlement(one), { since, dueAt: now + pause });
      }
      const isOpen = new Set(open.filter((one) => !agreed.has(one)).map(nameOfSettlement));
      for (const key of isOpen) memory.unshown.lacked(key, now);
      for (const one of agreed) memory.unshown.shown(nameOfSettlement(one));
      for (const key of memory.shownOnce.keys()) if (!isOpen.has(key)) memory.shownOnce.delete(key);
    },
  };
}

/** What this upstream shows of each; null where it does not, or not so that it can be judged. */
export async function readingsOf(
  node: RpcNode,
  hashes: readonly TransactionHash[],
): Promise<readonly (Reading | null)[]> {
  return (await lookAt(node, hashes)).map((look) => (look.kind === 'read' ? look.reading : null));
}

/** Whether the transaction makes this very payment. */
const isIn = (reading: Reading | null, settled: PendingSettlement, network: Network, watch: WatchSet): boolean =>
  reading !== null &&
  landingsIn(reading, network, watch).landings.some((one) => textOf(one) === nameOfSettlement(settled));
