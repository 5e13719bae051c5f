import type { Observation } from '@pf/domain';
import { type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { greatest, least } from '../bigints.ts';
import { getBlock, getHead, type Block } from '../evm/calls.ts';
import { advance, newestOf } from '../evm/observe/checkpoints.ts';
import { begin, relocate, shortfallOf } from '../evm/observe/chain-position.ts';
import { soonestPaid, WHOLE_MS, wholeOf, writtenWhole } from '../evm/observe/early-look.ts';
import { firstReaderAfter } from '../evm/observe/first-reader.ts';
import { STEP_MS } from '../networks.ts';
import type { ChainObserver, Cursor, KeptBytes, Network, Step, WatchSet } from '../port.ts';
import {
  duePendingOutcomes,
  findDropped,
  findFinalReverts,
  readReceipts,
  senderIn,
  type SentBy,
} from './observe/pending-outcomes.ts';
import { findLapsed } from './observe/lapsed.ts';
import { Memory } from './observe/memory.ts';
import { type Position, readPosition, withSeen, writePosition } from './observe/position.ts';
import type { Scan } from './observe/context.ts';
import { scan, type Scanned } from './observe/scan.ts';
import { confirm, finalize, isInLedger, orphan } from './observe/settlements.ts';
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
  }

  /** Short while a payment is under way. */
  get intervalMs(): number {
    return this.#memory.isAwaiting ? this.network.pollMs.awaiting : this.network.pollMs.idle;
  }

  step(cursor: Cursor | null, synchronize: () => Promise<WatchSet>): Promise<Step> {
    const before = cursor === null ? null : readPosition(cursor);
    return this.#pool.run((node) => this.#step(node, before, synchronize), STEP_MS);
  }

  async #step(node: RpcNode, before: Position | null, synchronize: () => Promise<WatchSet>): Promise<Step> {
    this.#memory.begin();
    const position = before ?? (await this.#start(node));
    const newest = newestOf(position);
    const [head, standing] = await node.batch([getHead(), getBlock(newest.number)]);
    if (head === null) throw new RpcUpstreamError(`${node.name} has no newest block`, 'no');
    const watch = await synchronize();
    const context: Scan = {
      pool: this.#pool,
      node,
      network: this.network,
      watch,
      memory: this.#memory,
      now: this.#now(),
    };

    const found = standing?.hash === newest.hash ? unmoved(position) : await this.#recover(context, position, head);
    if (found === 'behind') return idle(position, head);
    const { rescanned: rescannedBefore, firstReader: firstReaderBefore, checkpoints } = found.position;
    const start = newestOf(found.position);
    let seen = found.position.seen;
    const observations: Observation[] = [...found.observations];
    const warnings: string[] = [...found.warnings];

    // New blocks, up to the head that was read before the watch set was updated.
    const first = await this.#read(context, found.position, head);
    const { reached, whole } = first;
    seen = withSeen(seen, first.seen);
    const firstReader =
      whole === first.wholeBefore
        ? firstReaderBefore
        : firstReaderAfter(firstReaderBefore, node, first.wholeBefore <= rescannedBefore);

    const pendingOutcomes = duePendingOutcomes(context);
    const receipts = await readReceipts(context, this.#pool, pendingOutcomes);
    seen = withSeen(seen, receipts.seen);

    // The same blocks once more when they are safe, then what can be proven by them.
    let rescanned = rescannedBefore;
    let hasMore = false;
    if (
      receipts.missing.length > 0 ||
      receipts.ignoredReverts.length > 0 ||
      context.now - this.#memory.tagsAskedAt >= TAGS_MS
    ) {
      const [safe, finalized] = await node.batch([getBlock('safe'), getBlock('finalized')]);
      this.#memory.tagsAskedAt = context.now;
      const end = least(whole, safe?.number ?? 0n);
      if (end > rescanned && (!first.isSplit || context.now - this.#memory.rescannedAt >= WHOLE_MS)) {
        const { number, hash } = [safe, reached].find((one) => one?.number === end) ?? { number: end, hash: null };
        const rescan = (by: RpcNode): Promise<Scanned> => scan({ ...context, node: by }, rescanned + 1n, number, hash);
        const again = await this.#pool.doubleCheck(node, firstReader, rescan);
        if (again !== null) {
          rescanned = again.map(({ end }) => end.number).reduce(least);
          // On a plan of short ranges one call is not all: the next step goes on at once.
          if (rescanned < end) hasMore = true;
          else this.#memory.rescannedAt = context.now;
          const missed = again.flatMap((one) => one.seen).filter((one) => !isInLedger(watch, one));
          seen = withSeen(seen, missed);
        }
      }
      const finals = await finalize(context, least(reached.number, finalized?.number ?? 0n));
      observations.push(...finals.observations, ...findFinalReverts(receipts.ignoredReverts, finalized?.number ?? -1n));
      seen = withSeen(seen, finals.seen);
      hasMore ||= finals.hasMore;
      // Unreported landings of an intent come first: the transaction that used the nonce may have paid it.
      const waiting = new Set(
        seen.filter((one) => one.kind === 'reverted' || !one.reported).map(({ intentId }) => intentId),
      );
      const dead = receipts.missing.filter(({ intentId }) => !waiting.has(intentId));
      if (safe !== null) {
        const dropped = await findDropped(context, this.#pool, this.#sentBy, dead, safe, rescanned);
        observations.push(...dropped.observations);
        warnings.push(...dropped.warnings);
        observations.push(...(await findLapsed(context, safe, rescanned, waiting)));
      }
    }

    const confirmed = await confirm(context, seen);
    this.#memory.commit();
    if (whole >= head.number) this.#memory.wholeAt = context.now;
    if (hasMore) this.#memory.tagsAskedAt = 0;
    this.#memory.isAwaiting =
      hasMore || !isEmpty(watch.submitted()) || confirmed.seen.some((one) => one.kind === 'reverted' || !one.reported);
    const read = reached.number > start.number ? advance(checkpoints, reached) : checkpoints;
    const next: Position = {
      genesis: found.position.genesis,
      checkpoints: read,
      ...writtenWhole({ checkpoints: read }, whole),
      rescanned,
      firstReader,
      seen: [...confirmed.seen],
    };
    return {
      observations: [...observations, ...confirmed.observations],
      cursor: writePosition(next),
      head: head.number,
      behind: first.isEarly ? 0n : greatest(0n, head.number - whole),
      warnings,
    };
  }

  /**
   * Reads the logs up to the head: of all recipients, or of those that are paid soonest, where one call does not take
   * all of them and all were read a moment ago.
   */
  async #read(context: Scan, position: Position, head: Block): Promise<FirstReading> {
    const { node, watch, memory, now } = context;
    const [start, wholeBefore] = [newestOf(position), wholeOf(position)];
    const isSplit = !memory.logs.takesAll(node, watch.recipients().length);
    const isEarly = isSplit && now - memory.wholeAt < WHOLE_MS;
    const idle: FirstReading = { reached: start, wholeBefore, whole: wholeBefore, seen: [], isSplit, isEarly };
    if (isEarly) {
      const soonest = soonestPaid(watch);
      if (start.number >= head.number || soonest.length === 0) return idle;
      const { end, seen } = await scan(context, start.number + 1n, head.number, head.hash, soonest);
      return { ...idle, reached: end, seen };
    }
    if (wholeBefore >= head.number) return idle;
    const { end, seen } = await scan(context, wholeBefore + 1n, head.number, head.hash);
    return {
      ...idle,
      reached: end.number > start.number ? end : start,
      whole: end.number,
      // What an early look has reported is not reported again.
      seen: wholeBefore === start.number ? seen : seen.filter((one) => !isInLedger(watch, one)),
    };
  }

  async #start(node: RpcNode): Promise<Position> {
    const { genesis, checkpoints, start } = await begin(node);
    return { genesis, checkpoints: [...checkpoints], rescanned: start.number, firstReader: null, seen: [] };
  }

  /** Handles a node without the newest checkpoint: it lags, there was a reorg, or it is another chain. */
  async #recover(context: Scan, position: Position, head: Block): Promise<Found | 'behind'> {
    const found = await relocate(context.node, this.network.chain, position, head);
    if (found.kind === 'behind') return 'behind';
    if (found.kind === 'reorg') {
      const { checkpoints, ancestor, depth } = found;
      const orphaned = await orphan(context, position.seen, ancestor, head.number);
      return {
        position: {
          ...position,
          checkpoints: [...checkpoints],
          ...(position.whole !== undefined && { whole: least(ancestor, position.whole) }),
          rescanned: least(ancestor, position.rescanned),
          seen: [...orphaned.seen],
        },
        observations: orphaned.observations,
        warnings: [`the chain was reorganized within the last ${depth} blocks: continuing at block ${ancestor}`],
      };
    }
    // Nothing that was read before is on this chain.
    const { genesis, from, warning } = found;
    const orphaned = await orphan(context, position.seen, -1n, -1n);
    return {
      position: {
        genesis,
        checkpoints: [from],
        rescanned: from.number,
        firstReader: null,
        seen: [...orphaned.seen],
      },
      observations: orphaned.observations,
      warnings: [warning],
    };
  }
}

/** What a step has read of the new blocks. */
interface FirstReading {
  /** The newest block that was read, by an early look too. */
  readonly reached: Pick<Block, 'number' | 'hash'>;
  /** Up to these blocks all recipients were read: before, and now. */
  readonly wholeBefore: bigint;
  readonly whole: bigint;
  readonly seen: Scanned['seen'];
  /** One call does not take all recipients. */
  readonly isSplit: boolean;
  readonly isEarly: boolean;
}

interface Found {
  readonly position: Position;
  readonly observations: readonly Observation[];
  readonly warnings: readonly string[];
}

const isEmpty = (all: Iterable<unknown>): boolean => all[Symbol.iterator]().next().done === true;

const unmoved = (position: Position): Found => ({ position, observations: [], warnings: [] });

/** This node does not yet have the blocks that were read: nothing to do, and nothing to conclude. */
const idle = (position: Position, head: Block): Step => ({
  observations: [],
  cursor: writePosition(position),
  head: head.number,
  behind: 0n,
  warnings: shortfallOf(position, head),
});
