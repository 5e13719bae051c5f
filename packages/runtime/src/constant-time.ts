import { timingSafeEqual } from 'node:crypto';

/** Whether two values, such as MACs and tokens, are equal, in a time that tells nothing of where they differ. */
export function equalInConstantTime(made: string | Uint8Array, given: string | Uint8Array): boolean {
  const [one, other] = [bytesOf(made), bytesOf(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const bytesOf = (value: string | Uint8Array): Uint8Array => (typeof value === 'string' ? Buffer.from(value) : value);
