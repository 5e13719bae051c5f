import type { TransactionHash } from '@pf/domain';
import {
  boundedTo,
  isTooLong,
  refusable,
  type RpcNode,
  type RpcPool,
  RpcRefusedError,
  RpcUpstreamError,
  soon,
} from '@pf/rpc';
import { inTurn, partsOf } from '../../parts.ts';
import { getEpochInfo, getTransaction } from '../calls.ts';
import { type Reading, readTransaction } from './reading.ts';

/** What upstreams show of a transaction. */
export type Look =
  | { readonly kind: 'read'; readonly reading: Reading; readonly by: string }
  /** No upstream returns it; `refusal`: what one said instead. */
  | { readonly kind: 'missing'; readonly refusal: string | null }
  /** It cannot be judged. */
  | { readonly kind: 'strange'; readonly problem: string }
  /** There was no time for it: it is due as before. */
  | { readonly kind: 'left' }
  /** The upstream has not returned it in the time for which a step waits. It may have it all the same. */
  | { readonly kind: 'late' };
const LEFT: Look = { kind: 'left' };
export const LATE: Look = { kind: 'late' };

/** What can be judged of it; null where nothing can. */
export const readingOf = (look: Look | null | undefined): Reading | null =>
  look?.kind === 'read' ? look.reading : null;
/** No step asks for it again: it came too late, or not even with all the time that a request has. */
export const isUnreturned = (look: Look | null): boolean =>
  look?.kind === 'late' || (look?.kind === 'missing' && look.refusal !== null);

/** Of one response. A transaction has some KB, and a stranger's up to 1 MB: 63 calls of 10 KiB, as base58. */
const TOGETHER_MAX_BYTES = 8 * 2 ** 20;
/** So many are not too much together, whoever has written them, for most nodes. */
const FEW = 5;
/**
 * For so long they are asked for in parts, in ms, of two upstreams together; and until so many cannot be had alone. The
 * rest is left.
 */
const PARTS_MS = 6_000;
const FAILED_MAX = 5;
/** Of those that do not come in time together, so many are asked for alone at a time: each may have 1 MB. */
const APART_MAX = 16;

/** What a look has left. */
interface Room {
  /** By performance.now(): then the rest is left. */
  readonly until: number;
  failed: number;
  /** How many calls more may be made for those that do not come in time together. Absent: all have all the time */
  apart?: number;
}

/**
 * What this upstream shows of each. Where they are too much together, or too slow, a few are asked for at a time, and
 * then each alone: what strangers have written, or a node cannot send, costs no others. The first one always has an
 * answer.
 * @param until by performance.now(): then the rest is left
 * @throws RpcUpstreamError where the upstream was not reached, or fails whatever it is asked
 */
export const lookAt = (
  node: RpcNode,
  hashes: readonly TransactionHash[],
  until = performance.now() + PARTS_MS,
): Promise<readonly Look[]> => lookWithin(node, hashes, { until, failed: 0 });

async function lookWithin(node: RpcNode, hashes: readonly TransactionHash[], room: Room): Promise<readonly Look[]> {
  if (hashes.length === 0) return [];
  const asked = (hash: TransactionHash) => boundedTo(TOGETHER_MAX_BYTES, refusable(getTransaction(hash)));
  let problem: string;
  try {
    const shown = await node.batch(hashes.map((hash) => (room.apart === undefined ? asked(hash) : soon(asked(hash)))));
    return await inTurn(hashes, (hash, place) => lookOf(node, hash, shown[place] ?? null));
  } catch (error) {
    if (!(error instanceof RpcUpstreamError) || error.delivered === 'no') throw error;
    if (room.apart !== undefined && (error.fault === 'timeout' || error.fault === 'http'))
      return lookApart(node, hashes, room, room.apart, error);
    if (error.fault === 'http' && hashes.length > 1) throw error;
    problem = error.message;
  }
  if (hashes.length === 1) {
    room.failed += 1;
    // No other time it would be shorter.
    return [isTooLong(problem) ? { kind: 'strange', problem } : { kind: 'missing', refusal: problem }];
  }
  const looks: Look[] = [];
  for (const part of partsOf(hashes, hashes.length > FEW ? FEW : 1)) {
    const isOver = performance.now() > room.until || room.failed === FAILED_MAX;
    looks.push(...(isOver && looks.length > 0 ? part.map(() => LEFT) : await lookWithin(node, part, room)));
  }
  return looks;
}

/**
 * Those that do not come in time together, or fail at the upstream's gateway, each alone: what a node never returns
 * costs the others two short waits.
 * @throws RpcUpstreamError where the gateway fails with each, and with what is asked of the chain, too
 */
