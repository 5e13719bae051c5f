import type { ChainId, Observation, TransactionHash } from '@pf/domain';
import { boundedCache } from '@pf/runtime';
import { type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { greatest, least } from '../bigints.ts';
import { getBlock, type Block } from '../evm/calls.ts';
import { advance, newestOf } from '../evm/observe/checkpoints.ts';
import { LogWindow } from '../evm/observe/log-window.ts';
import { ReceiptSchedule } from '../evm/observe/receipt-schedule.ts';
import { begin, relocate, shortfallOf } from '../evm/observe/chain-position.ts';
import { writtenWhole } from '../evm/observe/early-look.ts';
import { type Findings, readAgain, readerOf, readNewBlocks } from '../evm/observe/reading.ts';
import { STEP_MS } from '../networks.ts';
import type { ChainObserver, Cursor, Network, Step, WatchSet } from '../port.ts';
import { afterLook } from '../set-aside.ts';
import { ArrivalReports, FIRST_REPORTED_MAX, paidArrivals } from './observe/arrival-reports.ts';
import type { Sighting } from './observe/arrivals.ts';
import { Finality } from './observe/finality.ts';
import { judgeAgain } from './observe/judge-again.ts';
import { lookAgain } from './observe/look-again.ts';
import { duePendingOutcomes, readPendingOutcomes } from './observe/pending-outcomes.ts';
import { asideOf, type Position, readPosition, rereadFrom, writePosition, writtenAside } from './observe/position.ts';
import { ProofBlocks } from './observe/proof-blocks.ts';
import { RECEIPTS_KEPT, type Shown } from './observe/receipts.ts';
import { scan, scanAgain, type Scan } from './observe/scan.ts';

/** The same logs are read once more after this: a node may have had the block before its logs. */
const REREAD_MS = 15_000;
/** Blocks of one second reading; fewer after one that a step could not read to its end. */
const REREAD_BLOCKS = 2_000n;

/** Identifies an observation: a transfer is observed once in a step, however often it was found. */
const nameOf = ({ intentId, type, data }: Observation): string =>
  `${intentId} ${type} ${data.hash} ${'transfer' in data ? data.transfer.index : ''}`;

/**
 * Follows a Tempo network by its final blocks (docs/internals/chains.md): one eth_getLogs per step over the new range,
 * and receipts on a slow back-off for transactions that leave no log. Final blocks stay, so a payment is confirmed and
 * final at once where a second upstream shows it too. A step uses one upstream, so that the head and the logs up to it
 * belong together.
 */
export class TempoObserver implements ChainObserver {
  readonly network: Network;
  readonly #pool: RpcPool;
  readonly #now: () => number;
  readonly #window = new LogWindow();
  readonly #receipts = boundedCache<TransactionHash, Shown>(RECEIPTS_KEPT);
  readonly #proven = boundedCache<TransactionHash, string>(RECEIPTS_KEPT);
  readonly #finality = new Finality();
  readonly #arrivals = new ArrivalReports();
  readonly #schedule = new ReceiptSchedule();
  #isAwaiting = false;
  readonly #proofBlocks = new ProofBlocks();
  /** When logs were last read a second time, by our clock, and how far the first reading had come then. */
  #rereadAt = 0;
  #rereadTo = 0n;
  #rereadBlocks = REREAD_BLOCKS;
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

  judge(hash: TransactionHash, watch: WatchSet): Promise<readonly Observation[] | null> {
    return this.#pool.run((node) => judgeAgain(this.#pool, node, this.network, watch, hash), STEP_MS);
  }

  async #step(node: RpcNode, before: Position | null, synchronize: () => Promise<WatchSet>): Promise<Step> {
    this.#schedule.begin();
    const stored = before ?? (await start(node, this.network.chain));
    const [final, standing] = await node.batch([getBlock('finalized'), getBlock(newestOf(stored).number)]);
    if (final === null) throw new RpcUpstreamError(`${node.name} has no final block`, 'no');
    const watch = await synchronize();
    const sighted: (readonly [RpcNode, readonly Sighting[]])[] = [];
    const sightedAgain: typeof sighted = [];
    const context: Scan = {
      node,
      pool: this.#pool,
      network: this.network,
      watch,
      window: this.#window,
      receipts: this.#receipts,
      proven: this.#proven,
      proofBlocks: this.#proofBlocks,
      aside: new Set(asideOf(stored).map(({ hash }) => hash)),
      noteSightings: (...reading) => sighted.push(reading),
    };
    const now = this.#now();

    const { position, warnings } =
      standing?.hash === newestOf(stored).hash
        ? { position: stored, warnings: [] }
        : await recover(node, this.network.chain, stored, final);
    if (position === null)
      return {
        observations: [],
        cursor: writePosition(stored),
        head: final.number,
        behind: 0n,
        warnings,
        setAside: asideOf(stored).length,
      };
    if (position !== stored) this.#proofBlocks.clear();

    const read = await readNewBlocks(
      { node, watch, logs: this.#window, wholeAt: this.#wholeAt, now },
      position,
      final,
      (...range) => scan(context, ...range),
      (one) => isInLedger(watch, one),
    );
    const { reached, whole } = read;
    const firstReader = readerOf(position.firstReader, node, read, position.reread);
    const rereading: Scan = { ...context, noteSightings: (...reading) => sightedAgain.push(reading) };
    const again = await this.#reread(rereading, { ...position, firstReader }, whole, now);
    const looked = await lookAgain(context, asideOf(position), final, now);
    // Nothing is dropped while blocks are unread: their contents come first.
    const pendingOutcomes = whole < final.number ? [] : duePendingOutcomes(context, this.#schedule, final, now);
    const ends = await readPendingOutcomes(context, this.#schedule, pendingOutcomes, final, now);
    const finalized = await this.#finality.finalize(context, now);
    const late = [...again.found, ...looked.found];
    const deposits = [
      ...paidArrivals(watch, [...read.found, ...late], late),
      ...sighted.flatMap(([by, all]) => this.#arrivals.report(context, by, all, FIRST_REPORTED_MAX)),
      ...sightedAgain.flatMap(([by, all]) => this.#arrivals.report(context, by, all)),
      ...(await this.#arrivals.finalize(context, position.reread, now)),
    ];
    this.#schedule.commit();

    const observed = [...read.found, ...again.found, ...looked.found, ...ends.found, ...finalized.observations];
    const unjudged = [...read.unjudged, ...again.unjudged, ...looked.unjudged, ...ends.unjudged];
    const live = new Set([...watch.submitted()].map(({ submission }) => submission.hash));
    const aside = afterLook(asideOf(position), {
      now,
      judged: looked.judged,
      failed: unjudged,
      watch,
      heldAmong:
        () =>
        ({ hash }) =>
          live.has(hash),
    });
    if (whole >= final.number) this.#wholeAt = now;
    const checkpoints =
      reached.number > newestOf(position).number
        ? advance(position.checkpoints, { number: reached.number, hash: reached.hash })
        : position.checkpoints;
    this.#isAwaiting = watch.submitted()[Symbol.iterator]().next().done !== true;
    return {
      observations: [...new Map(observed.map((one) => [nameOf(one), one])).values()],
      deposits,
      cursor: writePosition({
        genesis: position.genesis,
        checkpoints,
        ...writtenWhole({ checkpoints }, whole),
        reread: again.reread,
        rereadWithin: again.within,
        firstReader,
        ...writtenAside(aside.kept),
      }),
      head: final.number,
      behind: final.number > whole && !read.isEarly ? final.number - whole : 0n,
      warnings: [...warnings, ...aside.warnings, ...finalized.warnings],
      setAside: aside.kept.length,
      givenUp: aside.givenUp,
      unshown: this.#finality.longUnshown(now) + this.#arrivals.longUnshown(now),
    };
  }

  /** Reads the logs of older blocks once more, for payments that the ledger does not have. */
  async #reread(
    context: Scan,
    { reread, rereadWithin: within, firstReader }: Position,
    reached: bigint,
    now: number,
  ): Promise<Findings<Observation> & { readonly reread: bigint; readonly within: bigint | undefined }> {
    const nothing = { reread, within, found: [], unjudged: [] };
    if (now - this.#rereadAt < REREAD_MS) return nothing;
    const all = least(reached, this.#rereadTo);
    const to = least(all, reread + this.#rereadBlocks);
    const goOnAt = this.#rereadAt;
    this.#rereadAt = now;
    this.#rereadTo = reached;
    if (to <= reread) return nothing;
    const last = await context.node.call(getBlock(to));
    if (last === null) throw new RpcUpstreamError(`${context.node.name} lacks blocks below its head`, 'no');
    const again = await readAgain(
      this.#pool,
      context.node,
      firstReader,
      (by) => scanAgain({ ...context, node: by }, reread + 1n, to, last.hash, within ?? -1n),
      (one) => isInLedger(context.watch, one),
    );
    if (again === null) return nothing;
    // Of what a step cannot read, the logs are not asked for again and again.
    const { end } = again;
    this.#rereadBlocks = end < to ? greatest(end - reread, 1n) : least(2n * this.#rereadBlocks, REREAD_BLOCKS);
    // On a plan of short ranges one call is not all: the next step goes on at once.
    if (end < all) [this.#rereadAt, this.#rereadTo] = [goOnAt, all];
    return { reread: end, within: again.within, found: again.found, unjudged: again.unjudged };
  }
}

/** True for a landing that the ledger has as the intent's settlement. */
const isInLedger = (watch: WatchSet, one: Observation): boolean =>
  one.type === 'landed' && watch.byReference(one.data.transfer.reference)?.settlement?.hash === one.data.hash;

async function start(node: RpcNode, chain: ChainId): Promise<Position> {
  const { genesis, checkpoints, start } = await begin(node, chain);
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
      return { position: null, warnings: shortfallOf(chain, position, final) };
    case 'reorg':
      return {
        position: {
          ...position,
          checkpoints: [...found.checkpoints],
          ...(position.whole !== undefined && { whole: least(found.ancestor, position.whole) }),
          ...rereadFrom(least(found.ancestor, position.reread)),
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
