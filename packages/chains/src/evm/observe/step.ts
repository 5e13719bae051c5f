import type { ChainId, DepositObservation, Instant, Observation, TransactionHash } from '@pf/domain';
import { type RpcCall, type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { greatest } from '../../bigints.ts';
import { STEP_MS } from '../../networks.ts';
import type { Cursor, Network, Step, WatchSet } from '../../port.ts';
import { afterLook, type SetAside } from '../../set-aside.ts';
import { type Block, getBlock } from '../calls.ts';
import { type ChainPosition, shortfallOf } from './chain-position.ts';
import { advance, type Checkpoint, newestOf } from './checkpoints.ts';
import { writtenWhole } from './early-look.ts';
import type { FirstReader } from './first-reader.ts';
import { type Findings, type NewBlocks, readerOf, type Unjudged } from './reading.ts';
import type { Standstill } from './standstill.ts';

/** What the positions of all observers have. */
interface EvmPosition extends ChainPosition {
  readonly checkpoints: Checkpoint[];
  readonly whole?: bigint | undefined;
  readonly firstReader: FirstReader;
  readonly setAside?: SetAside[] | undefined;
}

/** What the next position has on all chains. */
type Common = Pick<EvmPosition, 'genesis' | 'checkpoints' | 'whole' | 'firstReader'>;

/** All that a step has before it reads. */
export interface Setting {
  readonly node: RpcNode;
  readonly watch: WatchSet;
  readonly now: Instant;
  /** The newest block that is read: it was there before the watch set was brought up to date. */
  readonly head: Block;
}

/** Where a step goes on, and what the chain has undone by then. */
export interface Place<Position> {
  readonly position: Position;
  readonly observations: readonly Observation[];
  readonly deposits: readonly DepositObservation[];
  readonly warnings: readonly string[];
}

/** What was found in transactions that were set aside, and which of them are judged now. */
export interface SecondLook<Found> extends Findings<Found> {
  readonly judged: ReadonlySet<TransactionHash>;
}

/** What the parts of a step have found before the last one. */
export interface SoFar<Found, Outcomes> {
  readonly news: NewBlocks<Found>;
  readonly again: SecondLook<Found>;
  readonly outcomes: Outcomes;
  /** Of what comes after the second reading. */
  readonly firstReader: FirstReader;
}

/** What a step comes to. */
export interface Conclusion<Position> {
  readonly observations: readonly Observation[];
  readonly deposits: readonly DepositObservation[];
  readonly warnings: readonly string[];
  /** What was set aside and is judged now; what could not be judged; and what of that must not be given up. */
  readonly judged: ReadonlySet<TransactionHash>;
  readonly unjudged: readonly Unjudged[];
  readonly heldAmong: (all: readonly SetAside[]) => (one: SetAside) => boolean;
  /** The next position. `kept`: what waits to be judged by then */
  readonly position: (common: Common, kept: SetAside[]) => Position;
  /** As of a Step. */
  readonly unshown: number;
  readonly disproved?: number;
}

/** The parts of a step, in their order. Each is a function that knows of the others only what they have found. */
export interface Parts<Position, Found, Outcomes, Finals> {
  /** Reads the new blocks. */
  readonly read: () => Promise<NewBlocks<Found>>;
  /** Looks again at what no step could judge. */
  readonly lookAgain: () => Promise<SecondLook<Found>>;
  /** Reads how submitted transactions have ended that leave no log. */
  readonly readOutcomes: (news: NewBlocks<Found>) => Promise<Outcomes>;
  /** Reads a second time what is due, and says what is final. */
  readonly finalize: (soFar: SoFar<Found, Outcomes>) => Promise<Finals>;
  /** Says what has landed. Only here the step changes what its observer remembers. */
  readonly confirm: (soFar: SoFar<Found, Outcomes>, finals: Finals) => Promise<Conclusion<Position>>;
}

interface StepOf<Position extends EvmPosition, Found, Outcomes, Finals> {
  readonly pool: RpcPool;
  readonly network: Network;
  /** Null before the first step. */
  readonly cursor: Cursor | null;
  readonly position: (cursor: Cursor) => Position;
  /** Where the first step begins. */
  readonly start: (node: RpcNode, chain: ChainId) => Promise<Position>;
  /** Forgets what a step has begun that was not taken to its end. */
  readonly begin: () => void;
  readonly synchronize: () => Promise<WatchSet>;
  readonly now: () => Instant;
  /** The newest block that is read. */
  readonly newest: RpcCall<Block | null>;
  /** What it is called where a node does not have it. Default: newest block */
  readonly newestName?: string;
  /** How far blocks were read a second time. */
  readonly readTwice: (position: Position) => bigint;
  readonly standstill: Standstill;
  /** Where to go on where the node does not have the newest block that was read; `behind`: it has too few. */
  readonly recover: (setting: Setting, before: Position) => Promise<Place<Position> | 'behind'>;
  readonly parts: (setting: Setting, position: Position) => Parts<Position, Found, Outcomes, Finals>;
  readonly write: (position: Position) => Cursor;
}

/**
 * A step of an observer: finds its place on the chain, then reads, looks again, reads outcomes, finalizes, confirms. It
 * uses one upstream, so that the head and the logs up to it belong together.
 * @throws ZodError on a cursor of another observer
 */
export function takeStep<Position extends EvmPosition, Found, Outcomes, Finals>(
  step: StepOf<Position, Found, Outcomes, Finals>,
): Promise<Step> {
  const stored = step.cursor === null ? null : step.position(step.cursor);
  return step.pool.run(async (node) => {
    const before = stored ?? (await step.start(node, step.network.chain));
    step.begin();
    return stepFrom(node, before, step);
  }, STEP_MS);
}

async function stepFrom<Position extends EvmPosition, Found, Outcomes, Finals>(
  node: RpcNode,
  before: Position,
  {
    network,
    synchronize,
    now,
    newest,
    newestName = 'newest block',
    readTwice,
    standstill,
    recover,
    parts: partsOf,
    write,
  }: StepOf<Position, Found, Outcomes, Finals>,
): Promise<Step> {
  const last = newestOf(before);
  const [head, standing] = await node.batch([newest, getBlock(last.number)]);
  if (head === null) throw new RpcUpstreamError(`${node.name} has no ${newestName}`, 'no');
  const watch = await synchronize();
  // Only now: what is seen in this step has stood since then, however long the head took.
  const setting: Setting = { node, watch, now: now(), head };
  const place = standing?.hash === last.hash ? unmoved(before) : await recover(setting, before);
  if (place === 'behind')
    return {
      observations: [],
      cursor: write(before),
      head: head.number,
      behind: 0n,
      warnings: shortfallOf(network.chain, before, head),
      setAside: before.setAside?.length ?? 0,
      readOnceMs: standstill.after(readTwice(before), head.number, setting.now),
    };

  const { position } = place;
  const parts = partsOf(setting, position);
  const news = await parts.read();
  const again = await parts.lookAgain();
  const outcomes = await parts.readOutcomes(news);
  const soFar = { news, again, outcomes, firstReader: readerOf(position.firstReader, node, news, readTwice(position)) };
  const finals = await parts.finalize(soFar);
  const end = await parts.confirm(soFar, finals);

  const aside = afterLook(position.setAside ?? [], {
    now: setting.now,
    judged: end.judged,
    failed: end.unjudged,
    watch,
    heldAmong: end.heldAmong,
  });
  const { reached, whole } = news;
  const checkpoints =
    reached.number > newestOf(position).number
      ? advance(position.checkpoints, { number: reached.number, hash: reached.hash })
      : position.checkpoints;
  const common = { genesis: position.genesis, checkpoints, ...writtenWhole({ checkpoints }, whole) };
  const next = end.position({ ...common, firstReader: soFar.firstReader }, [...aside.kept]);
  return {
    observations: [...place.observations, ...end.observations],
    deposits: [...place.deposits, ...end.deposits],
    cursor: write(next),
    head: head.number,
    behind: news.isEarly ? 0n : greatest(0n, head.number - whole),
    warnings: [...place.warnings, ...end.warnings, ...aside.warnings],
    setAside: aside.kept.length,
    givenUp: aside.givenUp,
    unshown: end.unshown,
    disproved: end.disproved ?? 0,
    readOnceMs: standstill.after(readTwice(next), head.number, setting.now),
  };
}

const unmoved = <Position>(position: Position): Place<Position> => ({
  position,
  observations: [],
  deposits: [],
  warnings: [],
});
