/** What decides whether a transaction can still get into a block, all read from one upstream at one time. */
export interface AccountNow {
  /** Transactions of the account in blocks: the next nonce to be used. */
  readonly latestCount: bigint;
  /** The same with those that wait in the node's pool. */
  readonly pendingCount: bigint;
  /** Wei per gas in the newest block. */
  readonly baseFee: bigint;
}

/**
 * Why a transaction with this nonce and fee cannot land now, or might wait for ever; null when it can. A claim on an
 * intent must be able to end: a nonce beyond the pending ones waits for a transaction that nobody may ever sign.
 * @param maxFee wei per gas that it pays at most.
 */
export function whyNotLandable(nonce: bigint, maxFee: bigint, now: AccountNow): string | null {
  if (nonce < now.latestCount) return `nonce ${nonce} is used already: the account's next one is ${now.latestCount}`;
  if (nonce > now.pendingCount) return `nonce ${nonce} leaves a gap: the account's next one is ${now.pendingCount}`;
  if (maxFee < now.baseFee) return `it pays at most ${maxFee} wei per gas, and the base fee is ${now.baseFee}`;
  return null;
}
