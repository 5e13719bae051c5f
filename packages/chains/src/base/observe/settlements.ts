import type { IntentId, Landing, Observation, Settlement } from '@pf/domain';
import { RpcBehindError, type RpcNode, soon } from '@pf/rpc';
import { getReceipt } from '../../evm/calls.ts';
import { hashesOf } from '../../evm/observe/checkpoints.ts';
import { readEach, Unreadable } from '../../evm/observe/read-each.ts';
import { keptLogsOf } from '../nested/kept-logs.ts';
import { settlementsShownBy } from './judge-again.ts';
import { lost } from '../../lost.ts';
import { callsInStep } from '../../step-share.ts';
import type { WatchedIntent, WatchSet } from '../../port.ts';
import { feesOf } from './fees.ts';
import { readReceipt } from './receipt.ts';
import { placeOf, type Seen } from './position.ts';
import { type Asked, dueForSecond, nameOf, showTwice } from './second-showing.ts';
import type { Scan } from './context.ts';

/**
 * A landing is confirmed when it is still canonical this long after it was seen. In time, as blocks come every 0.2 s.
 */
const CONFIRM_MS = 2_000;
/** A reported landing that does not become the settlement (an extra payment) is kept this long. */
const REPORTED_MS = 600_000;
/**
 * A reported landing of a transaction that is still live in the ledger is reported again after this time: the log has
 * lost the report, or the intent service is far behind.
 */
const UNHEARD_MS = 30_000;
/** At most this many settlements are observed as final in one step; the next one goes on at once. */
const FINALIZED_MAX = 500;

/** At most so many of them are looked up at a second upstream in one step. */
const SHOWN_AT_ONCE = 20;

type Settling = WatchedIntent & { readonly settlement: Settlement };

/**
 * After a reorg down to `ancestor`: landings reported from orphaned blocks are lost, and sightings that were not
 * reported are forgotten. The scan finds them again where they landed again.
 * @param head up to here the node must have every block: the reorg is not noticed a second time. Below `ancestor`: it
 *   may lack any, as a chain that was reset does
 * @throws RpcBehindError where it does not: behind one URL another node may respond
 */
export async function orphan(
  { node, watch }: Pick<Scan, 'node' | 'watch'>,
  seen: readonly Seen[],
  ancestor: bigint,
  head: bigint,
): Promise<{ readonly observations: readonly Observation[]; readonly seen: readonly Seen[] }> {
  const settled = [...watch.settling()].filter(
    ({ settlement }) => !settlement.lost && settlement.transfer.block > ancestor,
  );
  const above = seen.filter((one) => placeOf(one).block > ancestor);
  const blocks = [
    ...settled.map(({ settlement }) => settlement.transfer.block),
    ...above.map((one) => placeOf(one).block),
  ];
  const hashes = await hashesOf(node, blocks);
  for (const block of blocks)
    if (block <= head && !hashes.has(block))
      throw new RpcBehindError(`${node.name} lags: it lacks block ${block}, and had ${head} before`);
  const isOrphan = ({ block, blockHash }: { readonly block: bigint; readonly blockHash: string | null }): boolean => {
    const canonical = hashes.get(block);
    return canonical !== undefined && canonical !== blockHash;
  };
  const gone = new Set(seen.filter((one) => placeOf(one).block > ancestor && isOrphan(placeOf(one))));
  // The ledger may have a landing of a transaction as its settlement that it had before the reported one.
  const observations = new Map<string, Observation>();
  const add = (intentId: IntentId, landing: Landing): void =>
    void observations.set(`${landing.hash} ${landing.transfer.blockHash}`, lost(intentId, landing));
  for (const { id, settlement } of settled) if (isOrphan(settlement.transfer)) add(id, settlement);
  for (const one of gone) if (one.kind === 'landed' && one.reported) add(one.intentId, one);
  return { observations: [...observations.values()], seen: seen.filter((one) => !gone.has(one)) };
}

/** True for a landing that the ledger has as the intent's settlement. */
export function isInLedger(watch: WatchSet, one: Seen): boolean {
  if (one.kind !== 'landed') return false;
  const settlement = watch.byReference(one.transfer.reference)?.settlement;
  return (
    settlement?.hash === one.hash &&
    !settlement.lost &&
    settlement.transfer.blockHash === one.transfer.blockHash &&
    settlement.transfer.index === one.transfer.index
  );
}

/** True for a landing of the transaction that the ledger has as the intent's settlement, and as lost. */
function isLostInLedger(watch: WatchSet, { hash, transfer }: Extract<Seen, { kind: 'landed' }>): boolean {
  const settlement = watch.byReference(transfer.reference)?.settlement;
  return settlement?.hash === hash && settlement.lost;
}

/** True for a landing of a transaction whose submission is live in the ledger, which any landing ends. */
const isLiveInLedger = (watch: WatchSet, { hash, transfer }: Extract<Seen, { kind: 'landed' }>): boolean =>
  watch.byReference(transfer.reference)?.submission?.hash === hash;

