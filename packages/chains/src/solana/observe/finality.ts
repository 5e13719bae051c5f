import type { Instant, Observation } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import type { Network, WatchSet } from '../../port.ts';
import { doubleCheckSoon, type LateShowing, type LateShowings, SecondReader } from '../../second-reader.ts';
import { isLongUnshown } from '../../unshown.ts';
import type { Commit } from './accounts.ts';
import { landingsIn, textOf } from './landings.ts';
import { recallNamed, type LookupResult } from './lookups.ts';
import { isUnreturned, LATE, type Look, lookAt, lookBriefly, readingOf } from './looking.ts';
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
 */
export async function observeFinal(
  doubting: Doubting,
  final: readonly PendingSettlement[],
  memory: Memory,
  network: Network,
  watch: WatchSet,
  now: number,
): Promise<LookupResult & { readonly commit: Commit }> {
  const isKnown = (one: PendingSettlement): boolean =>
    doubting.pool.size === 1 || memory.shownTwice.has(nameOfSettlement(one));
  const open = final.filter((one) => !isKnown(one));
  // What has come comes once.
  const due = open.filter(
    (one) => doubting.seconds.come.has(one.hash) || (memory.shownOnce.get(nameOfSettlement(one))?.dueAt ?? now) <= now,
  );
  const { shown, away } = await showAgain(doubting, due, (one) => ({
    hash: one.hash,
    block: one.settlement.transfer.block,
    recipient: one.requestor,
    first: memory.shownBy.get(nameOfSettlement(one)) ?? null,
  }));
  await recallNamed(watch, [...shown.values()].flat());
  const agreed = new Set<PendingSettlement>();
  const doubted: PendingSettlement[] = [];
  for (const [one, readings] of shown) {
    if (readings.every((reading) => isIn(reading, one, network, watch))) agreed.add(one);
    else doubted.push(one);
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
      for (const one of [...doubted, ...away]) {
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

/** What one upstream alone shows. */
interface Shown {
  readonly by: string;
  readonly look: Look;
}

/** How a step asks upstreams for what is final by the word of one. */
export interface Doubting {
  readonly pool: RpcPool;
  readonly node: RpcNode;
  readonly seconds: LateShowings<Shown>;
  /** Transactions that the upstream's rate allows in a step. */
  readonly most: number;
}

/** Reads beside the steps what two upstreams each show alone. */
export const secondReader = (pool: RpcPool, now: () => Instant): SecondReader<Shown> =>
  new SecondReader(pool, now, {
    read: async (node, hash) => {
      const [look = LATE] = await lookAt(node, [hash]);
      return { by: node.name, look };
    },
    isLacking: ({ look }) => look.kind !== 'read',
    unread: (by) => ({ by, look: LATE }),
    isUnread: ({ look }) => isUnreturned(look),
  });

/** A transaction, and the upstream that has shown it; null: that is not known. */
interface Asked extends LateShowing {
  readonly first: string | null;
}

/**
 * What upstreams show of each transaction: another one than has shown it, or two where that is not known; null where
 * one does not, or not so that it can be judged. A step waits a moment for each. What is late is read beside the steps,
 * of two upstreams, and then counts as if they had shown it in the step.
 * @returns those of which something can be said now; those for which there was no room: they are due as before; and
 *   those of which no second upstream has said anything beside the steps
 */
export async function showAgain<One>(
  { pool, node, seconds, most }: Doubting,
  all: readonly One[],
  askedOf: (one: One) => Asked,
): Promise<{
  readonly shown: ReadonlyMap<One, readonly (Reading | null)[]>;
  readonly left: ReadonlySet<One>;
  readonly away: ReadonlySet<One>;
}> {
  const shown = new Map<One, readonly (Reading | null)[]>();
  const [left, away] = [new Set<One>(), new Set<One>()];
  const open: One[] = [];
  const beginLate = (one: One): void => {
    const { first, ...place } = askedOf(one);
    seconds.begin(place, first);
  };
  for (const one of all) {
    const { hash, first } = askedOf(one);
    const come = seconds.come.get(hash);
    const readings = comeOf(come ?? [], first);
    if (readings !== null) shown.set(one, readings);
    else if (come === null) away.add(one);
    else if (seconds.reads.isKnown(hash)) beginLate(one);
    else if (open.length < most) open.push(one);
    else left.add(one);
  }
  const showGroup = async (first: string | null, group: readonly One[]): Promise<void> => {
    const byHash = Map.groupBy(group, (one) => askedOf(one).hash);
    const { told, late } = await doubleCheckSoon(
      pool,
      node,
      first,
      [...byHash.keys()],
      {
        ask: async (by, hashes) => {
          const looks = await lookBriefly(by, hashes, most);
          return new Map(hashes.map((hash, place) => [hash, looks[place] ?? LATE]));
        },
        isLate: (looks, hash) => looks.get(hash)?.kind === 'late',
        isLacking: (looks, hash) => looks.get(hash)?.kind !== 'read',
      },
      seconds,
    );
    if (told === null) return;
    for (const [hash, those] of byHash)
      for (const one of those)
        if (late.has(hash)) beginLate(one);
        else if (told.some((looks) => looks.get(hash)?.kind === 'left')) left.add(one);
        else
          shown.set(
            one,
            told.map((looks) => readingOf(looks.get(hash))),
          );
  };
  // At the same time: what is late in one group costs the others nothing.
  const groups = Map.groupBy(open, (one) => askedOf(one).first);
  await Promise.all([...groups].map(([first, group]) => showGroup(first, group)));
  return { shown, left, away };
}

/** What has come of another upstream than the first, or of two where the first is not known; null: not enough. */
function comeOf(come: readonly Shown[], first: string | null): readonly (Reading | null)[] | null {
  const others = come.filter(({ by }) => by !== first);
  return others.length < (first === null ? 2 : 1) ? null : others.map(({ look }) => readingOf(look));
}

/** Whether the transaction makes this very payment. */
const isIn = (reading: Reading | null, settled: PendingSettlement, network: Network, watch: WatchSet): boolean =>
  reading !== null &&
  landingsIn(reading, network, watch).landings.some((one) => textOf(one) === nameOfSettlement(settled));
