import {
  type Address,
  credibleFee,
  type NetworkFee,
  type Reference,
  type TokenAddress,
  type Transfer,
} from '@pf/domain';
import { AbiCoder } from 'ethers/abi';
import { getAddress } from 'ethers/address';
import { id } from 'ethers/hash';
import * as ReceivePolicyReceipt from 'ox/tempo/ReceivePolicyReceipt';
import type { Log, Receipt } from '../../evm/calls.ts';
import type { Network } from '../../port.ts';
import { isToken, isVirtual } from '../address.ts';
import { FEE_MANAGER } from '../calls.ts';

const TRANSFER = id('Transfer(address,address,uint256)');
/** Logged right after the Transfer of a transfer with a memo. */
export const TRANSFER_WITH_MEMO = id('TransferWithMemo(address,address,uint256,bytes32)');
/** A receive policy blocked a payment (TIP-1028): the transaction succeeds, and the guard holds the money. */
export const TRANSFER_BLOCKED = id('TransferBlocked(address,address,uint64,uint256,uint8,bytes)');
export const GUARD = '0xB10C000000000000000000000000000000000000' as Address;

/** A payment with a reference, as the chain logged it. */
export type Landing = Transfer;

const addressIn = (topic: string | undefined): Address => getAddress(`0x${(topic ?? '').slice(26)}`) as Address;
const place = ({ blockNumber, blockHash, logIndex }: Log): Pick<Transfer, 'block' | 'blockHash' | 'index'> => ({
  block: blockNumber,
  blockHash,
  index: logIndex.toString(),
});

/** A transfer with a memo of one of our tokens; null for other logs. */
function withMemo(log: Log, tokens: ReadonlySet<string>): Landing | null {
  const [event, from, to, memo] = log.topics;
  if (
    event !== TRANSFER_WITH_MEMO ||
    memo === undefined ||
    log.data.length !== 66 ||
    log.removed ||
    !tokens.has(log.address)
  )
    return null;
  return {
    tokenAddress: log.address as string as TokenAddress,
    from: addressIn(from),
    to: addressIn(to),
    amount: BigInt(log.data),
    reference: memo as Reference,
    ...place(log),
  };
}

/** A payment with a memo of one of our tokens that the guard holds; null for other logs. */
function blocked(log: Log, tokens: ReadonlySet<string>): Landing | null {
  const [event, token, , nonce] = log.topics;
  if (event !== TRANSFER_BLOCKED || log.address !== GUARD || nonce === undefined || log.removed) return null;
  try {
    const [amount, , witness] = AbiCoder.defaultAbiCoder().decode(
      ['uint256', 'uint8', 'bytes'],
      log.data,
    ) as unknown as [bigint, bigint, `0x${string}`];
    const { originator, memo } = ReceivePolicyReceipt.decode(witness);
    const tokenAddress = addressIn(token);
    if (!tokens.has(tokenAddress)) return null;
    return {
      tokenAddress: tokenAddress as string as TokenAddress,
      from: getAddress(originator) as Address,
      to: GUARD,
      amount,
      reference: memo as Reference,
      ...place(log),
    };
  } catch {
    // An unknown layout: it does not tell which intent it was for.
    return null;
  }
}

/** The payment with a reference in a log; null for other logs. */
export function readLanding(log: Log, { tokens }: Network): Landing | null {
  const ours = new Set<string>(tokens.map(({ address }) => address));
  return withMemo(log, ours) ?? blocked(log, ours);
}

/** True when this transfer of the same token and amount is in the receipt. */
function isLogged({ logs }: Receipt, { tokenAddress, amount }: Landing, from: Address, to: Address | null): boolean {
  return logs.some(({ address, topics, data }) => {
    const [event, sender, recipient, more] = topics;
    return (
      event === TRANSFER &&
      more === undefined &&
      (address as string) === tokenAddress &&
      BigInt(data) === amount &&
      addressIn(sender) === from &&
      (to === null ? addressIn(recipient) !== GUARD : addressIn(recipient) === to)
    );
  });
}

/**
 * What the transaction has cost, and whom: the fee manager takes it last, in the fee token, by a transfer that the
 * token logs. Null where it took nothing.
 */
export function feeIn({ logs }: Receipt): NetworkFee | null {
  const last = logs.at(-1);
  const [event, from, to, more] = last?.topics ?? [];
  if (last === undefined || event !== TRANSFER || more !== undefined || last.data.length !== 66) return null;
  if (addressIn(to) !== FEE_MANAGER || !isToken(last.address)) return null;
  const tokenAddress = last.address as string as TokenAddress;
  return credibleFee({ payer: addressIn(from), amount: BigInt(last.data), tokenAddress });
}

/**
 * The payments with a reference in a successful transaction, each with where its money ended up. A memo without a
 * matching credit is left out: a virtual recipient must have forwarded the money, any other must have been credited.
 */
export function landingsIn(receipt: Receipt, network: Network): readonly Landing[] {
  if (receipt.status === 0n) return [];
  return receipt.logs.flatMap((log) => {
    const landing = readLanding(log, network);
    if (landing === null) return [];
    const { from, to } = landing;
    return isLogged(receipt, landing, from, to) && (!isVirtual(to) || isLogged(receipt, landing, to, null))
      ? [landing]
      : [];
  });
}
