import { z } from 'zod';
import { isStorable, isWithin } from '../scalars.ts';
import { METADATA_KEY_LENGTH_MAX, METADATA_KEYS_MAX, METADATA_VALUE_LENGTH_MAX, TTL_SECONDS } from './limits.ts';

/** What zod says of a wrong value, in words that say what would be right; once a field, whatever else is wrong with it. */
export const must = (rule: string) => ({
  abort: true,
  error: (issue: { readonly input?: unknown }) =>
    issue.input === undefined ? `is required: ${rule}` : `must be ${rule}`,
});

/** Text whose length is counted in characters. */
export const text = (min: number, max: number) => {
  const rule = must(`text of ${min} to ${max} characters, without U+0000 and lone surrogates`);
  // The document counts characters as this does; z.string().max() counts halves of surrogate pairs.
  return z
    .string(rule)
    .refine((value) => value.length >= min && isWithin(value, max) && isStorable(value), rule)
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max });
};
/** Text that an adapter or the domain reads further: here only its length is bounded. */
export const word = (rule: string, max = 200) =>
  z.string(must(rule)).min(1, must(rule)).max(max, must(rule)).refine(isStorable, must(rule));

const CAIP2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;
export const chain = z
  .string(must('a CAIP-2 chain id such as eip155:8453'))
  .regex(CAIP2, must('a CAIP-2 chain id such as eip155:8453'));
export const token = word('a token symbol such as USDC, or the address of a token');
const decimal = must('a plain decimal in text, greater than 0, without sign or exponent, such as "12.50"');
export const amount = z
  .string(decimal)
  .max(100, decimal)
  .regex(/^(0\.\d*[1-9]\d*|[1-9]\d*(\.\d+)?)$/, decimal);
export const wallet = word('a wallet address of the chain');
export const direction = z.enum(['request', 'send'], must('"request" or "send"'));
const ttl = must(`a whole number of seconds from ${TTL_SECONDS.min} to ${TTL_SECONDS.max}`);
export const ttlSeconds = z.int(ttl).min(TTL_SECONDS.min, ttl).max(TTL_SECONDS.max, ttl);
/** A moment as clients write it: any offset, any precision. */
export const moment = z.iso.datetime({
  offset: true,
  ...must('an ISO 8601 time with its offset, such as 2026-11-21T12:00:00.000Z'),
});
const change = must('the updatedAt of the intent as last read, such as 2026-11-21T12:00:00.000Z');
/** The moment of an intent's last change: none was before 1970, which messages cannot hold. */
export const updatedAt = z.iso.datetime({ offset: true, ...change }).refine((value) => Date.parse(value) >= 0, change);

export const metadataKey = text(1, METADATA_KEY_LENGTH_MAX);
export const metadataValue = text(0, METADATA_VALUE_LENGTH_MAX);
const metadataMap = must(`an object of at most ${METADATA_KEYS_MAX} text values`);
export const metadata = z
  .record(metadataKey, metadataValue, metadataMap)
  .refine((map) => Object.keys(map).length <= METADATA_KEYS_MAX, metadataMap);
