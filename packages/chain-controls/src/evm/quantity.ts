import { z } from 'zod';

/** Ethereum's JSON: a number in hex. */
export const quantity = z
  .string()
  .regex(/^0x[0-9a-f]+$/i)
  .transform(BigInt);
export const toQuantity = (value: bigint | number): string => `0x${value.toString(16)}`;
/** 32 bytes, as storage has them. */
export const toWord = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;
