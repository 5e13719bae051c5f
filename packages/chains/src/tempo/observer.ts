import type { ChainId, DepositObservation, Observation, TransactionHash } from '@pf/domain';
import { boundedCache } from '@pf/runtime';
import { type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { greatest, least } from '../bigints.ts';
import { getBlock, type Block } from '../evm/calls.ts';
import { LogWindow } from '../evm/observe/log-window.ts';
import { ReceiptSchedule } from '../evm/observe/receipt-schedule.ts';
import { begin, relocate } from '../evm/observe/chain-position.ts';
import { type Findings, readAgain, readNewBlocks } from '../evm/observe/reading.ts';
import { type Parts, type Place, type Setting, takeStep } from '../evm/observe/step.ts';
import { Absences } from '../evm/observe/absence.ts';
import type { SecondReader } from '../second-reader.ts';
import { Standstill } from '../evm/observe/standstill.ts';
import { LateReads } from '../late-reads.ts';
import { STEP_MS } from '../networks.ts';
import type { ChainObserver, Cursor, Network, Step, WatchSet } from '../port.ts';
import { ArrivalReports, FIRST_REPORTED_MAX, paidArrivals } from './observe/arrival-reports.ts';
import type { Sighting } from './observe/arrivals.ts';
import { Finality } from './observe/finality.ts';
import { judgeAgain } from './observe/judge-again.ts';
import { lookAgain } from './observe/look-again.ts';
import { duePendingOutcomes, readPendingOutcomes } from './observe/pending-outcomes.ts';
import { asideOf, type Position, readPosition, rereadFrom, writePosition, writtenAside } from './observe/position.ts';
import { ProofBlocks } from './observe/proof-blocks.ts';
import { type Found, RECEIPTS_KEPT, receiptsKept } from './observe/receipts.ts';
import { scan, scanAgain, type Scan } from './observe/scan.ts';
import { type Said, secondReader } from './observe/second-showing.ts';

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
  readonly #receipts = receiptsKept();
  readonly #proven = boundedCache<TransactionHash, string>(RECEIPTS_KEPT);
  readonly #finality = new Finality();
  readonly #arrivals = new ArrivalReports();
  readonly #schedule = new ReceiptSchedule();
  readonly #late: LateReads<Found>;
  readonly #absences: Absences;
  readonly #seconds: SecondReader<Said>;
  #isAwaiting = false;
  readonly #proofBlocks = new ProofBlocks();
  /** When logs were last read a second time, by our clock, and how far the first reading had come then. */
  #rereadAt = 0;
  #rereadTo = 0n;
  #rereadBlocks = REREAD_BLOCKS;
  readonly #standstill = new Standstill();
  /** When the logs of all recipients were last read up to the final block, by our clock. */
  #wholeAt = -Infinity;

  /** @param now our clock, in ms */
  constructor(network: Network, pool: RpcPool, now: () => number = Date.now) {
    this.network = network;
    this.#pool = pool;
    this.#now = now;
    this.#late = new LateReads(now);
    this.#absences = new Absences(pool, now);
    this.#seconds = secondReader(pool, network, now);
  }

  get intervalMs(): number {
    return this.#isAwaiting ? this.network.pollMs.awaiting : this.network.pollMs.idle;
  }

  step(cursor: Cursor | null, synchronize: () => Promise<WatchSet>): Promise<Step> {
    return takeStep({
      pool: this.#pool,
      network: this.network,
      cursor,
      position: readPosition,
      start,
      begin: () => this.#schedule.begin(),
      synchronize,
      now: this.#now,
      newest: getBlock('finalized'),
      newestName: 'final block',
      readTwice: ({ reread }) => reread,
      standstill: this.#standstill,
      recover: async ({ node, head }, position) => {
        const place = await recover(node, this.network.chain, position, head);
        if (place !== 'behind') {
          this.#proofBlocks.clear();
          this.#late.forget();
          this.#absences.forget();
          this.#seconds.forget();
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

  #parts({ node, watch, now, head }: Setting, position: Position): Parts<Position, Observation, Ends, Finals> {
    const sighted: Sighted[] = [];
    const sightedAgain: Sighted[] = [];
    const context: Scan = {
      node,
      pool: this.#pool,
      network: this.network,
      watch,
      window: this.#window,
      receipts: this.#receipts,
      proven: this.#proven,
      proofBlocks: this.#proofBlocks,
      aside: new Set(asideOf(position).map(({ hash }) => hash)),
      late: { reads: this.#late, come: this.#late.collect() },
      seconds: this.#seconds.collect(),
      noteSightings: (...reading) => sighted.push(reading),
    };
    return {
      read: () =>
        readNewBlocks(
          { node, watch, logs: this.#window, wholeAt: this.#wholeAt, now },
          position,
          head,
          (...range) => scan(context, ...range),
          (one) => isInLedger(watch, one),
        ),
      lookAgain: () => lookAgain(context, asideOf(position), head, now),
      // Nothing is dropped while blocks are unread: their contents come first.
      readOutcomes: ({ whole }) => {
        const due = whole < head.number ? [] : duePendingOutcomes(context, this.#schedule, head, now);
        return readPendingOutcomes(context, this.#schedule, due, head, now, this.#absences);
      },
      finalize: async ({ news, firstReader }) => {
        const rereading: Scan = { ...context, noteSightings: (...reading) => sightedAgain.push(reading) };
        const reread = await this.#reread(rereading, { ...position, firstReader }, news.whole, now);
        // At the same time: what is late of one kind costs the other nothing.
        const [finality, deposits] = await Promise.all([
          this.#finality.finalize(context, now),
          this.#arrivals.finalize(context, position.reread, now),
        ]);
        return { reread, ...finality, deposits };
      },
      confirm: ({ news, again, outcomes }, { reread, ...finals }) => {
        const late = [...reread.found, ...again.found];
        const observed = [...news.found, ...late, ...outcomes.found, ...finals.observations];
        const live = new Set([...watch.submitted()].map(({ submission }) => submission.hash));
        const deposits = [
          ...paidArrivals(watch, [...news.found, ...late], late),
          ...sighted.flatMap(([by, all]) => this.#arrivals.report(context, by, all, FIRST_REPORTED_MAX)),
          ...sightedAgain.flatMap(([by, all]) => this.#arrivals.report(context, by, all)),
          ...finals.deposits,
        ];
        this.#schedule.commit();
        if (news.whole >= head.number) this.#wholeAt = now;
        this.#isAwaiting = live.size > 0;
        return Promise.resolve({
          observations: [...new Map(observed.map((one) => [nameOf(one), one])).values()],
          deposits,
          warnings: finals.warnings,
          judged: again.judged,
          unjudged: [...news.unjudged, ...reread.unjudged, ...again.unjudged, ...outcomes.unjudged],
          heldAmong:
            () =>
            ({ hash }) =>
              live.has(hash),
          position: (common, kept) => ({
            ...common,
            reread: reread.reread,
            rereadWithin: reread.within,
            ...writtenAside(kept),
          }),
          unshown: this.#finality.longUnshown(now) + this.#arrivals.longUnshown(now),
        });
      },
    };
  }

  /** Reads the logs of older blocks once more, for payments that the ledger does not have. */
  async #reread(
    context: Scan,
    { reread, rereadWithin: within, firstReader }: Position,
    reached: bigint,
    now: number,
  ): Promise<Reread> {
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

/** What a reading by this upstream has shown that pays no intent. */
type Sighted = readonly [RpcNode, readonly Sighting[]];
type Ends = Findings<Observation>;
interface Reread extends Findings<Observation> {
  readonly reread: bigint;
  /** As of a Rereading. */
  readonly within: bigint | undefined;
}
/** What a step finds out about blocks that it, or an earlier one, has read before. */
interface Finals {
  readonly reread: Reread;
  readonly observations: readonly Observation[];
  readonly deposits: readonly DepositObservation[];
  readonly warnings: readonly string[];
}

/** True for a landing that the ledger has as the intent's settlement. */
const isInLedger = (watch: WatchSet, one: Observation): boolean =>
  one.type === 'landed' && watch.byReference(one.data.transfer.reference)?.settlement?.hash === one.data.hash;

async function start(node: RpcNode, chain: ChainId): Promise<Position> {
  const { genesis, checkpoints, start } = await begin(node, chain);
  return { genesis, checkpoints: [...checkpoints], reread: start.number, firstReader: null };
}

/** What was final stays in the ledger, whatever a chain does. */
const NOTHING_UNDONE = { observations: [], deposits: [] } as const;

/**
 * Handles a node without the newest checkpoint. Final blocks do not change: it lags, or it is another chain, such as a
 * local one that was reset.
 */
async function recover(
  node: RpcNode,
  chain: ChainId,
  position: Position,
  final: Block,
): Promise<Place<Position> | 'behind'> {
  const found = await relocate(node, chain, position, final);
  switch (found.kind) {
    case 'behind':
      return 'behind';
    case 'reorg':
      return {
        position: {
          ...position,
          checkpoints: [...found.checkpoints],
          ...(position.whole !== undefined && { whole: least(found.ancestor, position.whole) }),
          ...rereadFrom(least(found.ancestor, position.reread)),
        },
        ...NOTHING_UNDONE,
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
        ...NOTHING_UNDONE,
        warnings: [found.warning],
      };
    default:
      return found satisfies never;
  }
}