/** Reports what has stayed canonical long enough, and forgets what the ledger has by now. */
export async function confirm(
  { node, watch, now, fees }: Pick<Scan, 'node' | 'watch' | 'now' | 'fees'>,
  seen: readonly Seen[],
): Promise<{ readonly observations: readonly Observation[]; readonly seen: readonly Seen[] }> {
  const open = seen.filter(
    (one) => one.kind === 'reverted' || !one.reported || (!isInLedger(watch, one) && now - one.seenAt < REPORTED_MS),
  );
  // A reported landing is due again where the ledger has its transaction as lost: it had another block, or another
  // watcher reported the loss, so that the report changed nothing.
  const isDue = (one: Seen): boolean =>
    now - one.seenAt >= CONFIRM_MS &&
    (one.kind === 'reverted' ||
      !one.reported ||
      isLostInLedger(watch, one) ||
      (now - one.seenAt >= UNHEARD_MS && isLiveInLedger(watch, one)));
  const most = Math.min(mostBlocks(node), callsInStep(node, 'eth_getTransactionReceipt'));
  const due = new Set(open.filter(isDue).slice(0, most));
  const hashes = await hashesOf(
    node,
    [...due].map((one) => placeOf(one).block),
  );
  const feeOf = await feesOf(
    node,
    [...due].filter((one) => hashes.get(placeOf(one).block) === placeOf(one).blockHash),
    fees,
  );
  const unreported = open.filter((one) => one.kind === 'landed' && !one.reported && !due.has(one));
  fees?.begin(unreported.slice(0, most - due.size));
  const observations: Observation[] = [];
  const kept: Seen[] = [];
  for (const one of open) {
    const { block, blockHash } = placeOf(one);
    if (!due.has(one)) kept.push(one);
    // A lagging node does not have the block yet: the next step asks again. With another block there, it sees the
    // reorg.
    else if (!hashes.has(block)) kept.push(one);
    else if (hashes.get(block) !== blockHash) continue;
    else if (one.kind === 'reverted')
      observations.push({
        kind: 'observation',
        type: 'reverted',
        intentId: one.intentId,
        data: { hash: one.hash, reason: one.reason },
      });
    else {
      observations.push({
        kind: 'observation',
        type: 'landed',
        intentId: one.intentId,
        data: { hash: one.hash, level: 'confirmed', transfer: one.transfer, ...feeOf(one) },
      });
      kept.push({ ...one, reported: true, seenAt: now });
    }
  }
  return { observations, seen: kept };
}

interface Finals {
  readonly observations: readonly Observation[];
  readonly seen: readonly Seen[];
  readonly warnings: readonly string[];
  readonly hasMore: boolean;
}

/**
 * Settlements at or below the final block: observed as final where the chain still has them there, and a second
 * upstream shows the same; otherwise as lost, and seen again where they landed elsewhere. So an unnoticed reorg is
 * noticed here at the latest.
 */
export async function finalize(context: Scan, finalized: bigint): Promise<Finals> {
  const { node, pool, watch, memory, now, network } = context;
  const isDoubted = pool.size > 1;
  const most = Math.min(FINALIZED_MAX, mostBlocks(node), isDoubted ? SHOWN_AT_ONCE : FINALIZED_MAX);
  const isWanted = ({ id, settlement }: Settling): boolean =>
    !settlement.lost && settlement.transfer.block <= finalized && !memory.wasFinalizedLately(id, settlement.hash, now);
  const { due, isFull } = dueForSecond(context, SETTLING, watch.settling(), most, isWanted);
  const hashes = await hashesOf(
    node,
    due.map(({ settlement }) => settlement.transfer.block),
  );
  const isAt = (one: Settling): boolean =>
    hashes.get(one.settlement.transfer.block) === one.settlement.transfer.blockHash;
  const standing = due.filter(isAt);
  const ask = (of: Asked, some: readonly Settling[]) =>
    settlementsShownBy(
      of,
      { network, watch },
      some.map(({ settlement }) => settlement),
    );
  const { shown, readings, warnings, isAway, areLeft } = isDoubted
    ? await showTwice(context, { ...SETTLING, ask }, standing)
    : { shown: standing, readings: [], warnings: [], isAway: false, areLeft: false };
  for (const one of readings.flatMap(({ disproved }) => disproved)) context.noteDisproved?.(one, true);
  const observations: Observation[] = [];
  for (const { id, settlement } of shown) {
    const { hash, transfer } = settlement;
    // Not remembered where it is lost: it may soon be final in another block.
    memory.finalized(id, hash, now);
    observations.push({
      kind: 'observation',
      type: 'landed',
      intentId: id,
      data: { hash, level: 'finalized', transfer },
    });
  }
  // What another upstream shows in the place of what one has shown counts as a first sight of it does.
  const seen = readings
    .flatMap(({ instead }) => instead)
    .filter((one) => !isInLedger(watch, one))
    .map((one): Seen => ({ ...one, seenAt: now }));
  for (const { id, terms, settlement } of due.filter(
    (one) => hashes.has(one.settlement.transfer.block) && !isAt(one),
  )) {
    observations.push(lost(id, settlement));
    const { hash } = settlement;
    // Its receipt is asked for again where this one is late: it waits for its outcome from now on.
    const [receipt = null] = await readEach(node, [soon(getReceipt(hash, keptLogsOf(network)))]);
    if (receipt !== null && !(receipt instanceof Unreadable))
      seen.push(...(await readReceipt(context, { intentId: id, hash, terms }, receipt)));
  }
  return { observations, seen, warnings, hasMore: (isFull && !isAway) || areLeft };
}

const SETTLING = {
  nameOf: ({ settlement }: Settling) => nameOf(settlement),
  placeOf: ({ terms, settlement: { hash, transfer } }: Settling) => ({
    hash,
    block: transfer.block,
    recipient: terms.requestor,
  }),
};

/** How many blocks the upstream's rate allows in a step, where it is known. */
const mostBlocks = (node: RpcNode): number => callsInStep(node, 'eth_getBlockByNumber');
