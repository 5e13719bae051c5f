/**
 * Whether an unsigned transaction is handed out again: while it has two thirds of the life that a new one would have. A
 * person needs time to sign, and a wallet and the network need theirs.
 * @param left of its life, in blocks or seconds
 */
export const isWorthSigning = (left: bigint, ofNew: bigint): boolean => left > 0n && 3n * left >= 2n * ofNew;
