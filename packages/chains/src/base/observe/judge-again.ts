import type { Observation, Reference, Settlement, TransactionHash } from '@pf/domain';
import { type RpcNode, type RpcPool, soon } from '@pf/rpc';
import { getCalling, type Logged } from '../../evm/calls.ts';
import { isLate, readEach, Unreadable } from '../../evm/observe/read-each.ts';
import type { Findings } from '../../evm/observe/reading.ts';
import { NOT_IN_TIME } from '../../late-reads.ts';
import type { Network, WatchSet } from '../../port.ts';
import { argumentsOf, referencesBehind } from '../calldata.ts';
import type { Judging } from './context.ts';
import { Disproved, type DisprovedOf } from './disproved.ts';
import { type LoggedTransfer, readTransfer } from './landings.ts';
import type { LateTransactions, Whole } from './late.ts';
import { Memory } from './memory.ts';
import { NO_ROOM } from './nested-payments.ts';
import type { Seen } from './position.ts';
import { readLoggedIn, readReceipts } from './receipts.ts';
import { type Hit, judge, transfersIn } from './scan.ts';
import { alone, type Asked, nameOf, type Showing } from './second-showing.ts';

/** How often a request for receipts that are too long together is halved. */
const SPLITS = 5;

/**
 * What a transaction pays these intents, by its receipt, calldata and trace alone. Null where no upstream has one of
 * them.
 */
export async function judgeAgain(
  pool: RpcPool,
  node: RpcNode,
  network: Network,
  watch: WatchSet,
  hash: TransactionHash,
): Promise<readonly Observation[] | null> {
  const disproved = new Disproved();
  const of = { pool, node, network, watch, noteDisproved: disproved.note };
  const { found, unjudged, receipts } = await judgeAnew(of, [hash]);
  if (!receipts.has(hash) || unjudged.length > 0) return null;
  const paid = found.flatMap((one): Observation[] => {
    if (one.kind !== 'landed') return [];
    const { intentId, transfer } = one;
    return [{ kind: 'observation', type: 'landed', intentId, data: { hash, level: 'confirmed', transfer } }];
  });
  return [...disproved.observations(), ...paid];
}

interface Anew extends Findings<Seen> {
  readonly receipts: ReadonlyMap<TransactionHash, Logged>;
}

type Of = Pick<Judging, 'pool' | 'node' | 'network' | 'watch' | 'noteDisproved' | 'late'>;
/** Nothing is remembered, so that nothing which was found before is believed. */
const anew = (of: Of): Judging => ({ ...of, memory: new Memory(), now: 0, waitsSince: () => undefined });

/** @param blocks where their logs are, of receipts that are too long to be read */
async function judgeAnew(
  of: Of,
  hashes: readonly TransactionHash[],
  blocks: ReadonlyMap<TransactionHash, bigint> = new Map(),
): Promise<Anew> {
  const context = anew(of);
  const receipts = new Map<TransactionHash, Logged>();
  const found = await readReceipts(context, hashes, SPLITS);
  let areLogsLate = false;
  for (const [place, hash] of hashes.entries()) {
    const [receipt, block] = [found[place], blocks.get(hash)];
    let logged: Logged | string | null = receipt ?? null;
    if (typeof logged === 'string' && logged !== NOT_IN_TIME && block !== undefined) {
      // The next one may cost as much.
      logged = areLogsLate ? NOT_IN_TIME : await readLoggedIn(of, hash, block, of.late !== undefined);
      areLogsLate = logged === NOT_IN_TIME;
    }
    if (logged === NOT_IN_TIME) of.late?.begin(hash, null);
    else if (logged !== null && typeof logged !== 'string') receipts.set(hash, logged);
  }
  const hits = [...receipts.values()].flatMap((receipt) => hitsIn(context, receipt));
  return { ...(await judge(context, hits)), receipts };
}

/** The same of a transaction that was read before, of which nothing more is asked. */
async function judgeRead(of: Of, { by, transaction, logged, traced }: Whole): Promise<Anew> {
  const nothing: Anew = { found: [], unjudged: [], receipts: new Map() };
  if (typeof logged === 'string' || typeof transaction === 'string') return nothing;
  const context = anew({ ...of, pool: NO_UPSTREAM });
  const known = { sent: { transaction, by }, ...(traced && { traced }) };
  const judged = await judge(
    context,
    hitsIn(context, logged).map((hit) => ({ ...hit, ...known })),
  );
  return { ...judged, receipts: new Map([[transaction.hash, logged]]) };
}

const hitsIn = (context: Judging, receipt: Logged): readonly Hit[] =>
  receipt.status === 0n ? [] : transfersIn(context, receipt.logs).map((transfer) => ({ transfer, receipt }));

/** What one upstream alone shows of settlements. */
interface SettlementsShown extends Showing {
  /** What the transactions of the others pay, as this upstream shows them. */
  readonly instead: readonly Seen[];
  /** Of these, the settlements that are the payments of others. */
  readonly disproved: readonly DisprovedOf[];
}

