const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const MAX_ATTEMPTS = 10;
/** The longest pause between two attempts, also by Retry-After. */
export const LONGEST_DELAY_MS = 24 * HOUR_MS;
/** No attempt is made later than this after the first. */
export const WINDOW_MS = 72 * HOUR_MS;
const JITTER = 0.2;

/** A failed attempt. Times are milliseconds since 1970. */
export interface FailedAttempt {
  /** Counted from 1. */
  readonly number: number;
  readonly firstAttemptAt: number;
  readonly at: number;
  /** The receiver's Retry-After; null if it sent none. */
  readonly retryAfterMs: number | null;
}

/**
 * When to attempt again (docs/reference/contract.md, "Webhooks"): one minute after the first failure, three times as
 * long after each further one, ±20 %, at most 24 h; later if Retry-After says so; never later than 72 h after the first
 * attempt.
 *
 * @param random in [0, 1)
 * @returns milliseconds since 1970; null if that was the last attempt
 */
export function nextAttemptAt(
  { number, firstAttemptAt, at, retryAfterMs }: FailedAttempt,
  random: number,
): number | null {
  const end = firstAttemptAt + WINDOW_MS;
  if (number >= MAX_ATTEMPTS || at >= end) return null;
  const delay = MINUTE_MS * 3 ** (number - 1) * (1 - JITTER + 2 * JITTER * random);
  return Math.round(Math.min(at + Math.min(Math.max(delay, retryAfterMs ?? 0), LONGEST_DELAY_MS), end));
}

/**
 * Retry-After as milliseconds from `now`: seconds or an HTTP date (RFC 9110, section 10.2.3). Null if it is neither.
 */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  // All forms of an HTTP date begin with the day's name; Date.parse alone would read "-5" as a year.
  const date = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
