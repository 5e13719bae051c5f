import type { Address, IntentId, Reference, TokenAddress, Transfer } from '@pf/domain';
import type { Log } from '../../evm/calls.ts';
import { checksummed } from '../../evm/checksummed.ts';
import type { Party } from '../../set-aside.ts';
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

export const partyOf = ({ from, to, amount }: LoggedTransfer): Party => ({ recipient: to, payer: from, amount });

const addressIn = (topic: string): Address => checksummed(`0x${topic.slice(26)}`);

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

/**
 * A transfer as the chain recorded it, with the reference that it carries.
 * @param worth what its recipient has gained by it (paid.ts). Default: all of it
 */
export function recorded(
  { from, to, amount, log }: LoggedTransfer,
  reference: Reference,
  worth: bigint = amount,
): Transfer {
  const { address, blockNumber, blockHash, logIndex } = log;
  return {
    tokenAddress: address as string as TokenAddress,
    from,
    to,
    amount: worth,
    reference,
    block: blockNumber,
    blockHash,
    index: logIndex.toString(),
  };
}

/** What a transfer pays to an intent. */
interface Payment {
  /** What it carries; NO_REFERENCE where none is proven. */
  readonly reference: Reference;
  readonly worth: bigint;
}

/** The landing of a transfer as a payment of this intent. */
export function landed(
  intentId: IntentId,
  logged: LoggedTransfer,
  { reference, worth }: Payment,
  seenAt: number,
): Seen {
  const hash = logged.log.transactionHash;
  return {
    kind: 'landed',
    intentId,
    hash,
    transfer: { ...recorded(logged, reference, worth) },
    seenAt,
    reported: false,
  };
}
