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

/** The arguments of a transfer as the calldata has them: hex, in lower case. */
export const argumentsOf = (to: Address, amount: bigint): string =>
  [to.slice(2).toLowerCase(), amount.toString(16)].map((word) => word.padStart(2 * WORD, '0')).join('');

export const encodePayment = (to: Address, amount: bigint, reference: Reference): string =>
  `0x${SELECTOR}${argumentsOf(to, amount)}${reference.slice(2)}`;

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

/** A call of a token's `transferFrom`. */
interface Pull extends Pick<TransferCall, 'to' | 'amount'> {
  readonly from: Address;
}

/** Null where it is no `transferFrom`. What would make the token revert is read all the same. */
export function decodePull(bytes: Buffer): Pull | null {
  if (bytes.length < END || bytes.toString('hex', 0, TO) !== '23b872dd') return null;
  const addressBefore = (end: number): Address => getAddress(`0x${bytes.toString('hex', end - 20, end)}`) as Address;
  return {
    from: addressBefore(AMOUNT),
    to: addressBefore(REFERENCE),
    amount: BigInt(`0x${bytes.toString('hex', REFERENCE, END)}`),
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

const SELECTOR_BYTES = Buffer.from(SELECTOR, 'hex');
/** Calldata beyond this is not read. A node takes no longer transaction. */
export const INPUT_MAX_BYTES = 256 * 1024;

/**
 * The references behind everything in a transaction's calldata that looks like one of these transfers, wherever it is,
 * in one pass. They prove nothing, because anyone can write these bytes anywhere: they tell whether a closer look is
 * worth it.
 * @param transfers their arguments (`argumentsOf`), by which the references are found in the result
 */
export function referencesBehind(
  all: Buffer,
  transfers: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlySet<Reference>> {
  const found = new Map<string, Set<Reference>>();
  // As many as there are: of fewer, what a stranger writes first would hide the others.
  const calldata = all.subarray(0, INPUT_MAX_BYTES);
  for (let at = calldata.indexOf(SELECTOR_BYTES); at !== -1; at = calldata.indexOf(SELECTOR_BYTES, at + 1)) {
    if (at + END > calldata.length) break;
    const transfer = calldata.toString('hex', at + TO, at + REFERENCE);
    if (!transfers.has(transfer)) continue;
    const references = found.get(transfer) ?? new Set();
    found.set(transfer, references.add(`0x${calldata.toString('hex', at + REFERENCE, at + END)}` as Reference));
  }
  return found;
}
