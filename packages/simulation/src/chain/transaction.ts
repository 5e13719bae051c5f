import { decodePayment } from '@pf/chains/base';
import type { Address, Reference, TokenAddress, TransactionHash } from '@pf/domain';
import { getAddress } from 'ethers/address';
import { Transaction } from 'ethers/transaction';

/**
 * A transaction of a simulated chain: real EIP-1559 bytes, but its signature is the sender's address, because
 * signatures are what makes real ones slow. Everything else of the production code reads it unchanged.
 */
export interface SimulatedTransaction {
  readonly hash: TransactionHash;
  /** 0x hex, as a wallet submits it. */
  readonly raw: string;
  readonly sender: Address;
  readonly nonce: number;
  /** Wei per gas: what a replacement has to exceed. */
  readonly maxFee: bigint;
  /** Null for one that pays no token, such as a cancellation. */
  readonly payment: Payment | null;
  readonly decoded: Transaction;
}

export interface Payment {
  readonly token: TokenAddress;
  readonly to: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly reference: Reference;
}

const S = `0x${'1'.padStart(64, '0')}`;

/** Signs the unsigned bytes that the service built, or a transaction made by hand. */
export function sign(unsigned: Transaction, sender: Address): SimulatedTransaction {
  const signed = unsigned.clone();
  signed.signature = { r: `0x${sender.slice(2).toLowerCase().padStart(64, '0')}`, s: S, v: 27 };
  return read(signed.serialized);
}

/** The sender, in place of one recovered from a signature. */
export function signerOf({ signature }: Transaction): Address | null {
  return signature === null ? null : (getAddress(`0x${signature.r.slice(26)}`) as Address);
}

/** @throws Error where the bytes are no signed transaction */
export function read(raw: string): SimulatedTransaction {
  const decoded = Transaction.from(raw);
  const sender = signerOf(decoded);
  if (sender === null) throw new Error('failed to decode signed transaction');
  const call = decodePayment(decoded.data);
  return {
    hash: String(decoded.hash) as TransactionHash,
    raw,
    sender,
    nonce: decoded.nonce,
    maxFee: decoded.maxFeePerGas ?? 0n,
    payment:
      call === null || decoded.to === null
        ? null
        : {
            token: decoded.to as TokenAddress,
            to: call.to,
            amount: call.amount,
            reference: call.reference,
          },
    decoded,
  };
}
