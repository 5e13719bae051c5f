import { createHash } from 'node:crypto';

/**
 * The hash chain of a log partition, over the bytes of its events in the order of the log. It does not depend on how
 * the events are spread over files or at which offsets they lie, and changes with every byte, event and order.
 */
export type ChainHash = string;

/** Before the first event. */
export const GENESIS: ChainHash = '0'.repeat(64);

const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** SHA-256 in hex. */
export const digestOf = (content: Uint8Array): string => sha256(content).toString('hex');

/** The hash after these events: of the hash before each, and the SHA-256 of its bytes. */
export const link = (before: ChainHash, events: Iterable<string | null>): ChainHash => {
  let hash: Buffer = Buffer.from(before, 'hex');
  for (const event of events) hash = sha256(hash, sha256(event ?? ''));
  return hash.toString('hex');
};
