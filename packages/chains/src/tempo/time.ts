import type { Instant } from '@pf/domain';
import type { Block } from '../evm/calls.ts';
import { isWorthSigning } from '../reusable.ts';

/**
 * How long a transaction that we build can land, in seconds: time for a person to sign. The chain allows at most 300
 * for an expiring nonce, counted from the time of the block it lands in (TIP-1093); a minute of that is for clock
 * differences.
 */
const LIFETIME = 240n;
/** The longest that a wallet may choose, in seconds: a claim on an intent must end. */
const LIFETIME_MAX = 360n;

const seconds = (ms: number): bigint => BigInt(Math.floor(ms / 1000));

/** The chain's time in seconds: its newest block's, or ours where that is older. A local chain's clock may be ahead. */
const chainTime = (newest: Block, now: Instant): bigint =>
  newest.timestamp > seconds(now) ? newest.timestamp : seconds(now);

/**
 * The validBefore of a transaction that must not outlive its intent, in seconds of the chain's clock.
 * @param expiresAt by our clock, in ms
 * @returns null where no time is left
 */
export function validBefore(newest: Block, now: Instant, expiresAt: Instant): bigint | null {
  const present = chainTime(newest, now);
  const expiry = seconds(expiresAt) + (present - seconds(now));
  if (expiry <= present) return null;
  return expiry < present + LIFETIME ? expiry : present + LIFETIME;
}

/** True while one that can land up to this time has most of the life that a new one would have. */
export function isFresh(until: bigint, newest: Block, now: Instant, expiresAt: Instant): boolean {
  const present = chainTime(newest, now);
  return isWorthSigning(until - present, (validBefore(newest, now, expiresAt) ?? present) - present);
}

/** True for a transaction that could land for longer than any wallet needs. */
export const isTooLong = (until: bigint, newest: Block, now: Instant): boolean =>
  until > chainTime(newest, now) + LIFETIME_MAX;
