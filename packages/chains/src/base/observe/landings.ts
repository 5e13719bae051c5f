import type { Address, IntentId, Reference, TokenAddress } from '@pf/domain';
import { getAddress } from 'ethers';
import type { Log } from '../../evm/calls.ts';
import type { Seen } from './position.ts';

/** `Transfer(address indexed from, address indexed to, uint256 value)` of ERC-20. */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** A transfer as logged. */
export interface LoggedTransfer {
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
  readonly log: Log;
}

const addressIn = (topic: string): Address => getAddress(`0x${topic.slice(26)}`) as Address;

/** Null where the log is not an ERC-20 transfer. */
export function readTransfer(log: Log): LoggedTransfer | null {
  const [event, from, to, more] = log.topics;
  if (
    event !== TRANSFER ||
    from === undefined ||
    to === undefined ||
    more !== undefined ||
    log.data.length !== 66 ||
    log.removed
  )
    return null;
  return { from: addressIn(from), to: addressIn(to), amount: BigInt(log.data), log };
}

/** The landing of a transfer with this reference, as the chain recorded it. */
export function landed(
  intentId: IntentId,
  { from, to, amount, log }: LoggedTransfer,
  reference: Reference,
  seenAt: number,
): Seen {
  const { address, blockNumber, blockHash, logIndex, transactionHash } = log;
  const tokenAddress = address as string as TokenAddress;
  const transfer = {
    tokenAddress,
    from,
    to,
    amount,
    reference,
    block: blockNumber,
    blockHash,
    index: logIndex.toString(),
  };
  return { kind: 'landed', intentId, hash: transactionHash, transfer, seenAt, reported: false };
}
