import type { Address, DepositObservation, Observation, Reference, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { toldKeyOf } from '../../deposits.ts';
import { STEP_MS } from '../../networks.ts';
import { inTurn } from '../../parts.ts';
import { type LateReads, NOT_IN_TIME } from '../../late-reads.ts';
import type { Network, WatchSet } from '../../port.ts';
import { byTurns } from '../../set-aside.ts';
import type { Commit } from './accounts.ts';
import { depositsIn } from './arrivals.ts';
import { landingsIn, namesIn, problemIn, strayIn, textOf } from './landings.ts';
import { LATE, type Look, lookSoon, lookTwice, readingOf } from './looking.ts';
import { type Memory, SET_ASIDE_MAX, SHOWN_WITHIN_MS, type Unseen } from './memory.ts';
import { gainOf } from './paid.ts';
import type { PendingOutcome } from './pending-outcomes.ts';
import type { Reading } from './reading.ts';

/** Transactions of watched accounts that one step reads; and of submissions that have landed. */
const LOOKED_MAX = 50;
/** Deposits that one step tells of: one transaction may credit dozens of accounts, of several owners each. */
const DEPOSITS_MAX = 1_000;
/** What landed longer ago may have been told of before: its deposits may be final. */
const LATE_MS = 60_000;
/**
 * A provider's history may fail for hours while its lists do not. The transaction is asked for again when its age has
 * grown by half, within the second bound, and given up after the first.
 */
const GIVEN_UP_MS = 24 * 3_600_000;
const AGAIN_MAX_MS = 600_000;

export interface LookupResult {
  readonly observations: readonly Observation[];
  readonly warnings: readonly string[];
}

/**
 * Makes known to the watch which intents these transactions name. Of all at once, as it may read them; and of each
 * right before it is judged, as they may have come to rest in between.
 */
export const recallNamed = (watch: WatchSet, readings: readonly (Reading | null)[]): Promise<void> =>
  watch.recall(readings.flatMap((one) => (one === null ? [] : [...namesIn(one)])));

/** What no step waits for: where it is read, and what has come of that since the last step. */
export interface LateLooks {
  readonly reads: LateReads<Look>;
  readonly come: ReadonlyMap<TransactionHash, Look>;
}

/** Reads it beside the steps, where there is room. @returns whether that has begun now */
const readLate = (pool: RpcPool, { reads }: LateLooks, hash: TransactionHash): boolean =>
  reads.begin(hash, async (one) => {
    const [look = LATE] = await pool.run((node) => lookTwice(pool, node, [one]), STEP_MS);
    return look;
  });

/** It was not returned in time, and not read since: no step asks for it. */
const isLate = ({ come }: LateLooks, hash: TransactionHash, unseen: Unseen | undefined): boolean =>
  unseen?.problem === NOT_IN_TIME && !come.has(hash);

type Shown = Extract<Look, { kind: 'read' }>;
/** What has come beside the steps, and what this upstream shows soon of the others. */
async function lookSince(
  pool: Pick<RpcPool, 'onAnother'>,
  node: RpcNode,
  { come }: LateLooks,
  hashes: readonly TransactionHash[],
  most: number,
): Promise<readonly Look[]> {
  const asked = hashes.filter((hash) => !come.has(hash));
  const looks = asked.length === 0 ? [] : await lookSoon(pool, node, asked, most);
  const soon = new Map(asked.map((hash, place) => [hash, looks[place] ?? LATE]));
  return hashes.map((hash) => come.get(hash) ?? soon.get(hash) ?? LATE);
}

const isLookedAt = (look: Look | undefined): boolean => look !== undefined && look.kind !== 'left';

/** Whatever of a landed transaction pays watched intents. */
function paymentsOf(reading: Reading, network: Network, watch: WatchSet): LookupResult {
  const { landings, warnings } = landingsIn(reading, network, watch);
  return { observations: landings, warnings };
}

/** What a look tells of payments, and why some of it cannot be judged. */
function judged(look: Look, network: Network, watch: WatchSet): readonly [LookupResult, string | null] {
  if (look.kind === 'strange') return [nothing, look.problem];
  if (look.kind === 'late') return [nothing, NOT_IN_TIME];
  if (look.kind !== 'read') return [nothing, null];
  return [paymentsOf(look.reading, network, watch), problemIn(look.reading, network, watch)];
}

/**
 * The outcome of a transaction, whose names were recalled: what it paid, where its money went instead, or that it
 * failed. There always is one: a submission that has landed can do no more.
 */
export function readOutcome(
  pending: PendingOutcome,
  reading: Reading,
  network: Network,
  watch: WatchSet,
): LookupResult {
  const { intentId, hash } = pending;
  if (reading.failure !== null)
    return {
      observations: [{ kind: 'observation', type: 'reverted', intentId, data: { hash, reason: reading.failure } }],
      warnings: [],
    };
  const paid = paymentsOf(reading, network, watch);
  if (paid.observations.some((one) => one.intentId === intentId)) return paid;
  const stray = pending.kind === 'submitted' ? strayIn(reading, { id: intentId }, watch) : null;
  return { observations: [...paid.observations, stray ?? movedNothing(pending)], warnings: paid.warnings };
}

/** Its transaction has succeeded without any transfer for the intent. */
function movedNothing(pending: PendingOutcome): Observation {
  const { intentId, hash, requestor } = pending;
  const reason = `the transaction landed and moved nothing to ${requestor}`;
  return pending.kind === 'submitted' && pending.ignoresRevert
    ? { kind: 'observation', type: 'dropped', intentId, data: { hash, proof: reason } }
    : { kind: 'observation', type: 'reverted', intentId, data: { hash, reason } };
}

const hashOf = ({ hash }: PendingOutcome): TransactionHash => hash;
const requestorOf = ({ requestor }: PendingOutcome): Address => requestor;

/**
 * Reads the transactions that landed, by turns of their recipients; what no node returns yet is read by a later step,
 * behind the recipient's others, and what cannot be judged is set aside.
 * @param head set aside as of this slot: nothing below it waits for them
 * @param most transactions that the upstream's rate allows in a step
 */
export async function readPendingOutcomes(
  pool: RpcPool,
  node: RpcNode,
  pendingOutcomes: readonly PendingOutcome[],
  memory: Memory,
  network: Network,
  watch: WatchSet,
  head: bigint,
  now: number,
  most: number,
  late: LateLooks,
): Promise<LookupResult & { readonly commit: Commit }> {
  const due = pendingOutcomes.filter(({ hash }) => {
    const unseen = memory.unseen.get(hash);
    if (isLate(late, hash, unseen)) return false;
    return unseen?.problem === undefined || unseen.dueAt <= now || late.come.has(hash);
  });
  // What has come costs no call, and comes once: it takes no turn.
  const [come, others] = [
    due.filter(({ hash }) => late.come.has(hash)),
    due.filter(({ hash }) => !late.come.has(hash)),
  ];
  const inOrder = memory.landedTurns.order(memory.landedHashTurns.order(others, hashOf), requestorOf);
  const asked = [...come, ...inOrder.slice(0, Math.min(LOOKED_MAX, most))];
  const looks = await lookSince(pool, node, late, asked.map(hashOf), most);
  await recallNamed(watch, looks.map(readingOf));
  const strange: [TransactionHash, Unseen][] = [];
  const results = await inTurn(asked, async (pending, place): Promise<LookupResult> => {
    const look = looks[place];
    await recallNamed(watch, [readingOf(look)]);
    if (look?.kind === 'read') return readOutcome(pending, look.reading, network, watch);
    const problem = look?.kind === 'late' ? NOT_IN_TIME : look?.kind === 'strange' ? look.problem : null;
    if (problem === null) return nothing;
    const { hash, requestor } = pending;
    const unseen = memory.unseen.get(hash) ?? { slot: head, since: now, dueAt: now, of: requestor };
    if (unseen.problem !== undefined) return nothing;
    if (look?.kind === 'late') readLate(pool, late, hash);
    strange.push([hash, setAside(unseen, problem, now)]);
    return warning(asideText(network, hash, unseen, problem));
  });
  const commit = (): void => {
    for (const [hash, unseen] of strange) memory.unseen.set(hash, unseen);
    const looked = asked.filter((_one, place) => place >= come.length && isLookedAt(looks[place]));
    memory.landedTurns.served(looked.map(requestorOf), new Set(due.map(requestorOf)));
    memory.landedHashTurns.served(looked.map(hashOf), new Set(due.map(hashOf)));
    rememberReaders(memory, looks, results);
  };
  return { ...joined(results), commit };
}

/**
 * Reads the transactions that watched accounts list, by turns of their recipients, and each only once, as soon as that
 * is committed. The cursor stays below those that no node returns, those that cannot be judged, and those for whose
 * deposits there is no room: their payments are told at once.
 * @param most transactions that the upstream's rate allows in a step
 */
export async function readUnseen(
  pool: RpcPool,
  node: RpcNode,
  memory: Memory,
  network: Network,
  watch: WatchSet,
  now: number,
  most: number,
  late: LateLooks,
): Promise<
  LookupResult & {
    readonly deposits: readonly DepositObservation[];
    readonly givenUp: number;
    readonly isBehind: boolean;
    readonly commit: Commit;
  }
> {
  const isOver = ({ since }: Unseen): boolean => now - since >= GIVEN_UP_MS;
  const isBeside = ([hash, unseen]: Found): boolean => isLate(late, hash, unseen) && !isOver(unseen);
  const begun = dueByTurns(memory, now, late.reads.room, isBeside).filter(([hash]) => readLate(pool, late, hash));
  const left = Math.max(1, most - begun.length);
  const askedMost = Math.min(LOOKED_MAX, left);
  // What has come costs no call, and comes once: it takes no turn.
  const hasCome = ([hash]: Found): boolean => late.come.has(hash);
  const first = [...memory.unseen].filter(hasCome);
  // One more tells that some are left.
  const due = dueByTurns(memory, now, askedMost + 1, (one) => !isBeside(one) && !hasCome(one));
  const asked = [...first, ...due.slice(0, askedMost)];
  const again = begun.map(([hash, unseen]): Found => [hash, setAside(unseen, NOT_IN_TIME, now)]);
  const beside = (): void => {
    for (const [hash, unseen] of again) memory.unseen.set(hash, unseen);
    served(memory, begun);
  };
  if (asked.length === 0) return { ...nothing, deposits: [], givenUp: 0, isBehind: false, commit: beside };
  // What is given up is not waited for once more.
  const over = new Map(asked.flatMap(([hash, unseen]) => (isLate(late, hash, unseen) ? [[hash, LATE] as const] : [])));
  const come = new Map([...over, ...late.come]);
  const hashes = asked.map(([hash]) => hash);
  const looks = await lookSince(pool, node, { ...late, come }, hashes, left);
  await recallNamed(watch, looks.map(readingOf));
  const openDeposits = Map.groupBy(watch.openDeposits(), ({ arrival }) => arrival.hash);
  const deposits: DepositObservation[] = [];
  const tellers: (readonly [string, string])[] = [];
  /** @returns false where there is no room for them */
  const tellDeposits = ({ reading, by }: Shown): boolean => {
    const isLate = reading.at === null || now - reading.at >= LATE_MS;
    const told = depositsIn(reading, network, watch, openDeposits.get(reading.hash) ?? [], isLate);
    if (deposits.length > 0 && deposits.length + told.length > DEPOSITS_MAX) return false;
    deposits.push(...told);
    for (const { type, depositId, data } of told)
      if (type === 'deposit_landed') tellers.push([toldKeyOf(depositId, data.arrival), by]);
    return true;
  };
  const done: TransactionHash[] = [];
  const open: Found[] = [];
  let isFull = false;
  let givenUp = 0;
  const looked = await inTurn(asked, async ([hash, unseen], place): Promise<LookupResult> => {
    const look = looks[place];
    if (look === undefined || look.kind === 'left') return nothing;
    await recallNamed(watch, [readingOf(look)]);
    const age = now - unseen.since;
    const isGivenUp = isOver(unseen);
    const [paid, problem] = judged(look, network, watch);
    if (isGivenUp || (look.kind === 'read' && problem === null)) {
      // Nothing may claim it any more: what pays no intent by now is told as a deposit.
      const hasRoom = look.kind !== 'read' || tellDeposits(look);
      if (hasRoom) done.push(hash);
      else isFull = true;
      if (hasRoom && (look.kind !== 'read' || problem !== null)) givenUp += 1;
    }
    if (problem !== null) {
      if (isGivenUp)
        return joined([paid, warning(`${network.name}: ${hash} of slot ${unseen.slot} is given up: ${problem}`)]);
      if (look.kind === 'late') readLate(pool, late, hash);
      const worth = look.kind === 'read' ? worthTo(unseen.of, look.reading, network) : {};
      open.push([hash, setAside({ ...unseen, ...worth }, problem, now)]);
      return joined([
        paid,
        unseen.problem === undefined ? warning(asideText(network, hash, unseen, problem)) : nothing,
      ]);
    }
    if (look.kind !== 'missing') return paid;
    const refusal = look.refusal === null ? '' : `: ${look.refusal}`;
    const reason = `${node.name} lists ${hash} but does not return it${refusal}`;
    if (isGivenUp) return warning(`${reason}: it is skipped`);
    // That a node has none is what it says: it is asked like others again.
    const { problem: before, ...rest } = unseen;
    const isStillLate = before !== undefined && (before !== NOT_IN_TIME || look.refusal !== null);
    const dueAt = now + Math.min(age / 2, AGAIN_MAX_MS);
    open.push([hash, { ...rest, ...(isStillLate && { problem: before }), dueAt }]);
    return age < SHOWN_WITHIN_MS ? nothing : warning(`${reason}: it is asked for again`);
  });
  const crowded = tooMany(stillAside(memory, new Set(done), new Map(open)), watch);
  const commit = (): void => {
    beside();
    for (const [hash, unseen] of open) memory.unseen.set(hash, unseen);
    for (const hash of [...done, ...crowded.map(([hash]) => hash)]) {
      memory.unseen.delete(hash);
      memory.looked.set(hash, true);
    }
    served(
      memory,
      asked.filter((_one, place) => place >= first.length && isLookedAt(looks[place])),
    );
    rememberReaders(memory, looks, looked);
    for (const [key, by] of tellers) memory.depositsShownBy.set(key, by);
  };
  const { observations, warnings } = joined(looked);
  return {
    observations,
    deposits,
    warnings: [
      ...warnings,
      ...crowded.map(
        ([hash, { slot, problem }]) =>
          `${network.name}: ${hash} of slot ${slot} is given up, as its account has too many that cannot be ` +
          `judged: ${problem}`,
      ),
    ],
    givenUp: givenUp + crowded.length,
    isBehind: isFull || due.length > looks.slice(first.length).filter(isLookedAt).length,
    commit,
  };
}

/** What a node shows wrongly may be right in a moment: the first time it is asked for again after this. */
const AGAIN_MIN_MS = 1_000;
const setAside = (unseen: Unseen, problem: string, now: number): Unseen => ({
  ...unseen,
  problem,
  dueAt: now + Math.min(Math.max((now - unseen.since) / 2, AGAIN_MIN_MS), AGAIN_MAX_MS),
});
const asideText = (network: Network, hash: TransactionHash, { slot }: Unseen, problem: string): string =>
  `${network.name}: ${hash} of slot ${slot} is set aside: ${problem}`;

type Found = readonly [TransactionHash, Unseen];
const recipientOf = ([, { of }]: Found): Address => of;
/** Anyone may name a recipient's account as often as they like: what was found by a reference does not wait for it. */
const queueOf = ([, { reference, of }]: Found): Reference | Address => reference ?? of;

/**
 * The transactions that are due, one of each recipient after the other, so that none delays another's: those first who
 * have waited longest for a turn. Of one recipient in the same way by reference, all without any as one. Of these from
 * both ends, as spam may be newer or older than a payment; and those last that were asked for in vain.
 * @param most of each reference, and of each recipient without any
 * @param isOf which of them
 */
function dueByTurns(memory: Memory, now: number, most: number, isOf: (one: Found) => boolean): readonly Found[] {
  const isAgain = ([, { dueAt, since }]: Found): boolean => dueAt > since;
  const order = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0);
  const isUnnamed = ({ reference }: Unseen): number => (reference === undefined ? 1 : 0);
  const due = [...memory.unseen].filter((one) => one[1].dueAt <= now && isOf(one));
  due.sort(([, one], [, other]) => isUnnamed(one) - isUnnamed(other) || order(one.slot, other.slot));
  const ordered = [...Map.groupBy(due, queueOf).values()].flatMap((queue) =>
    [
      ...fromBothEnds(
        queue.filter((one) => !isAgain(one)),
        most,
      ),
      ...queue.filter(isAgain),
    ].slice(0, most),
  );
  return memory.lookTurns.order(memory.queueTurns.order(ordered, queueOf), recipientOf);
}

