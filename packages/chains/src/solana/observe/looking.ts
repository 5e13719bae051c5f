import type { TransactionHash } from '@pf/domain';
import { refusable, type RpcNode, type RpcPool, RpcRefusedError } from '@pf/rpc';
import { getTransaction } from '../calls.ts';
import { type Reading, readTransaction } from './reading.ts';

/** What upstreams show of a transaction. */
export type Look =
  | { readonly kind: 'read'; readonly reading: Reading; readonly by: string }
  /** No upstream returns it; `refusal`: what one said instead. */
  | { readonly kind: 'missing'; readonly refusal: string | null }
  /** It cannot be judged. */
  | { readonly kind: 'strange'; readonly problem: string };

/** What this upstream shows of each. */
export async function lookAt(node: RpcNode, hashes: readonly TransactionHash[]): Promise<readonly Look[]> {
  if (hashes.length === 0) return [];
  const shown = await node.batch(hashes.map((hash) => refusable(getTransaction(hash))));
  return hashes.map((hash, place) => lookOf(node, hash, shown[place] ?? null));
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

/** The same; what this one cannot show, or shows so that it cannot be judged, is asked of another one. */
export async function lookTwice(
  pool: Pick<RpcPool, 'onAnother'>,
  node: RpcNode,
  hashes: readonly TransactionHash[],
): Promise<readonly Look[]> {
  const looks = await lookAt(node, hashes);
  const open = hashes.filter((_hash, place) => looks[place]?.kind !== 'read');
  const others = open.length === 0 ? null : await pool.onAnother(node, (other) => lookAt(other, open));
  if (others === null) return looks;
  const found = new Map(open.map((hash, place) => [hash, others[place]]));
  return hashes.map((hash, place) => {
    const [first, second] = [looks[place] as Look, found.get(hash)];
    return second === undefined || (second.kind === 'missing' && first.kind !== 'read') ? first : second;
  });
}
