/** Limits of the API (docs/reference/contract.md). */
export const BODY_LIMIT_BYTES = 64 * 1024;
export const METADATA_KEYS_MAX = 20;
export const METADATA_KEY_LENGTH_MAX = 40;
export const METADATA_VALUE_LENGTH_MAX = 500;
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
export const TTL_SECONDS = { min: 60, max: 604_800, default: 86_400 } as const;
/** Rows in a page of a list. */
export const PAGE_LIMIT = { max: 100, default: 20 } as const;
