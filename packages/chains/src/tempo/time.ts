import type { Instant } from '@pf/domain';
import type { Block } from '../evm/calls.ts';

/**
 * How long a transaction of ours can land, in seconds. The chain allows 300 at most for an expiring nonce, counted from the
 * time of the block it lands in (TIP-1093); a minute of that is for clocks that differ. A person signs in between.
 */
const LIFETIME = 240n;
/** The longest that a wallet may choose, in seconds: a claim on an intent must end. */
const LIFETIME_MAX = 360n;

const seconds = (ms: number): bigint => BigInt(Math.floor(ms / 1000));

/** The chain's time now, in seconds: its newest block's, or ours where that one is old. A local chain's clock may be ahead. */
export const chainTime = (newest: Block, now: Instant): bigint =>
  newest.timestamp > seconds(now) ? newest.timestamp : seconds(now);

/**
 * Until when a transaction may land that must not outlive the intent: seconds of the chain's clock.
 * @param expiresAt by our clock, in ms
 * @returns null where no time is left
 */
export function validBefore(newest: Block, now: Instant, expiresAt: Instant): bigint | null {
  const present = chainTime(newest, now);
  const expiry = seconds(expiresAt) + (present - seconds(now));
  if (expiry <= present) return null;
  return expiry < present + LIFETIME ? expiry : present + LIFETIME;
}

/** True for what could land for longer than any wallet needs. */
export const isTooLong = (until: bigint, newest: Block, now: Instant): boolean =>
  until > chainTime(newest, now) + LIFETIME_MAX;
