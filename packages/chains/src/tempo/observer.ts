import type { ChainId, Observation, TransactionHash } from '@pf/domain';
import { boundedCache } from '@pf/runtime';
import { type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { least } from '../bigints.ts';
import { getBlock, type Block, type Receipt } from '../evm/calls.ts';
import { advance, newestOf } from '../evm/observe/checkpoints.ts';
import { LogWindow } from '../evm/observe/log-window.ts';
import { ReceiptSchedule } from '../evm/observe/receipt-schedule.ts';
import { begin, relocate, shortfallOf } from '../evm/observe/chain-position.ts';
import { soonestPaid, WHOLE_MS, wholeOf, writtenWhole } from '../evm/observe/early-look.ts';
import { firstReaderAfter } from '../evm/observe/first-reader.ts';
import { STEP_MS } from '../networks.ts';
import type { ChainObserver, Cursor, Network, Step, WatchSet } from '../port.ts';
import { duePendingOutcomes, readPendingOutcomes } from './observe/pending-outcomes.ts';
import { type Position, readPosition, writePosition } from './observe/position.ts';
import { ProofBlocks } from './observe/proof-blocks.ts';
import { RECEIPTS_KEPT, scan, type Scan } from './observe/scan.ts';

/** The same logs are read once more after this: a node may have had the block before its logs. */
const REREAD_MS = 15_000;

/** Identifies an observation: a transfer is observed once in a step, however often it was found. */
const nameOf = ({ intentId, type, data }: Observation): string =>
  `${intentId} ${type} ${data.hash} ${'transfer' in data ? data.transfer.index : ''}`;

/**
 * Follows a Tempo network by its final blocks (docs/internals/chains.md): one eth_getLogs per step over the new range,
 * and receipts on a slow back-off for transactions that leave no log. Final blocks stay, so a payment is confirmed and
 * final at once. A step uses one upstream, so that the head and the logs up to it belong together.
 */
export class TempoObserver implements ChainObserver {
  readonly network: Network;
  readonly #pool: RpcPool;
  readonly #now: () => number;
  readonly #window = new LogWindow();
  readonly #receipts = boundedCache<TransactionHash, Receipt>(RECEIPTS_KEPT);
  readonly #schedule = new ReceiptSchedule();
  #isAwaiting = false;
  readonly #proofBlocks = new ProofBlocks();
  /** When logs were last read a second time, by our clock, and how far the first reading had come then. */
  #rereadAt = 0;
  #rereadTo = 0n;
  /** When the logs of all recipients were last read up to the final block, by our clock. */
  #wholeAt = -Infinity;

  /** @param now our clock, in ms */
  constructor(network: Network, pool: RpcPool, now: () => number = Date.now) {
    this.network = network;
    this.#pool = pool;
    this.#now = now;
  }

  get intervalMs(): number {
    return this.#isAwaiting ? this.network.pollMs.awaiting : this.network.pollMs.idle;
  }

  step(cursor: Cursor | null, synchronize: () => Promise<WatchSet>): Promise<Step> {
    const before = cursor === null ? null : readPosition(cursor);
    return this.#pool.run((node) => this.#step(node, before, synchronize), STEP_MS);
  }

  async #step(node: RpcNode, before: Position | null, synchronize: () => Promise<WatchSet>): Promise<Step> {
    this.#schedule.begin();
    const stored = before ?? (await start(node));
    const [final, standing] = await node.batch([getBlock('finalized'), getBlock(newestOf(stored).number)]);
    if (final === null) throw new RpcUpstreamError(`${node.name} has no final block`, 'no');
    const watch = await synchronize();
    const context: Scan = {
      node,
      network: this.network,
      watch,
      window: this.#window,
      receipts: this.#receipts,
      proofBlocks: this.#proofBlocks,
    };
    const now = this.#now();

    const { position, warnings } =
      standing?.hash === newestOf(stored).hash
        ? { position: stored, warnings: [] }
        : await recover(node, this.network.chain, stored, final);
    if (position === null)
      return { observations: [], cursor: writePosition(stored), head: final.number, behind: 0n, warnings };
    if (position !== stored) this.#proofBlocks.clear();
    const from = newestOf(position);
    const wholeBefore = wholeOf(position);
    const { reached, whole, observations: landed, isEarly } = await this.#read(context, position, final, now);
    const firstReader =
      whole === wholeBefore
        ? position.firstReader
        : firstReaderAfter(position.firstReader, node, wholeBefore <= position.reread);
    const again = await this.#reread(context, { ...position, firstReader }, whole, now);

    // Nothing is dropped while blocks are unread: their contents come first.
    const pendingOutcomes = whole < final.number ? [] : duePendingOutcomes(context, this.#schedule, final, now);
    const ends = await readPendingOutcomes(context, this.#pool, this.#schedule, pendingOutcomes, final, now);
    this.#schedule.commit();
    const observations = new Map([...landed, ...again.observations, ...ends].map((one) => [nameOf(one), one]));
    if (whole >= final.number) this.#wholeAt = now;
    const checkpoints =
      reached.number > from.number
        ? advance(position.checkpoints, { number: reached.number, hash: reached.hash })
        : position.checkpoints;
    this.#isAwaiting = watch.submitted()[Symbol.iterator]().next().done !== true;
    return {
      observations: [...observations.values()],
      cursor: writePosition({
        genesis: position.genesis,
        checkpoints,
        ...writtenWhole({ checkpoints }, whole),
        reread: again.reread,
        firstReader,
      }),
      head: final.number,
      behind: final.number > whole && !isEarly ? final.number - whole : 0n,
      warnings,
    };
  }

  /**
   * Reads the logs up to the final block: of all recipients, or of those that are paid soonest, where one call does not
   * take all of them and all were read a moment ago.
   */
  async #read(context: Scan, position: Position, final: Block, now: number): Promise<FirstReading> {
    const { node, watch, window } = context;
    const [from, wholeBefore] = [newestOf(position), wholeOf(position)];
    const isEarly = !window.takesAll(node, watch.recipients().length) && now - this.#wholeAt < WHOLE_MS;
    const idle: FirstReading = { reached: from, whole: wholeBefore, observations: [], isEarly };
    if (isEarly) {
      const soonest = soonestPaid(watch);
      if (from.number >= final.number || soonest.length === 0) return idle;
      const { end, observations } = await scan(context, from.number + 1n, final.number, final.hash, soonest);
      return { ...idle, reached: end, observations };
    }
    if (wholeBefore >= final.number) return idle;
    const { end, observations } = await scan(context, wholeBefore + 1n, final.number, final.hash);
    return {
      ...idle,
      reached: end.number > from.number ? end : from,
      whole: end.number,
      // What an early look has reported is not reported again.
      observations: wholeBefore === from.number ? observations : observations.filter((one) => !isInLedger(watch, one)),
    };
  }

  /** Reads the logs of older blocks once more, for payments that the ledger does not have. */
  async #reread(
    context: Scan,
    { reread, firstReader }: Position,
    reached: bigint,
    now: number,
  ): Promise<{ readonly reread: bigint; readonly observations: readonly Observation[] }> {
    if (now - this.#rereadAt < REREAD_MS) return { reread, observations: [] };
    const to = least(reached, this.#rereadTo);
    const goOnAt = this.#rereadAt;
    this.#rereadAt = now;
    this.#rereadTo = reached;
    if (to <= reread) return { reread, observations: [] };
    const last = await context.node.call(getBlock(to));
    if (last === null) throw new RpcUpstreamError(`${context.node.name} lacks blocks below its head`, 'no');
    const rescan = (by: RpcNode): ReturnType<typeof scan> => scan({ ...context, node: by }, reread + 1n, to, last.hash);
    const again = await this.#pool.doubleCheck(context.node, firstReader, rescan);
    if (again === null) return { reread, observations: [] };
    const end = again.map((one) => one.end.number).reduce(least);
    // On a plan of short ranges one call is not all: the next step goes on at once.
    if (end < to) [this.#rereadAt, this.#rereadTo] = [goOnAt, to];
    return {
      reread: end,
      observations: again.flatMap(({ observations }) => observations).filter((one) => !isInLedger(context.watch, one)),
    };
  }
}

/** What a step has read of the new blocks. */
interface FirstReading {
  /** The newest block that was read, by an early look too. */
  readonly reached: Pick<Block, 'number' | 'hash'>;
  /** Up to this block all recipients were read. */
  readonly whole: bigint;
  readonly observations: readonly Observation[];
  readonly isEarly: boolean;
}

/** True for a landing that the ledger has as the intent's settlement. */
const isInLedger = (watch: WatchSet, one: Observation): boolean =>
  one.type === 'landed' && watch.byReference(one.data.transfer.reference)?.settlement?.hash === one.data.hash;

async function start(node: RpcNode): Promise<Position> {
  const { genesis, checkpoints, start } = await begin(node);
  return { genesis, checkpoints: [...checkpoints], reread: start.number, firstReader: null };
}

/**
 * Handles a node without the newest checkpoint. Final blocks do not change: it lags, or it is another chain, such as a
 * local one that was reset.
 */
async function recover(
  node: RpcNode,
  chain: ChainId,
  position: Position,
  final: Block,
): Promise<{ readonly position: Position | null; readonly warnings: readonly string[] }> {
  const found = await relocate(node, chain, position, final);
  switch (found.kind) {
    case 'behind':
      return { position: null, warnings: shortfallOf(position, final) };
    case 'reorg':
      return {
        position: {
          ...position,
          checkpoints: [...found.checkpoints],
          ...(position.whole !== undefined && { whole: least(found.ancestor, position.whole) }),
          reread: least(found.ancestor, position.reread),
        },
        warnings: [
          `the last ${found.depth} blocks were final and have been replaced: continuing at block ${found.ancestor}`,
        ],
      };
    case 'new_chain':
      return {
        position: {
          genesis: found.genesis,
          checkpoints: [found.from],
          reread: found.from.number,
          firstReader: null,
        },
        warnings: [found.warning],
      };
    default:
      return found satisfies never;
  }
}
