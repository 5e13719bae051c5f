import type { Plan } from './account.ts';

/** A token bucket as data: `requests` at once, filled again evenly within `windowSeconds`. */
export interface Quota {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** What each API key of an account may ask for, by the account's plan (decisions.md, accounts and plans). */
export const KEY_QUOTAS: Readonly<Record<Plan, Quota>> = {
  free: { requests: 6_000, windowSeconds: 60 },
  growth: { requests: 12_000, windowSeconds: 60 },
  scale: { requests: 120_000, windowSeconds: 60 },
};

/** What one address may ask for with a `payer` key, whatever the plan: such a key is in the hands of many. */
export const PAYER_ADDRESS_QUOTA: Quota = { requests: 600, windowSeconds: 60 };
