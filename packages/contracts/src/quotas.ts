import type { Plan } from './account.ts';

/** A token bucket of `requests`, refilled evenly within `windowSeconds`. */
export interface Quota {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** The quota of each API key, by the plan of its account (docs/reference/contract.md). */
export const KEY_QUOTAS: Readonly<Record<Plan, Quota>> = {
  free: { requests: 6_000, windowSeconds: 60 },
  growth: { requests: 12_000, windowSeconds: 60 },
  scale: { requests: 120_000, windowSeconds: 60 },
};

/** The quota of one client address with a `payer` key, on every plan: many payers share such a key. */
export const PAYER_ADDRESS_QUOTA: Quota = { requests: 600, windowSeconds: 60 };
