import { randomInt } from 'node:crypto';
import { z } from 'zod';

/** What an account has bought (decisions.md, accounts and plans), from the least to the most. */
export const PLANS = ['free', 'growth', 'scale'] as const;
export const plan = z.enum(PLANS);
export type Plan = z.infer<typeof plan>;

/** What not every plan includes, by the first plan that does: 402 `plan.upgrade_required` names both. Each plan has what those before it have. */
export const FEATURES = {
  /** Intents on live Tempo. */
  live_tempo: 'growth',
  /** Live intents with another `ttlSeconds` than the default. */
  live_ttl_seconds: 'growth',
} as const satisfies Readonly<Record<string, Plan>>;
export type Feature = keyof typeof FEATURES;

export const planIncludes = (has: Plan, feature: Feature): boolean =>
  PLANS.indexOf(has) >= PLANS.indexOf(FEATURES[feature]);

/** What a key may do: everything, or only what an app in a payer's hands needs. */
export const KEY_SCOPES = ['full', 'payer'] as const;
export const keyScope = z.enum(KEY_SCOPES);
export type KeyScope = z.infer<typeof keyScope>;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SECRET_LENGTH = 32;
const pattern = /^pk_(live|test)_[A-Za-z0-9]{32}$/;

/** A new API key in plain text: `pk_live_` or `pk_test_` and 32 characters, 190 bits. Shown once, never stored. */
export function newApiKey(livemode: boolean): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `pk_${livemode ? 'live' : 'test'}_${secret}`;
}

/** False for text that can be no key: it need not be looked up. */
export const isApiKey = (text: string): boolean => pattern.test(text);

/** What may be shown of a key afterwards: its prefix and its last four characters. */
export const apiKeyHint = (key: string): string => `${key.slice(0, 8)}…${key.slice(-4)}`;
