import type { Reference } from '@pf/domain';
import type { Log } from '../../evm/calls.ts';
import { readTransfer } from '../observe/landings.ts';

/** `AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)` of EIP-3009. */
export const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';

/**
 * The transfers of a receipt that were made by an authorization, by the index of their logs, and its nonce. A token
 * marks the nonce and makes the transfer in one go: the very next log is that transfer, by the same token, of the same
 * wallet. So a transfer has one nonce at most, and no nonce has two transfers.
 */
export function authorizedIn(logs: readonly Log[]): ReadonlyMap<bigint, Reference> {
  const nonces = new Map<bigint, Reference>();
  for (const [place, { address, topics, logIndex }] of logs.entries()) {
    const [event, authorizer, nonce] = topics;
    const next = logs[place + 1];
    if (event !== AUTHORIZATION_USED || nonce === undefined || next === undefined) continue;
    const isItsOwn = next.address === address && next.topics[1] === authorizer && next.logIndex === logIndex + 1n;
    if (isItsOwn && readTransfer(next) !== null) nonces.set(next.logIndex, nonce as Reference);
  }
  return nonces;
}
