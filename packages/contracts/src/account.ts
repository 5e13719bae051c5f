import { randomInt } from 'node:crypto';
import { z } from 'zod';

/** The plans of an account (docs/reference/contract.md), lowest first. */
export const PLANS = ['free', 'growth', 'scale'] as const;
export const plan = z.enum(PLANS);
export type Plan = z.infer<typeof plan>;

/** Features that not every plan includes, each with the lowest plan that does: `plan.upgrade_required` names both. */
export const FEATURES = {
  /** Intents on live Tempo. */
  live_tempo: 'growth',
  /** Live intents with a `ttlSeconds` other than the default. */
  live_ttl_seconds: 'growth',
} as const satisfies Readonly<Record<string, Plan>>;
export type Feature = keyof typeof FEATURES;

export const planIncludes = (plan: Plan, feature: Feature): boolean =>
  PLANS.indexOf(plan) >= PLANS.indexOf(FEATURES[feature]);

/** What a key allows: every request, or only those that a payer's app needs. */
export const KEY_SCOPES = ['full', 'payer'] as const;
export const keyScope = z.enum(KEY_SCOPES);
export type KeyScope = z.infer<typeof keyScope>;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SECRET_LENGTH = 32;
const pattern = /^pk_(live|test)_[A-Za-z0-9]{32}$/;
const tokenPattern = /^pft_[A-Za-z0-9]{32}$/;

const newSecret = (): string =>
  Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

/** A new API key in plain text: `pk_live_` or `pk_test_` and 32 characters (190 bits). Shown once, never stored. */
export const newApiKey = (livemode: boolean): string => `pk_${livemode ? 'live' : 'test'}_${newSecret()}`;

/** Whether a text has the format of an API key. If not, it need not be looked up. */
export const isApiKey = (text: string): boolean => pattern.test(text);

/** The part of a key that may be shown later: its prefix and its last four characters. */
export const apiKeyHint = (key: string): string => `${key.slice(0, 8)}…${key.slice(-4)}`;

/** A new personal token in plain text: `pft_` and 32 characters (190 bits). Shown once, never stored. */
export const newPersonalToken = (): string => `pft_${newSecret()}`;

/** Whether a text has the format of a personal token. If not, it need not be looked up. */
export const isPersonalToken = (text: string): boolean => tokenPattern.test(text);

/** The part of a personal token that may be shown later. */
export const personalTokenHint = (token: string): string => `pft_…${token.slice(-4)}`;
