/** Lamports that each signature costs. */
const SIGNATURE_LAMPORTS = 5_000n;
const MICRO = 1_000_000n;

/** µlamports per compute unit: the least we propose, and the most on a busy chain. */
const PRICE_MIN = 1_000n;
const PRICE_MAX = 2_000_000n;

/** The most that a payment's fee may be: 0.01 SOL in lamports. A higher fee is a mistake. */
export const FEE_MAX = 10_000_000n;

/**
 * The most that a payer may have a sponsor pay that we ask: twice what a build costs at most. Whoever signs chooses the
 * fee, and here it is not the payer's money.
 */
export const SPONSORED_FEE_MAX = 500_000n;

/**
 * Compute units that we request: several times what a payment takes, to leave room for the assertions that wallets add.
 * Token-2022 takes about twice as many as Token.
 */
export const UNITS = {
  token: { transfer: 30_000, withAccount: 60_000 },
  token2022: { transfer: 60_000, withAccount: 120_000 },
} as const;

/** The default limit per instruction of a transaction that sets none, and the maximum for all. */
const UNITS_PER_INSTRUCTION = 200_000n;
const UNITS_MAX = 1_400_000n;

/** The 75th percentile of recent prioritization fees, within our bounds. */
export function proposedPrice(recent: readonly { readonly prioritizationFee: bigint }[]): bigint {
  const sorted = recent.map(({ prioritizationFee }) => prioritizationFee).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const price = sorted[Math.floor(sorted.length * 0.75)] ?? 0n;
  return price < PRICE_MIN ? PRICE_MIN : price > PRICE_MAX ? PRICE_MAX : price;
}

/** Lamports for the priority: the part of the fee above the signatures'. */
const priorityFee = (unitLimit: bigint, unitPrice: bigint): bigint => (unitLimit * unitPrice + MICRO - 1n) / MICRO;

/**
 * Lamports that a transaction costs, whether it succeeds or not.
 * @param unitLimit null where it sets none: then it is charged for what it might use
 */
export function feeOf(unitLimit: bigint | null, unitPrice: bigint, instructions: number, signatures = 1): bigint {
  const byDefault = UNITS_PER_INSTRUCTION * BigInt(instructions);
  const limit = unitLimit ?? byDefault;
  return SIGNATURE_LAMPORTS * BigInt(signatures) + priorityFee(limit > UNITS_MAX ? UNITS_MAX : limit, unitPrice);
}
