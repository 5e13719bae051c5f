import type { Address } from '@pf/domain';
import { getAddress } from 'ethers/address';

/**
 * Reads ABI-encoded arguments as views of the calldata, without copying. Libraries copy each value: calldata whose
 * thousands of offsets all name the same bytes would take gigabytes. Whatever is malformed is null; nothing throws.
 */
const WORD = 32;
/** The bytes of a word that hold a number a position can have: more than any calldata has, and exact in a double. */
const SIZE_BYTES = 6;

function word(data: Buffer, slot: number): Buffer | null {
  const at = slot * WORD;
  return data.length < at + WORD ? null : data.subarray(at, at + WORD);
}

/** An offset or a length. */
function sizeAt(data: Buffer, slot: number): number | null {
  const found = word(data, slot);
  const split = WORD - SIZE_BYTES;
  if (found === null || found.subarray(0, split).some((byte) => byte !== 0)) return null;
  return found.readUIntBE(split, SIZE_BYTES);
}

export function uintAt(data: Buffer, slot: number): bigint | null {
  const found = word(data, slot);
  return found === null ? null : BigInt(`0x${found.toString('hex')}`);
}

export function addressAt(data: Buffer, slot: number): Address | null {
  const found = word(data, slot);
  if (found === null || found.subarray(0, 12).some((byte) => byte !== 0)) return null;
  return getAddress(`0x${found.toString('hex', 12)}`) as Address;
}

/** What the offset in this slot names: from there to the end. */
export function tailAt(data: Buffer, slot: number): Buffer | null {
  const offset = sizeAt(data, slot);
  return offset === null || offset > data.length ? null : data.subarray(offset);
}

export function bytesAt(data: Buffer, slot: number): Buffer | null {
  const tail = tailAt(data, slot);
  const length = tail === null ? null : sizeAt(tail, 0);
  if (tail === null || length === null || tail.length < WORD + length) return null;
  return tail.subarray(WORD, WORD + length);
}

/** The elements of an array: offsets in `content` count from its start, as the ABI has them. */
export interface List {
  readonly content: Buffer;
  readonly length: number;
}

/** Null also for more than `most` elements. */
export function listAt(data: Buffer, slot: number, most: number): List | null {
  const tail = tailAt(data, slot);
  const length = tail === null ? null : sizeAt(tail, 0);
  return tail === null || length === null || length > most ? null : { content: tail.subarray(WORD), length };
}