/** So many of them: the first, the last, the second, the last but one, and so on. */
const fromBothEnds = <T>(items: readonly T[], most: number): readonly T[] =>
  items.slice(0, most).map((_item, at) => items.at(at % 2 === 0 ? at / 2 : -(at + 1) / 2) as T);

/** Those of whom something was asked for wait for their next turn behind the others. */
function served(memory: Memory, asked: readonly Found[]): void {
  const unseen = [...memory.unseen];
  memory.lookTurns.served(asked.map(recipientOf), new Set(unseen.map(recipientOf)));
  memory.queueTurns.served(asked.map(queueOf), new Set(unseen.map(queueOf)));
}

/** What cannot be judged after a step that has done some of it, and changed others. */
const stillAside = (
  memory: Memory,
  done: ReadonlySet<TransactionHash>,
  changed: ReadonlyMap<TransactionHash, Unseen>,
): readonly Found[] =>
  [...memory.unseen]
    .filter(([hash]) => !done.has(hash))
    .map(([hash, unseen]) => [hash, changed.get(hash) ?? unseen] as const)
    .filter(([, { problem }]) => problem !== undefined);

/** What there is no room for of all that cannot be judged: of accounts, recipients and payers that have the most. */
const tooMany = (aside: readonly Found[], watch: WatchSet): readonly Found[] =>
  byTurns(
    watch,
    aside.map((found) => ({ found, recipient: recipientOf(found), payer: found[1].payer, amount: found[1].amount })),
  )
    .slice(SET_ASIDE_MAX)
    .map(({ found }) => found);

