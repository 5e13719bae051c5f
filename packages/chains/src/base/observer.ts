import type { ChainId, DepositObservation, Instant, Observation, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { least } from '../bigints.ts';
import { getBlock, getHead, type Block } from '../evm/calls.ts';
import { begin, relocate } from '../evm/observe/chain-position.ts';
import { WHOLE_MS } from '../evm/observe/early-look.ts';
import { type Findings, type NewBlocks, readAgain, readNewBlocks, type Unjudged } from '../evm/observe/reading.ts';
import { type Conclusion, type Parts, type Place, type Setting, type SoFar, takeStep } from '../evm/observe/step.ts';
import { Absences } from '../evm/observe/absence.ts';
import type { SecondReader } from '../second-reader.ts';
import { Standstill } from '../evm/observe/standstill.ts';
import { STEP_MS } from '../networks.ts';
import type { ChainObserver, Cursor, KeptBytes, Network, Step, WatchSet } from '../port.ts';
import {
  duePendingOutcomes,
  findDropped,
  findFinalReverts,
  readPendingOutcomes,
  type Receipts,
  senderIn,
  type SentBy,
} from './observe/pending-outcomes.ts';
import { confirmArrivals, finalizeArrivals, orphanArrivals, paidArrivals, secondOf } from './observe/arrivals.ts';
import { judgeAgain } from './observe/judge-again.ts';
import { awaitedAmong } from './observe/awaited.ts';
import { findLapsed } from './observe/lapsed.ts';
import { Disproved, type DisprovedOf, nameOf as nameOfDisproved } from './observe/disproved.ts';
import { FeesBeside } from './observe/fees.ts';
import { held } from './observe/held.ts';
import { lookAgain } from './observe/look-again.ts';
import { Memory } from './observe/memory.ts';
import { LateReader } from './observe/read-late.ts';
import { type Position, readPosition, rescanFrom, type Seen, withSeen, writePosition } from './observe/position.ts';
import type { Scan } from './observe/context.ts';
import { scan, scanAgain } from './observe/scan.ts';
import type { Whole } from './observe/late.ts';
import { nameOf, secondReader } from './observe/second-showing.ts';
import { confirm, finalize, isInLedger, orphan } from './observe/settlements.ts';
import { Sightings } from './observe/sightings.ts';
import { type Signer, signerOf } from './signed-transaction.ts';

/** `safe` and `finalized` advance every few seconds at most: they are read no more often. */
const TAGS_MS = 2_000;

/**
 * Follows a Base network by its blocks (docs/internals/chains.md): one eth_getLogs per step over the new range, once
 * more up to `safe`; reorgs by checkpoints; receipts on a slow back-off for transactions that leave no log. A step uses
 * one upstream, so that the head and the logs up to it belong together.
 */
export class BaseObserver implements ChainObserver {
  readonly network: Network;
  readonly #pool: RpcPool;
  readonly #memory = new Memory();
  readonly #standstill = new Standstill();
  readonly #late: LateReader;
  readonly #beside: Beside;
  readonly #fees: FeesBeside;
  readonly #sentBy: SentBy;
  readonly #now: () => number;

  /**
   * @param now our clock, in ms, which measures how long a block has stayed canonical
   * @param keptBytes the bytes of transactions that no node has after a reorg
   * @param signer who has signed them
   */
  constructor(
    network: Network,
    pool: RpcPool,
    now: () => number = Date.now,
    keptBytes: KeptBytes = () => Promise.resolve(null),
    signer: Signer = signerOf,
  ) {
    this.network = network;
    this.#pool = pool;
    this.#sentBy = async (hash) => {
      const bytes = await keptBytes(hash);
      return bytes && senderIn(bytes, signer);
    };
    this.#now = now;
    this.#late = new LateReader(pool, network, now);
    this.#beside = { seconds: secondReader(pool, network, now), absences: new Absences(pool, now) };
    this.#fees = new FeesBeside(pool);
  }

  /** Short while a payment is under way. */
  get intervalMs(): number {
    return this.#memory.isAwaiting ? this.network.pollMs.awaiting : this.network.pollMs.idle;
  }

  step(cursor: Cursor | null, synchronize: () => Promise<WatchSet>): Promise<Step> {
    return takeStep({
      pool: this.#pool,
      network: this.network,
      cursor,
      position: readPosition,
      start,
      begin: () => this.#memory.begin(),
      synchronize,
      now: this.#now,
      newest: getHead(),
      readTwice: ({ rescanned }) => rescanned,
      standstill: this.#standstill,
      recover: async (setting, position) => {
        const place = await recover(this.#judging(setting), position, setting.head);
        if (place !== 'behind') {
          this.#late.forget();
          this.#beside.seconds.forget();
          this.#beside.absences.forget();
        }
        return place;
      },
      parts: (setting, position) => this.#parts(setting, position),
      write: writePosition,
    });
  }

  judge(hash: TransactionHash, watch: WatchSet): Promise<readonly Observation[] | null> {
    return this.#pool.run((node) => judgeAgain(this.#pool, node, this.network, watch, hash), STEP_MS);
  }

  /** @param setAside since when each transaction waits to be judged */
  #judging({ node, watch, now }: Setting, setAside: ReadonlyMap<TransactionHash, Instant> = new Map()): Scan {
    return {
      pool: this.#pool,
      node,
      network: this.network,
      watch,
      memory: this.#memory,
      now,
      waitsSince: (hash) => setAside.get(hash),
    };
  }

  #parts(setting: Setting, position: Position): Parts<Position, Seen, Receipts, Finish> {
    const { watch, head } = setting;
    const sightings = new Sightings(watch, position.arrivals);
    const disproved = new Disproved();
    const context: Scan = {
      ...this.#judging(setting, new Map(position.setAside.map(({ hash, since }) => [hash, since]))),
      late: this.#late.collect(),
      fees: this.#fees,
      noteSighting: sightings.note,
      takeSighting: sightings.take,
      noteDisproved: disproved.note,
    };
    return {
      read: () => readNew(context, position, head),
      lookAgain: () => lookAgain(context, position.setAside),
      readOutcomes: () => readPendingOutcomes(context, duePendingOutcomes(context)),
      finalize: ({ news, again, outcomes, firstReader }) => {
        const isNew = (one: Seen): boolean => !isInLedger(watch, one);
        const seen = [news.found, again.found.filter(isNew), outcomes.seen].reduce<readonly Seen[]>(
          withSeen,
          position.seen,
        );
        const before = { ...position, seen: [...seen], firstReader };
        return finish(context, this.#beside, this.#sentBy, before, news, outcomes, again.unjudged);
      },
      confirm: (soFar, settled) => {
        const observations = [...settled.observations, ...disproved.observations()];
        const ended = { ...settled, observations, seen: disproved.among(settled.seen) };
        const wrong = disproved.settled(settled.seen);
        return this.#confirm(context, sightings, position, head, soFar, ended, wrong);
      },
    };
  }

  /** Says what has been in its block for long enough, and what waits for that. */
  async #confirm(
    context: Scan,
    sightings: Sightings,
    position: Position,
    head: Block,
    { news, again, outcomes }: SoFar<Seen, Receipts>,
    settled: Finish,
    disproved: readonly DisprovedOf[],
  ): Promise<Conclusion<Position>> {
    const { watch, now } = context;
    const confirmed = await confirm(context, settled.seen);
    const firstSeen = new Set([...position.seen, ...news.found, ...outcomes.seen]);
    const late = settled.seen.filter((one) => !firstSeen.has(one));
    const arrived = await confirmArrivals(context, sightings.all(settled.seen), (one) => sightings.unheardBy(one));

    this.#memory.commit();
    const wrong = disproved.filter((one) => this.#memory.disproved.get(nameOfDisproved(one)) === undefined);
    for (const one of wrong) this.#memory.disproved.set(nameOfDisproved(one), true);
    if (news.whole >= head.number) this.#memory.wholeAt = now;
    if (settled.hasMore) this.#memory.tagsAskedAt = 0;
    this.#memory.isAwaiting =
      settled.hasMore ||
      !isEmpty(watch.submitted()) ||
      confirmed.seen.some((one) => one.kind === 'reverted' || !one.reported);
    const holding = held(watch, confirmed.seen);
    const lacking = new Set(holding.waiting.map(({ hash }) => hash));
    return {
      observations: [...settled.observations, ...confirmed.observations],
      deposits: [...settled.deposits, ...paidArrivals(watch, confirmed.seen, late), ...arrived.deposits],
      warnings: [...outcomes.warnings, ...settled.warnings, ...wrong.map(warningOf)],
      judged: new Set([...again.judged].filter((hash) => !lacking.has(hash))),
      unjudged: [...settled.unjudged, ...holding.waiting],
      heldAmong: (all) => awaitedAmong(watch, all, this.#memory),
      position: (common, kept) => ({
        ...common,
        rescanned: settled.rescanned,
        rescannedWithin: settled.within,
        seen: [...holding.seen],
        arrivals: [...arrived.sightings],
        setAside: kept,
      }),
      unshown: this.#memory.unshown.longAmong(() => unfinalized(watch), now),
      disproved: wrong.length,
    };
  }
}

const warningOf = ({ intentId, data: { hash } }: DisprovedOf): string =>
  `${hash} has settled ${intentId}, and carries the reference of another intent: run pf audit settlements`;

/** What a second upstream may be asked for, by the names under which it waits. */
function* unfinalized(watch: WatchSet): Iterable<string> {
  for (const { settlement } of watch.settling()) if (!settlement.lost) yield nameOf(settlement);
  for (const deposit of watch.openDeposits()) yield secondOf(deposit);
}

async function start(node: RpcNode, chain: ChainId): Promise<Position> {
  const { genesis, checkpoints, start } = await begin(node, chain);
  return {
    genesis,
    checkpoints: [...checkpoints],
    rescanned: start.number,
    firstReader: null,
    seen: [],
    arrivals: [],
    setAside: [],
  };
}

/** Reads the new blocks, up to the head that was read before the watch set was updated. */
function readNew(context: Scan, position: Position, head: Block): Promise<NewBlocks<Seen>> {
  const { node, watch, memory, now } = context;
  return readNewBlocks(
    { node, watch, logs: memory.logs, wholeAt: memory.wholeAt, now },
    position,
    head,
    (...range) => scan(context, ...range),
    (one) => isInLedger(watch, one),
  );
}

/** What is read beside the steps that makes payments final, or proves that none comes. */
interface Beside {
  readonly seconds: SecondReader<Whole>;
  readonly absences: Absences;
}

/** What a step finds out about blocks that are safe or final. */
interface Finish {
  readonly observations: readonly Observation[];
  readonly deposits: readonly DepositObservation[];
  readonly seen: readonly Seen[];
  /** All that this step could not judge. */
  readonly unjudged: readonly Unjudged[];
  readonly warnings: readonly string[];
  readonly rescanned: bigint;
  /** As of a Rereading. */
  readonly within: bigint | undefined;
  /** The next step goes on at once. */
  readonly hasMore: boolean;
}

/**
 * Reads the same blocks once more when they are safe, then finds what can be proven by them, and what is final.
 */
async function finish(
  context: Scan,
  { seconds, absences }: Beside,
  sentBy: SentBy,
  position: Position,
  news: NewBlocks<Seen>,
  { missing, ignoredReverts }: Receipts,
  failedAgain: readonly Unjudged[],
): Promise<Finish> {
  const before = [...news.unjudged, ...failedAgain];
  const { node, memory, now } = context;
  const isDue = missing.length > 0 || ignoredReverts.length > 0 || now - memory.tagsAskedAt >= TAGS_MS;
  if (!isDue)
    return {
      observations: [],
      deposits: [],
      seen: position.seen,
      unjudged: before,
      warnings: [],
      rescanned: position.rescanned,
      within: position.rescannedWithin,
      hasMore: false,
    };
  const [safe, finalized] = await node.batch([getBlock('safe'), getBlock('finalized')]);
  memory.tagsAskedAt = now;
  const rescan = await readSafe(context, position, news, safe);
  const doubting = { ...context, seconds: seconds.collect() };
  const through = least(news.reached.number, finalized?.number ?? 0n);
  // At the same time: what is late of one kind costs the other nothing.
  const [finals, arrived] = await Promise.all([finalize(doubting, through), finalizeArrivals(doubting, through)]);
  const seen = [rescan.found, finals.seen].reduce<readonly Seen[]>(withSeen, position.seen);
  // Unreported landings of an intent come first: the transaction that used the nonce may have paid it.
  const waiting = new Set(
    seen.filter((one) => one.kind === 'reverted' || !one.reported).map(({ intentId }) => intentId),
  );
  const unjudged = [...before, ...rescan.unjudged];
  const unread = [...position.setAside, ...unjudged];
  const dropped =
    safe && (await findDropped(context, absences, sentBy, missing, safe, rescan.rescanned, waiting, unread));
  const lapsed = safe && (await findLapsed(context, safe, rescan.rescanned, waiting, unread));
  return {
    observations: [
      ...finals.observations,
      ...(await findFinalReverts(context, ignoredReverts, finalized?.number ?? -1n)),
      ...(dropped?.observations ?? []),
      ...(lapsed ?? []),
    ],
    deposits: arrived.deposits,
    seen,
    unjudged,
    warnings: [...finals.warnings, ...arrived.warnings, ...(dropped?.warnings ?? [])],
    rescanned: rescan.rescanned,
    within: rescan.within,
    hasMore: rescan.hasMore || finals.hasMore || arrived.hasMore,
  };
}

type SafeReading = Findings<Seen> & Pick<Finish, 'rescanned' | 'within' | 'hasMore'>;

/** Reads a second time what is safe by now, by another upstream than the first time. */
async function readSafe(
  context: Scan,
  { rescanned, rescannedWithin: within, firstReader }: Position,
  { reached, whole, isSplit }: NewBlocks<Seen>,
  safe: Block | null,
): Promise<SafeReading> {
  const { node, watch, memory, now, pool } = context;
  const nothing: SafeReading = { found: [], unjudged: [], rescanned, within, hasMore: false };
  const all = least(whole, safe?.number ?? 0n);
  if (all <= rescanned || (isSplit && now - memory.rescannedAt < WHOLE_MS)) return nothing;
  // Of a block that a step could not read to its end, the logs are asked for again, but of no other.
  const end = within === undefined ? all : rescanned + 1n;
  const { number, hash } = [safe, reached].find((one) => one?.number === end) ?? { number: end, hash: null };
  const again = await readAgain(
    pool,
    node,
    firstReader,
    (by) => scanAgain({ ...context, node: by }, rescanned + 1n, number, hash, within ?? -1n),
    (one) => isInLedger(watch, one),
  );
  if (again === null) return nothing;
  // On a plan of short ranges one call is not all: the next step goes on at once, unless there was no room for more.
  const hasMore = again.end < all && (again.end > rescanned || again.within !== within);
  if (!hasMore) memory.rescannedAt = now;
  return { found: again.found, unjudged: again.unjudged, rescanned: again.end, within: again.within, hasMore };
}

/** Handles a node without the newest checkpoint: it lags, there was a reorg, or it is another chain. */
async function recover(context: Scan, position: Position, head: Block): Promise<Place<Position> | 'behind'> {
  const found = await relocate(context.node, context.network.chain, position, head);
  if (found.kind === 'behind') return 'behind';
  if (found.kind === 'reorg') {
    const { checkpoints, ancestor, depth } = found;
    const orphaned = await orphan(context, position.seen, ancestor, head.number);
    const arrived = await orphanArrivals(context, position.arrivals, ancestor, head.number);
    return {
      position: {
        ...position,
        checkpoints: [...checkpoints],
        ...(position.whole !== undefined && { whole: least(ancestor, position.whole) }),
        ...rescanFrom(least(ancestor, position.rescanned)),
        seen: [...orphaned.seen],
        arrivals: [...arrived.sightings],
        // What is still on the chain is read again with its blocks.
        setAside: position.setAside.filter(({ place }) => place <= ancestor),
      },
      observations: orphaned.observations,
      deposits: arrived.deposits,
      warnings: [`the chain was reorganized within the last ${depth} blocks: continuing at block ${ancestor}`],
    };
  }
  // Nothing that was read before is on this chain.
  const { genesis, from, warning } = found;
  const orphaned = await orphan(context, position.seen, -1n, -1n);
  const arrived = await orphanArrivals(context, position.arrivals, -1n, -1n);
  return {
    position: {
      genesis,
      checkpoints: [from],
      rescanned: from.number,
      firstReader: null,
      seen: [...orphaned.seen],
      arrivals: [...arrived.sightings],
      setAside: [],
    },
    observations: orphaned.observations,
    deposits: arrived.deposits,
    warnings: [warning],
  };
}

const isEmpty = (all: Iterable<unknown>): boolean => all[Symbol.iterator]().next().done === true;
