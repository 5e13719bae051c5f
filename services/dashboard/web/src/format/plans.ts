interface Plan {
  /** Of each API key, a minute. */
  readonly requests: number;
  /** What live mode has beyond the plans before, by the names of the API where it has any. */
  readonly features: Readonly<Record<string, string>>;
}

/** The plans, each with what those before it have. A test compares them with what the API enforces. */
export const PLANS: Readonly<Record<'free' | 'growth' | 'scale', Plan>> = {
  free: { requests: 6_000, features: { live: 'Payments on Base and Solana' } },
  growth: {
    requests: 12_000,
    features: { live_tempo: 'Payments on Tempo', live_ttl_seconds: 'Payments that expire when you choose' },
  },
  scale: { requests: 120_000, features: { live_requests: 'More requests' } },
};
