/** Decimals of what is added to an amount: people have to type it. */
const SURPLUS_DECIMALS = 6;
const ROUND_DECIMALS = 2;
/** So many surpluses there are for one amount: 0.000001 to 0.009999 of a unit. */
const SURPLUSES = 9_999n;
/** How long an amount stays reserved after its intent expires: who pays late pays no one else's intent. */
export const AMOUNT_RESERVED_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * How far the time of a block may be behind ours: whole seconds on all chains, and on Solana what validators vote for,
 * seconds late. So much before an amount was reserved a transfer of exactly it may seem to have landed.
 */
export const BLOCKS_BEHIND_MS = 60_000;

/** What may be added to an amount so that no other intent of the wallet has it, in base units of the token. */
export interface Surplus {
  /** The least, and the step between two. Never nothing: round amounts are what other payments have, too. */
  readonly step: bigint;
  readonly max: bigint;
  /** No multiple of this is reserved, a hundredth of a unit: people who mean something else pay such amounts. */
  readonly round: bigint;
}

/** @returns null for a token whose units cannot be divided that finely */
export const surplusOf = (decimals: number): Surplus | null => {
  if (decimals < SURPLUS_DECIMALS) return null;
  const step = 10n ** BigInt(decimals - SURPLUS_DECIMALS);
  return { step, max: SURPLUSES * step, round: 10n ** BigInt(decimals - ROUND_DECIMALS) };
};

/** How many amounts may be reserved for one that is asked for: one less where a round one is among them. */
export const reservableFor = (asked: bigint, { step, max, round }: Surplus): number => {
  const next = round - (asked % round);
  return Number(max / step) - (next <= max && next % step === 0n ? 1 : 0);
};

/** Whether an intent that is attributed by its amount may have been made from a request for this one. */
export const isAmountFor = (asked: bigint, reserved: bigint, decimals: number): boolean => {
  const surplus = surplusOf(decimals);
  return surplus !== null && reserved > asked && reserved <= asked + surplus.max;
};
