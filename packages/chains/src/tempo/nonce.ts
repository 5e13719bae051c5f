import { RpcRefusedError } from '@pf/rpc';
import { randomBytes } from 'node:crypto';

/** The key of nonces that expire: the transaction's hash is remembered until its time is over (TIP-1009). */
export const EXPIRING = 2n ** 256n - 1n;

/** anvil 1.7 takes expiring nonces and mines only the first of each sender. */
const WITHOUT_EXPIRING = /^anvil\//i;

/**
 * The key of a new transaction's nonce 0, by what the node says it is: the expiring one, or a fresh one of the account's
 * own on a chain that cannot do that. Keys of 16 bytes meet by no accident, nor one of those that the chain keeps for itself.
 */
export function newNonceKey(clientVersion: string | RpcRefusedError): bigint {
  const isLocal = !(clientVersion instanceof RpcRefusedError) && WITHOUT_EXPIRING.test(clientVersion);
  return isLocal ? BigInt(`0x${randomBytes(16).toString('hex')}`) : EXPIRING;
}

/** What only one transaction of its sender can use up, `key:nonce`; null for an expiring nonce: there is no such thing. */
export const nonceName = (nonceKey: bigint, nonce: bigint): string | null =>
  nonceKey === EXPIRING ? null : `${nonceKey}:${nonce}`;