/** For its turn among what is set aside: what a transaction has brought its recipient at most, and who paid its fee. */
function worthTo(recipient: Address, reading: Reading, network: Network): Pick<Unseen, 'payer' | 'amount'> {
  const tokens = new Set<string>(network.tokens.map(({ address }) => address));
  const gains = [...reading.after]
    .filter(([, { owner, mint }]) => (owner as string) === recipient && tokens.has(mint))
    .map(([place]) => gainOf(reading, place));
  const amount = gains.reduce((most, gain) => (gain > most ? gain : most), 0n);
  return { amount, ...(reading.fee !== null && { payer: reading.fee.payer }) };
}

/** @param results of each look */
function rememberReaders(memory: Memory, looks: readonly Look[], results: readonly LookupResult[]): void {
  for (const [place, look] of looks.entries())
    for (const one of results[place]?.observations ?? [])
      if (look.kind === 'read' && one.type === 'landed') memory.shownBy.set(textOf(one), look.by);
}

const warning = (text: string): LookupResult => ({ observations: [], warnings: [text] });
const nothing: LookupResult = { observations: [], warnings: [] };
const joined = (all: readonly LookupResult[]): LookupResult => ({
  observations: all.flatMap(({ observations }) => observations),
  warnings: all.flatMap(({ warnings }) => warnings),
});
