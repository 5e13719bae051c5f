import { decodeTransfer, encodePayment } from '@pf/chains/base';
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
  /** The calls of tokens that it makes, in order: none for one that pays no token, such as a cancellation. */
  readonly payments: readonly Payment[];
  readonly decoded: Transaction;
}

/** A call of a token's `transfer`. */
export interface Payment {
  readonly token: TokenAddress;
  /** The account that calls the token, and pays. */
  readonly from: Address;
  readonly to: Address;
  /** Base units. */
  readonly amount: bigint;
  /** Null where the call names no intent. */
  readonly reference: Reference | null;
}

/**
 * A contract through which accounts pay. Which accounts follow it is not simulated: all do, so that money can go round.
 */
export const CONTRACT = getAddress('0x000000000000000000000000000000000000c0de') as Address;
/** What its calldata begins with. Each call of a token follows: the token, the account, a length and the bytes. */
const CONTRACT_CALL = 'ca115000';
/** The same where the contract alone knows the calls: the calldata has none of their bytes. */
const HIDDEN_CALL = 'ca115001';
const ADDRESS_BYTES = 20;
const LENGTH_BYTES = 2;

/** A payment as a call of its token. */
export const callOf = ({ to, amount, reference }: Omit<Payment, 'token' | 'from'>): string =>
  encodePayment(to, amount, reference ?? ('0x' as Reference));

const masked = (hex: string): string => Buffer.from(Buffer.from(hex, 'hex').map((byte) => ~byte)).toString('hex');

/**
 * @param noise bytes at the end, which the contract does not read
 * @param isHidden the calldata does not show the calls
 */
export function encodeCalls(payments: readonly Payment[], noise = '0x', isHidden = false): string {
  const calls = payments.map((payment) => {
    const call = callOf(payment).slice(2);
    const length = (call.length / 2).toString(16).padStart(2 * LENGTH_BYTES, '0');
    return `${payment.token.slice(2)}${payment.from.slice(2)}${length}${call}`.toLowerCase();
  });
  const rest = `${calls.length.toString(16).padStart(4, '0')}${calls.join('')}`;
  return `0x${isHidden ? `${HIDDEN_CALL}${masked(rest)}` : `${CONTRACT_CALL}${rest}`}${noise.slice(2)}`;
}

function decodeCalls(calldata: string): readonly Payment[] {
  const bytes = Buffer.from(calldata.slice(2), 'hex');
  let at = CONTRACT_CALL.length / 2;
  const called = calldata.slice(2, 2 + CONTRACT_CALL.length);
  const take = (length: number): string => {
    const taken = bytes.toString('hex', at, (at += length));
    return called === HIDDEN_CALL ? masked(taken) : taken;
  };
  if (called !== CONTRACT_CALL && called !== HIDDEN_CALL) return [];
  return Array.from({ length: Number(`0x${take(LENGTH_BYTES)}`) }, () => {
    const token = getAddress(`0x${take(ADDRESS_BYTES)}`) as TokenAddress;
    const from = getAddress(`0x${take(ADDRESS_BYTES)}`) as Address;
    const call = decodeTransfer(Buffer.from(take(Number(`0x${take(LENGTH_BYTES)}`)), 'hex'));
    if (call === null) throw new Error('the contract calls tokens to transfer only');
    return { ...call, token, from };
  });
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
  return {
    hash: String(decoded.hash) as TransactionHash,
    raw,
    sender,
    nonce: decoded.nonce,
    maxFee: decoded.maxFeePerGas ?? 0n,
    payments: paymentsOf(decoded, sender),
    decoded,
  };
}

function paymentsOf({ to, data }: Transaction, from: Address): readonly Payment[] {
  if (to === CONTRACT) return decodeCalls(data);
  const call = decodeTransfer(Buffer.from(data.slice(2), 'hex'));
  return call === null || to === null ? [] : [{ ...call, token: to as TokenAddress, from }];
}
