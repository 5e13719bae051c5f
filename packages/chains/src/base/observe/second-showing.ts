import type { Instant, Settlement, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { NOT_IN_TIME } from '../../late-reads.ts';
import type { Network } from '../../port.ts';
import { doubleCheckSoon, type LateShowing, SecondReader } from '../../second-reader.ts';
import { sendsAuthorization } from '../authorization/eip3009.ts';
import { explainTransfers } from '../nested/explain.ts';
import type { Judging, Scan } from './context.ts';
import { readTransfer } from './landings.ts';
import type { Whole } from './late.ts';
import { isUnread, readWhole } from './read-late.ts';

/** What no second upstream shows for so long is told of. */
const UNSHOWN_WARNED_MS = 60_000;

/** By this name a settlement waits for a second upstream. One transfer may have been told of for two intents. */
export const nameOf = ({ hash, transfer: { blockHash, index, reference } }: Settlement): string =>
  `${hash} ${blockHash} ${index} ${reference}`;

/** Which upstream is asked, and whether for a moment only; or what it has shown beside the steps. */
export interface Asked {
  readonly node: RpcNode;
  readonly isSoon: boolean;
  readonly whole?: Whole;
}

/** What one upstream alone shows, by name. */
export interface Showing {
  readonly shown: ReadonlySet<string>;
  /** What it has not returned in time. */
  readonly late: ReadonlySet<TransactionHash>;
  /** What there was no room for. */
  readonly left: ReadonlySet<TransactionHash>;
}

/** How upstreams are asked for what waits to be final. */
export interface Question<One, Shows extends Showing> {
  readonly nameOf: (one: One) => string;
  readonly placeOf: (one: One) => LateShowing;
  readonly ask: (of: Asked, some: readonly One[]) => Promise<Shows>;
}

/**
 * Those that a step looks at: all that have come beside the steps, and so many others. What was not returned in time is
 * read there, and takes no place of others.
 * @param isWanted whether one is final by the blocks of one upstream
 */
export function dueForSecond<One>(
  { memory, now, late, seconds }: Pick<Scan, 'memory' | 'now' | 'late' | 'seconds'>,
  { nameOf: name, placeOf }: Pick<Question<One, Showing>, 'nameOf' | 'placeOf'>,
  all: Iterable<One>,
  most: number,
  isWanted: (one: One) => boolean,
): { readonly due: readonly One[]; readonly isFull: boolean } {
  const come: One[] = [];
  const asked: One[] = [];
  for (const one of all) {
    if (!isWanted(one)) continue;
    const place = placeOf(one);
    const { hash } = place;
    const isLate = [seconds, late].some((beside) => beside?.reads.isKnown(hash) === true);
    if (seconds?.come.has(hash) === true) come.push(one);
    else if ((!isLate && asked.length === most) || !memory.isSecondDue(name(one), now)) continue;
    else if (isLate) seconds?.begin(place);
    else asked.push(one);
  }
  return { due: [...come, ...asked], isFull: asked.length === most };
}

/** What two upstreams say of what waits to be final. */
interface Twice<One, Shows> {
  readonly shown: readonly One[];
  readonly readings: readonly Shows[];
  readonly warnings: readonly string[];
  /** No second one responds. */
  readonly isAway: boolean;
  /** There was no room for some: the next step goes on at once. */
  readonly areLeft: boolean;
}

/**
 * Those that this upstream and another one each show alone: nothing is final by one. A step waits a moment for each
 * upstream. What is late is read beside the steps, of both, and then counts as if they had shown it in the step.
 */
export async function showTwice<One, Shows extends Showing>(
  { pool, node, memory, now, seconds }: Scan,
  { nameOf: name, placeOf, ask }: Question<One, Shows>,
  standing: readonly One[],
): Promise<Twice<One, Shows>> {
  const hashOf = (one: One): TransactionHash => placeOf(one).hash;
  const hasCome = (one: One): boolean => seconds?.come.has(hashOf(one)) === true;
  const asked = standing.filter((one) => !hasCome(one));
  const { told, late } =
    asked.length === 0
      ? { told: [], late: new Set<One>() }
      : await doubleCheckSoon<One, Shows>(pool, node, null, asked, {
          ask: (by, some) => ask({ node: by, isSoon: seconds !== undefined }, some),
          isLate: (showing, one) => showing.late.has(hashOf(one)),
          isLacking: ({ shown, left }, one) => !shown.has(name(one)) && !left.has(hashOf(one)),
        });
  const readings = new Map<One, readonly Shows[] | null>(asked.map((one) => [one, told]));
  for (const [hash, some] of Map.groupBy(standing.filter(hasCome), hashOf)) {
    const showings: Shows[] = [];
    const wholes = seconds?.come.get(hash) ?? null;
    for (const whole of wholes ?? []) showings.push(await ask({ node, isSoon: false, whole }, some));
    for (const one of some) readings.set(one, wholes && showings);
  }
  const warnings: string[] = [];
  let areLeft = false;
  const shown = standing.filter((one) => {
    const { hash } = placeOf(one);
    const of = readings.get(one) ?? null;
    if (of?.every((reading) => reading.shown.has(name(one))) === true) {
      memory.unshown.shown(name(one));
      return true;
    }
    if (late.has(one)) {
      memory.unshown.lacked(name(one), now);
      seconds?.begin(placeOf(one));
    } else if (of?.some(({ left }) => left.has(hash)) === true) areLeft = true;
    else {
      // Asked again later and later, so that those which no other shows do not delay the others.
      const pauseMs = memory.secondLacked(name(one), now, of === null);
      if (of !== null && pauseMs >= UNSHOWN_WARNED_MS)
        warnings.push(`${hash} is final at ${node.name}, and no second upstream shows it in its block`);
    }
    return false;
  });
  const all = new Set([...readings.values()].flatMap((of) => of ?? []));
  return { shown, readings: [...all], warnings, isAway: told === null, areLeft };
}

/** Reads beside the steps what two upstreams each show alone. */
export const secondReader = (pool: RpcPool, network: Network, now: () => Instant): SecondReader<Whole> =>
  new SecondReader(pool, now, {
    read: (node, hash, block) => readAlone(node, network, hash, block),
    isLacking: ({ transaction, logged }) => typeof transaction === 'string' || typeof logged === 'string',
    isUnread,
    unread: (by) => ({ by, transaction: NOT_IN_TIME, receipt: NOT_IN_TIME, logged: NOT_IN_TIME }),
  });

/** Its calls are asked for where the token was called by another contract than the one that the transaction calls. */
function readAlone(node: RpcNode, network: Network, hash: TransactionHash, block: bigint): Promise<Whole> {
  const pool = alone(node);
  return readWhole({ pool, node, network }, hash, block, (sent, { logs }) => {
    const transfers = logs.flatMap((log) => readTransfer(log) ?? []);
    const isDirect = transfers.every(({ log }) => log.address === sent.to) && !sendsAuthorization(sent.input);
    return isDirect ? null : explainTransfers(pool, { hash, sent, logs, network }, transfers);
  });
}

/** Nothing that this upstream lacks is had from others. */
export const alone = (node: RpcNode): Judging['pool'] => ({
  onAnother: () => Promise.resolve(null),
  async *attempts(work) {
    yield { kind: 'completed', value: await work(node) };
  },
});
