import type { Address, Reference } from '@pf/domain';
import { getAddress } from 'ethers/address';

/**
 * A payment's calldata: TIP-20 `transferWithMemo(address to, uint256 amount, bytes32 memo)`, the reference as its memo.
 */
const SELECTOR = '95777d59';
const SHAPE = new RegExp(`^0x${SELECTOR}0{24}([0-9a-f]{40})([0-9a-f]{64})([0-9a-f]{64})$`, 'i');

const word = (hex: string): string => hex.padStart(64, '0');

export interface PaymentCall {
  readonly to: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly reference: Reference;
}

export const encodePayment = ({ to, amount, reference }: PaymentCall): `0x${string}` =>
  `0x${SELECTOR}${word(to.slice(2).toLowerCase())}${word(amount.toString(16))}${reference.slice(2)}`;

/** Null for anything but exactly this one call: the chain would not treat it as a payment. */
export function decodePayment(calldata: string): PaymentCall | null {
  const [, to, amount, reference] = SHAPE.exec(calldata) ?? [];
  if (to === undefined || amount === undefined || reference === undefined) return null;
  return {
    to: getAddress(`0x${to.toLowerCase()}`) as Address,
    amount: BigInt(`0x${amount}`),
    reference: `0x${reference.toLowerCase()}` as Reference,
  };
}
