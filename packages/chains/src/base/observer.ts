import type { Observation } from '@pf/domain';
import { type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { getBlock, getHead, type Block } from '../evm/calls.ts';
import { advance, newestOf } from '../evm/observe/checkpoints.ts';
import { begin, relocate, shortfallOf } from '../evm/observe/chain-position.ts';
import type { ChainObserver, Cursor, KeptBytes, Network, Step, WatchSet } from '../port.ts';
import { duePendingOutcomes, findDropped, findFinalReverts, readReceipts } from './observe/pending-outcomes.ts';
import { Memory } from './observe/memory.ts';
import { type Position, readPosition, withSeen, writePosition } from './observe/position.ts';
import { scan, type Scan, type Scanned } from './observe/scan.ts';
import { confirm, finalize, isInLedger, orphan } from './observe/settlements.ts';

/** `safe` and `finalized` move every few seconds at most: they are asked for no more often. */
const TAGS_MS = 2_000;

const atLeast = (least: bigint, value: bigint): bigint => (value < least ? least : value);
const atMost = (most: bigint, value: bigint): bigint => (value > most ? most : value);

/**
 * Follows a Base network by its blocks (chains.md "Observe"): one eth_getLogs per step over the new range, once more up
 * to `safe`; reorganisations by checkpoints; receipts on a slow back-off for what leaves no log. A step is all of one
 * upstream, so that the head and the logs up to it fit together.
 */
export class BaseObserver implements ChainObserver {
  readonly network: Network;
  readonly #pool: RpcPool;
  readonly #memory = new Memory();
  readonly #keptBytes: KeptBytes;
  readonly #now: () => number;

  /**
   * @param now our clock, in ms: how long something has stayed canonical is measured by it
   * @param keptBytes of transactions that no node remembers after a reorganisation
   */
  constructor(
    network: Network,
    pool: RpcPool,
    now: () => number = Date.now,
    keptBytes: KeptBytes = () => Promise.resolve(null),
  ) {
    this.network = network;
    this.#pool = pool;
    this.#keptBytes = keptBytes;
    this.#now = now;
  }

  /** Short while somebody waits for a confirmation. */
  get intervalMs(): number {
    return this.#memory.isAwaiting ? this.network.pollMs.awaiting : this.network.pollMs.idle;
  }

  step(cursor: Cursor | null, synchronize: () => Promise<WatchSet>): Promise<Step> {
    const before = cursor === null ? null : readPosition(cursor);
    return this.#pool.run((node) => this.#step(node, before, synchronize));
  }

  async #step(node: RpcNode, before: Position | null, synchronize: () => Promise<WatchSet>): Promise<Step> {
    const position = before ?? (await this.#start(node));
    const newest = newestOf(position);
    const [head, standing] = await node.batch([getHead(), getBlock(newest.number)]);
    if (head === null) throw new RpcUpstreamError(`${node.name} has no newest block`, 'no');
    const watch = await synchronize();
    const context: Scan = { node, network: this.network, watch, memory: this.#memory, now: this.#now() };

    const found = standing?.hash === newest.hash ? unmoved(position) : await this.#recover(context, position, head);
    if (found === 'behind') return idle(position, head);
    const { rescanned: rescannedBefore, checkpoints } = found.position;
    const start = newestOf(found.position);
    let seen = found.position.seen;
    const observations: Observation[] = [...found.observations];

    // What is new, up to the head that was learnt before the watch set was brought up to date.
    const scanned = start.number >= head.number ? null : await scan(context, start.number + 1n, head.number, head.hash);
    const reached = scanned?.end ?? start;
    seen = withSeen(seen, scanned?.seen ?? []);

    const pendingOutcomes = duePendingOutcomes(context);
    const receipts = await readReceipts(context, this.#pool, pendingOutcomes);
    seen = withSeen(seen, receipts.seen);

    // The same blocks once more when they are safe, then what can be proven there.
    let rescanned = rescannedBefore;
    if (
      receipts.missing.length > 0 ||
      receipts.ignoredReverts.length > 0 ||
      context.now - this.#memory.tagsAskedAt >= TAGS_MS
    ) {
      const [safe, finalized] = await node.batch([getBlock('safe'), getBlock('finalized')]);
      this.#memory.tagsAskedAt = context.now;
      const end = atMost(reached.number, safe?.number ?? 0n);
      if (end > rescanned) {
        // By another upstream where there is one: what the first left out, it would leave out again.
        const { number, hash } = safe?.number === end ? safe : reached;
        const rescan = (by: RpcNode): Promise<Scanned> => scan({ ...context, node: by }, rescanned + 1n, number, hash);
        const again = (await this.#pool.onAnother(node, rescan)) ?? (await rescan(node));
        rescanned = again.end.number;
        seen = withSeen(
          seen,
          again.seen.filter((one) => !isInLedger(watch, one)),
        );
      }
      const finals = await finalize(context, atMost(reached.number, finalized?.number ?? 0n));
      observations.push(...finals.observations, ...findFinalReverts(receipts.ignoredReverts, finalized?.number ?? -1n));
      seen = withSeen(seen, finals.seen);
      // What was seen of an intent is told first: the transaction that took the nonce may have paid.
      const waiting = new Set(
        seen.filter((one) => one.kind === 'reverted' || !one.reported).map(({ intentId }) => intentId),
      );
      const dead = receipts.missing.filter(({ intentId }) => !waiting.has(intentId));
      if (safe !== null)
        observations.push(...(await findDropped(context, this.#pool, this.#keptBytes, dead, safe, rescanned)));
    }

    const confirmed = await confirm(context, seen);
    this.#memory.isAwaiting =
      !isEmpty(watch.submitted()) || confirmed.seen.some((one) => one.kind === 'reverted' || !one.reported);
    const next: Position = {
      genesis: found.position.genesis,
      checkpoints: scanned === null ? checkpoints : advance(checkpoints, reached),
      rescanned,
      seen: [...confirmed.seen],
    };
    return {
      observations: [...observations, ...confirmed.observations],
      cursor: writePosition(next),
      head: head.number,
      behind: atLeast(0n, head.number - reached.number),
      warnings: found.warnings,
    };
  }

  async #start(node: RpcNode): Promise<Position> {
    const { genesis, checkpoints, start } = await begin(node);
    return { genesis, checkpoints: [...checkpoints], rescanned: start.number, seen: [] };
  }

  /** The newest checkpoint is not what this node has there: it lags, the chain was reorganised, or it is another chain. */
  async #recover(context: Scan, position: Position, head: Block): Promise<Found | 'behind'> {
    const found = await relocate(context.node, this.network.chain, position, head);
    if (found.kind === 'behind') return 'behind';
    if (found.kind === 'back') {
      const { checkpoints, ancestor, depth } = found;
      const orphaned = await orphan(context, position.seen, ancestor);
      return {
        position: {
          ...position,
          checkpoints: [...checkpoints],
          rescanned: atMost(ancestor, position.rescanned),
          seen: [...orphaned.seen],
        },
        observations: orphaned.observations,
        warnings: [`the chain was reorganized within the last ${depth} blocks: continuing at block ${ancestor}`],
      };
    }
    // Nothing of what was read before is on this chain.
    const { genesis, from, warning } = found;
    const orphaned = await orphan(context, position.seen, -1n);
    return {
      position: { genesis, checkpoints: [from], rescanned: from.number, seen: [...orphaned.seen] },
      observations: orphaned.observations,
      warnings: [warning],
    };
  }
}

interface Found {
  readonly position: Position;
  readonly observations: readonly Observation[];
  readonly warnings: readonly string[];
}

const isEmpty = (all: Iterable<unknown>): boolean => all[Symbol.iterator]().next().done === true;

const unmoved = (position: Position): Found => ({ position, observations: [], warnings: [] });

/** This node does not have yet what was read before: nothing to do, and nothing to conclude. */
const idle = (position: Position, head: Block): Step => ({
  observations: [],
  cursor: writePosition(position),
  head: head.number,
  behind: 0n,
  warnings: shortfallOf(position, head),
});
