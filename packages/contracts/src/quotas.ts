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

/**
 * How many times the quota of a key all keys of an account have in one mode, people in the dashboard included, and all
 * its keys of scope `payer`: new keys come with a full bucket, and an account has many.
 */
export const KEYS_AT_ONCE = 4;

/** The quota of one client address with `payer` keys of an account, on every plan: many payers share such a key. */
export const PAYER_ADDRESS_QUOTA: Quota = { requests: 600, windowSeconds: 60 };

/**
 * What of an address' requests with a `payer` key does not count in the quota of the key, at each gateway: however many
 * addresses use the key up, others can pay.
 */
export const PAYER_ADDRESS_SHARE: Quota = { requests: 60, windowSeconds: 60 };

/**
 * The quota of one intent with its client secret, of all its payers. PAYER_ADDRESS_QUOTA holds for each of their
 * addresses, whatever the number of intents, and PAYER_ADDRESS_SHARE does not count here.
 */
export const INTENT_QUOTA: Quota = { requests: 1_200, windowSeconds: 60 };

/** The quota of one payment link with its secret, of all its payers, beside those of their addresses. */
export const PAYMENT_LINK_QUOTA: Quota = { requests: 1_200, windowSeconds: 60 };

/**
 * What an account asks the chains for in one mode, by its plan: builds, submits and looks for hashes of all its
 * intents, with any of its keys, in the dashboard too. Each takes several calls of the upstreams that all accounts
 * share, and intents cost nothing. Its payers, with keys or client secrets, have together KEYS_AT_ONCE times as much.
 */
export const CHAIN_QUOTAS: Readonly<Record<Plan, Quota>> = {
  free: { requests: 100, windowSeconds: 10 },
  growth: { requests: 500, windowSeconds: 10 },
  scale: { requests: 5_000, windowSeconds: 10 },
};

/**
 * What of a payer's address does not count in what the account's payers ask the chains for, at each gateway: however
 * many addresses ask for much, others can pay.
 */
export const PAYER_CHAIN_SHARE: Quota = { requests: 20, windowSeconds: 600 };

/**
 * New payment intents and links of an account in one mode, by its plan, with any of its keys. Each costs nothing, and
 * an intent is watched for up to a month after its end, with its recipient. What payers begin with all its links has as
 * much again.
 */
export const CREATE_QUOTAS: Readonly<Record<Plan, Quota>> = {
  free: { requests: 10_000, windowSeconds: 86_400 },
  growth: { requests: 100_000, windowSeconds: 86_400 },
  scale: { requests: 1_000_000, windowSeconds: 86_400 },
};

/**
 * Changes of payment intents of an account in one mode, by its plan, with any of its keys: as of new ones. Each is an
 * event that is kept, with all metadata, so it counts once for each CHANGE_BYTES of it.
 */
export const CHANGE_QUOTAS = CREATE_QUOTAS;
/** Of metadata in JSON: most has less. */
export const CHANGE_BYTES = 4_096;

/**
 * New transactions for one intent: of one payer's address, of all requests, and what of the former does not count in
 * the latter, at each gateway. What is built already has a budget of its own.
 */
export const BUILD_QUOTAS = {
  address: { requests: 30, windowSeconds: 600 },
  intent: { requests: 300, windowSeconds: 600 },
  share: { requests: 5, windowSeconds: 600 },
} as const satisfies Readonly<Record<string, Quota>>;

/**
 * Builds that are asked for again, each of which asks the chain whether it can still land: as of new ones. A payer who
 * comes back to a page asks for one; a page that waits for a transaction to end asks every four seconds.
 */
export const REPEATED_BUILD_QUOTAS = {
  address: { requests: 150, windowSeconds: 600 },
  intent: { requests: 600, windowSeconds: 600 },
  share: { requests: 10, windowSeconds: 600 },
} as const satisfies Readonly<Record<string, Quota>>;

/**
 * Submits to one intent, of transactions, authorizations and credentials of MPP: as those of builds. What is submitted
 * is parsed and looked up only after that. A payer submits a handful.
 */
export const SUBMIT_QUOTAS = {
  address: { requests: 60, windowSeconds: 600 },
  intent: { requests: 600, windowSeconds: 600 },
  share: { requests: 10, windowSeconds: 600 },
} as const satisfies Readonly<Record<string, Quota>>;

/** Looks for hashes that wallets have sent for one intent, each of up to eight requests to the chain: as of builds. */
export const LOOK_QUOTAS = BUILD_QUOTAS;

/** Test events to the webhook endpoints of an account in one mode. */
export const ENDPOINT_TEST_QUOTA: Quota = { requests: 30, windowSeconds: 600 };

/** Deliveries that an account sends again by hand in one mode: each attempt is kept. A replay has its own pace. */
export const RETRY_QUOTA: Quota = { requests: 1_200, windowSeconds: 600 };

/**
 * Replays that an account begins in one mode, and endpoints that it enables with a replay: each reads or changes what
 * the account has of deliveries, and begins again when the receiver has had the endpoint disabled, or it is cancelled.
 */
export const REPLAY_QUOTA: Quota = { requests: 60, windowSeconds: 600 };

/**
 * New webhook endpoints of an account in one mode: the first requests to each are quick, also where one to the same
 * host has just failed and was removed.
 */
export const NEW_ENDPOINT_QUOTA: Quota = { requests: 60, windowSeconds: 600 };

/**
 * What may wait at one gateway: test events for their receivers, and looks for hashes until a node shows them. Of an
 * account in one mode, of test mode and in all; of an address, or a person in the dashboard, whatever the accounts, and
 * for one intent; a /48 has two addresses' places. Where all are taken, accounts and addresses that have none of the
 * reserve get one each. Of hashes only so few are read at a time, of an account, of test mode and of live mode, and
 * others wait in line: a receipt and a trace may be megabytes.
 */
export const WAIT_LIMITS = {
  tests: { caller: 4, account: 2, test: 8, all: 16, reserve: 8 },
  looks: { intent: 2, caller: 8, account: 16, test: 16, all: 64, reserve: 16 },
  reads: { account: 2, test: 4, live: 8 },
} as const;

/**
 * Requests that may read at one gateway at a time, until their clients have the whole response: of a key, a person or
 * an intent with its client secret, and of an address. Each holds a page in memory. Streams have limits of their own.
 */
export const READING_LIMITS = { holder: 64, address: 128 } as const;

/** The quota of one client address without a valid key, at each gateway: refused keys, preflights, unknown paths. */
export const STRANGER_QUOTA: Quota = { requests: 600, windowSeconds: 60 };

/**
 * Event streams that may be open at one gateway: of an account in a mode with its keys, people included, with what
 * payers have, and with both; of an address, of an intent with its client secret, of an address for such an intent, of
 * test mode together, and in all. Where these are taken there is a reserve of each mode beside them, for accounts and
 * addresses that have less than `each` open.
 */
export const STREAM_LIMITS = {
  keys: 2_000,
  payers: 2_000,
  account: { live: 3_000, test: 1_500 },
  address: 500,
  intent: 200,
  intentAddress: 10,
  test: 2_500,
  all: 5_000,
  reserve: { live: 500, test: 100, each: 5 },
} as const;
