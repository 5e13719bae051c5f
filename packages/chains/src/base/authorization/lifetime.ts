import type { Instant } from '@pf/domain';
import { least } from '../../bigints.ts';

/** Long enough for a person to decide and a relayer to send; while it lives, it keeps other payers out. */
export const LIFETIME_S = 600n;
/** Nodes do not have the same newest block, and the one that is asked later may be behind. */
const LAG_S = 60n;

const secondsOf = (at: Instant): bigint => BigInt(Math.floor(at / 1000));

/**
 * Until when an authorization that is built now can move money: seconds since 1970, by the clock of the chain. Never
 * after the end of its intent.
 * @param now the time of the newest block
 */
export const validBefore = (now: bigint, expiresAt: Instant): bigint => least(now + LIFETIME_S, secondsOf(expiresAt));

/** The latest `validBefore` of an authorization for which an intent is claimed now. */
export const latestValidBefore = (now: bigint, expiresAt: Instant): bigint => validBefore(now + LAG_S, expiresAt);