async function lookApart(
  node: RpcNode,
  hashes: readonly TransactionHash[],
  room: Room,
  apart: number,
  failure: RpcUpstreamError,
): Promise<readonly Look[]> {
  if (hashes.length === 1) return [LATE];
  if (apart === 0) return hashes.map(() => LEFT);
  const first = hashes.slice(0, Math.min(APART_MAX, apart));
  room.apart = apart - first.length;
  const looks = await Promise.all(first.map((hash) => lookWithin(node, [hash], { ...room, apart: 0 })));
  // Throws where it fails whatever it is asked.
  if (failure.fault === 'http' && looks.flat().every(({ kind }) => kind === 'late'))
    await node.call(getEpochInfo('confirmed'));
  return [...looks.flat(), ...hashes.slice(first.length).map(() => LEFT)];
}

function lookOf(node: RpcNode, hash: TransactionHash, shown: unknown): Look {
  if (shown === null) return { kind: 'missing', refusal: null };
  if (shown instanceof RpcRefusedError) {
    const { code, message } = shown;
    return code === UNSUPPORTED_VERSION
      ? { kind: 'strange', problem: `${node.name} refuses it: ${message}` }
      : { kind: 'missing', refusal: message };
  }
  const read = readTransaction(hash, shown);
  return read.ok
    ? { kind: 'read', reading: read.value, by: node.name }
    : { kind: 'strange', problem: `of what ${node.name} shows ${read.problem}` };
}
/** The transaction has a version that is unknown here. No payment is made with it today. */
const UNSUPPORTED_VERSION = -32_015;

/**
 * The same; what this one cannot show, or shows so that it cannot be judged, is asked of another one, in what is left
 * of the same time.
 */
export async function lookTwice(
  pool: Pick<RpcPool, 'onAnother'>,
  node: RpcNode,
  hashes: readonly TransactionHash[],
): Promise<readonly Look[]> {
  const until = performance.now() + PARTS_MS;
  const looks = await lookAt(node, hashes, until);
  const open = hashes.filter((_hash, place) => looks[place]?.kind !== 'read');
  return withOthers(hashes, looks, open, await shownElsewhere(pool, node, open, (other) => lookAt(other, open, until)));
}

/**
 * What this upstream shows of each to a step, which waits a moment only: what does not come in time together is asked
 * for alone, and what does not come then is `late`.
 * @param most calls that the upstream's rate allows in a step
 */
export const lookBriefly = (
  node: RpcNode,
  hashes: readonly TransactionHash[],
  most: number,
  until = performance.now() + PARTS_MS,
): Promise<readonly Look[]> => lookWithin(node, hashes, { until, failed: 0, apart: Math.max(1, most - hashes.length) });

/** The same. Another upstream is asked for what is late only where nothing has come at all, once. */
export async function lookSoon(
  pool: Pick<RpcPool, 'onAnother'>,
  node: RpcNode,
  hashes: readonly TransactionHash[],
  most: number,
): Promise<readonly Look[]> {
  const until = performance.now() + PARTS_MS;
  const looks = await lookBriefly(node, hashes, most, until);
  const isLate = (_hash: TransactionHash, place: number): boolean =>
    looks[place]?.kind === 'late' || looks[place]?.kind === 'left';
  const isAllLate = hashes.every(isLate);
  const open = hashes.filter((hash, place) => looks[place]?.kind !== 'read' && (isAllLate || !isLate(hash, place)));
  const lookElsewhere = (other: RpcNode): Promise<readonly Look[]> =>
    isAllLate ? lookWithin(other, open, { until, failed: 0, apart: 0 }) : lookBriefly(other, open, most, until);
  return withOthers(hashes, looks, open, await shownElsewhere(pool, node, open, lookElsewhere));
}

const shownElsewhere = (
  pool: Pick<RpcPool, 'onAnother'>,
  node: RpcNode,
  open: readonly TransactionHash[],
  look: (other: RpcNode) => Promise<readonly Look[]>,
): Promise<readonly Look[] | null> => (open.length === 0 ? Promise.resolve(null) : pool.onAnother(node, look));

/** What one upstream shows of each and, of those that were asked of another one, what that shows. */
function withOthers(
  hashes: readonly TransactionHash[],
  looks: readonly Look[],
  open: readonly TransactionHash[],
  others: readonly Look[] | null,
): readonly Look[] {
  if (others === null) return looks;
  const found = new Map(open.map((hash, place) => [hash, others[place]]));
  return hashes.map((hash, place) => {
    const [first, second] = [looks[place] as Look, found.get(hash)];
    const isShown = second?.kind === 'read' || second?.kind === 'strange';
    return isShown ? second : first;
  });
}