/**
 * Which of these settlements one upstream alone shows: the same transfer in the same block, for the same reference.
 * Where it has no trace, which few upstreams have, the calldata that it shows must name that reference.
 */
export async function settlementsShownBy(
  asked: Asked,
  { network, watch }: Pick<Judging, 'network' | 'watch'>,
  settlements: readonly Settlement[],
): Promise<SettlementsShown> {
  const { node, whole } = asked;
  const blocks = new Map(settlements.map(({ hash, transfer }) => [hash, transfer.block]));
  const disproved: DisprovedOf[] = [];
  const noteDisproved = (one: DisprovedOf, isSettled: boolean): void => void (isSettled && disproved.push(one));
  const late = new Set<TransactionHash>();
  const of: Of = {
    pool: alone(node),
    node,
    network,
    watch,
    noteDisproved,
    ...(asked.isSoon && { late: noting(late) }),
  };
  const { found, unjudged, receipts } = await (whole
    ? judgeRead(of, whole)
    : judgeAnew(of, [...blocks.keys()], blocks));
  // While some are late there is less room for others: those are asked for again at once.
  const left = new Set(asked.isSoon ? unjudged.flatMap((one) => (one.reason === NO_ROOM ? [one.hash] : [])) : []);
  const isUnjudged = new Set(unjudged.map(({ hash }) => hash));
  const shown = new Set<string>();
  const untraced: { readonly settlement: Settlement; readonly logged: LoggedTransfer }[] = [];
  for (const settlement of settlements) {
    const { hash } = settlement;
    const logged = loggedIn(settlement, receipts.get(hash));
    if (logged === null) continue;
    if (found.some((one) => isSame(settlement, one))) shown.add(nameOf(settlement));
    else if (isUnjudged.has(hash) && !late.has(hash) && !left.has(hash)) untraced.push({ settlement, logged });
  }
  const calls = untraced.map(({ settlement }) => getCalling(settlement.hash));
  const transactions = whole
    ? untraced.map(() => whole.transaction)
    : await readEach(node, asked.isSoon ? calls.map(soon) : calls, 0, asked.isSoon);
  for (const [place, { settlement, logged }] of untraced.entries()) {
    const transaction = transactions[place] ?? null;
    if (isLate(transaction)) late.add(settlement.hash);
    if (transaction === null || typeof transaction === 'string' || transaction instanceof Unreadable) continue;
    if (isNamedIn(transaction.input, logged, settlement.transfer.reference)) shown.add(nameOf(settlement));
  }
  const isOpen = ({ hash }: { readonly hash: TransactionHash }): boolean => !late.has(hash) && !left.has(hash);
  const denied = new Set(settlements.flatMap((one) => (shown.has(nameOf(one)) ? [] : [one.hash])));
  return { shown, late, left, instead: found.filter((one) => denied.has(one.hash) && isOpen(one)), disproved };
}

/** Takes what is not returned in time. */
const noting = (late: Set<TransactionHash>): LateTransactions => ({
  reads: { isKnown: () => false, note: (hash) => void late.add(hash), room: 0 },
  come: new Map(),
  begin: (hash) => {
    late.add(hash);
    return false;
  },
});

/** All that counts was read before. */
const NO_UPSTREAM: Judging['pool'] = {
  onAnother: () => Promise.resolve(null),
  async *attempts() {
    // There is none.
  },
};

/** The same landing, worth as much at least: what other transfers paid may not be looked for any more. */
const isSame = ({ hash, transfer }: Settlement, one: Seen): boolean =>
  one.kind === 'landed' &&
  one.hash === hash &&
  one.transfer.index === transfer.index &&
  one.transfer.reference === transfer.reference &&
  one.transfer.amount >= transfer.amount;

/**
 * The settlement's transfer as this receipt has it; null where it has another one there. What an account has gained may
 * be less than what was transferred to it.
 */
function loggedIn({ transfer }: Settlement, receipt: Logged | undefined): LoggedTransfer | null {
  if (receipt?.blockHash !== transfer.blockHash) return null;
  const log = receipt.logs.find(({ logIndex }) => logIndex.toString() === transfer.index);
  const logged = log === undefined ? null : readTransfer(log);
  return logged !== null &&
    (logged.log.address as string) === transfer.tokenAddress &&
    logged.from === transfer.from &&
    logged.to === transfer.to &&
    logged.amount >= transfer.amount
    ? logged
    : null;
}

/** Whether the reference follows this transfer's arguments somewhere in the calldata. */
function isNamedIn(input: string, { to, amount }: LoggedTransfer, reference: Reference): boolean {
  const name = argumentsOf(to, amount);
  const behind = referencesBehind(Buffer.from(input.slice(2), 'hex'), new Set([name]));
  return behind.get(name)?.has(reference) === true;
}
