import type { RpcRefusedError } from '@pf/rpc';
import { randomBytes } from 'node:crypto';

/** The key of expiring nonces: the chain remembers the transaction's hash until it expires (TIP-1009). */
export const EXPIRING = 2n ** 256n - 1n;

/** anvil 1.7 accepts expiring nonces, but mines only the first of each sender. */
const WITHOUT_EXPIRING = /^anvil\//i;

/**
 * The nonce key of a new transaction, by the node's client: the expiring one, or a random one on a chain without
 * expiring nonces. 16 random bytes collide with no other key, nor with one that the chain reserves.
 */
export function newNonceKey(clientVersion: string | RpcRefusedError | null): bigint {
  const isLocal = typeof clientVersion === 'string' && WITHOUT_EXPIRING.test(clientVersion);
  return isLocal ? BigInt(`0x${randomBytes(16).toString('hex')}`) : EXPIRING;
}

/** What only one transaction of its sender can use, `key:nonce`; null for an expiring nonce. */
export const nonceName = (nonceKey: bigint, nonce: bigint): string | null =>
  nonceKey === EXPIRING ? null : `${nonceKey}:${nonce}`;
