import type { TransactionHash } from '@pf/domain';
import {
  boundedTo,
  isTooLong,
  refusable,
  type RpcNode,
  type RpcPool,
  RpcRefusedError,
  RpcUpstreamError,
} from '@pf/rpc';
import { inTurn, partsOf } from '../../parts.ts';
import { getTransaction } from '../calls.ts';
import { type Reading, readTransaction } from './reading.ts';

/** What upstreams show of a transaction. */
export type Look =
  | { readonly kind: 'read'; readonly reading: Reading; readonly by: string }
  /** No upstream returns it; `refusal`: what one said instead. */
  | { readonly kind: 'missing'; readonly refusal: string | null }
  /** It cannot be judged. */
  | { readonly kind: 'strange'; readonly problem: string }
  /** There was no time for it: it is due as before. */
  | { readonly kind: 'left' };
const LEFT: Look = { kind: 'left' };

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

async function lookWithin(
  node: RpcNode,
  hashes: readonly TransactionHash[],
  room: { readonly until: number; failed: number },
): Promise<readonly Look[]> {
  if (hashes.length === 0) return [];
  let problem: string;
  try {
    const shown = await node.batch(
      hashes.map((hash) => boundedTo(TOGETHER_MAX_BYTES, refusable(getTransaction(hash)))),
    );
    return await inTurn(hashes, (hash, place) => lookOf(node, hash, shown[place] ?? null));
  } catch (error) {
    if (!(error instanceof RpcUpstreamError) || error.delivered === 'no' || error.fault === 'http') throw error;
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
  const others = open.length === 0 ? null : await pool.onAnother(node, (other) => lookAt(other, open, until));
  if (others === null) return looks;
  const found = new Map(open.map((hash, place) => [hash, others[place]]));
  return hashes.map((hash, place) => {
    const [first, second] = [looks[place] as Look, found.get(hash)];
    const isShown = second?.kind === 'read' || second?.kind === 'strange';
    return isShown ? second : first;
  });
}
