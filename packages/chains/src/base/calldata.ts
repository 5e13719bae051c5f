import type { Address, Reference } from '@pf/domain';
import { getAddress } from 'ethers/address';
import { isAttribution } from './attribution.ts';

/**
 * A payment's calldata: ERC-20 `transfer(to, amount)`, then the intent's reference as bytes32, then perhaps an ERC-8021
 * suffix. Token contracts read their arguments and ignore the rest, so the memo costs only its bytes.
 */
const SELECTOR = 'a9059cbb';
const WORD = 32;
const TO = 4;
const AMOUNT = TO + WORD;
const REFERENCE = AMOUNT + WORD;
const END = REFERENCE + WORD;

export const encodePayment = (to: Address, amount: bigint, reference: Reference): string =>
  `0x${SELECTOR}${to
    .slice(2)
    .toLowerCase()
    .padStart(2 * WORD, '0')}${amount.toString(16).padStart(2 * WORD, '0')}${reference.slice(2)}`;

/** A call of a token's `transfer`. */
interface TransferCall {
  readonly to: Address;
  /** Base units. */
  readonly amount: bigint;
  /** The word behind the arguments; null where there is none, or only an ERC-8021 suffix. */
  readonly reference: Reference | null;
}

export interface PaymentCall extends TransferCall {
  readonly reference: Reference;
  /** What follows the reference is nothing, or an ERC-8021 suffix. */
  readonly clean: boolean;
}

/** Reads calldata by position. Null where it is no `transfer`. */
export function decodeTransfer(bytes: Buffer): TransferCall | null {
  if (bytes.length < REFERENCE || bytes.toString('hex', 0, TO) !== SELECTOR) return null;
  // The 12 bytes before an address are zero: with anything else there the token contract reverts.
  if (bytes.subarray(TO, TO + 12).some((byte) => byte !== 0)) return null;
  return {
    to: getAddress(`0x${bytes.toString('hex', TO + 12, AMOUNT)}`) as Address,
    amount: BigInt(`0x${bytes.toString('hex', AMOUNT, REFERENCE)}`),
    reference:
      bytes.length < END || isAttribution(bytes.subarray(REFERENCE))
        ? null
        : (`0x${bytes.toString('hex', REFERENCE, END)}` as Reference),
  };
}

/**
 * Reads calldata by position: the reference is the word behind the arguments, so a transfer has exactly one, whatever
 * follows. Null where it is no `transfer`, or carries no reference.
 */
export function decodePayment(calldata: string): PaymentCall | null {
  const bytes = Buffer.from(calldata.slice(2), 'hex');
  const transfer = decodeTransfer(bytes);
  if (transfer === null || transfer.reference === null) return null;
  const rest = bytes.subarray(END);
  return { ...transfer, reference: transfer.reference, clean: rest.length === 0 || isAttribution(rest) };
}

/**
 * The references behind everything in a transaction's calldata that looks like this transfer, wherever it is. They
 * prove nothing, because anyone can write these bytes anywhere: they tell whether a closer look is worth it.
 */
export function* referencesBehind(calldata: Buffer, to: Address, amount: bigint): Generator<Reference> {
  const call = Buffer.from(encodePayment(to, amount, '0x' as Reference).slice(2), 'hex');
  for (let at = calldata.indexOf(call); at !== -1; at = calldata.indexOf(call, at + 1)) {
    const end = at + call.length + WORD;
    if (end <= calldata.length) yield `0x${calldata.toString('hex', at + call.length, end)}` as Reference;
  }
}
