import { z } from 'zod';
import { isStorable, isWithin } from '../scalars.ts';
import { controlIn } from '../unseen.ts';
import { METADATA_KEY_LENGTH_MAX, METADATA_KEYS_MAX, METADATA_VALUE_LENGTH_MAX, TTL_SECONDS } from './limits.ts';

/**
 * The message of an invalid field, to follow its name: what it must be, and what the request contained. Validation of
 * the field ends with it, so that a field has one message.
 * @param rule what the field must be, for example `"request" or "send"`
 */
export const must = (rule: string) => ({
  abort: true,
  error: ({ input }: { readonly input?: unknown }) =>
    input === undefined ? `is required: ${rule}` : `must be ${rule}; received ${shown(input)}`,
});

const SHOWN_LENGTH_MAX = 40;
/** A value as a message shows it: short, and without what an object or a list contains. */
function shown(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > SHOWN_LENGTH_MAX ? `${value.slice(0, SHOWN_LENGTH_MAX)}…` : value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/**
 * A string whose length is counted in characters: one that is not stored, or is compared with what is. What is to be
 * stored is `text`.
 */
export const anyText = (min: number, max: number) => {
  const rule = must(`a string of ${min} to ${max} characters, without U+0000 or lone surrogates`);
  // Counted in code points, like maxLength of JSON Schema; z.string().max() would count UTF-16 code units.
  return z
    .string(rule)
    .refine((value) => value.length >= min && isWithin(value, max) && isStorable(value), rule)
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max });
};
/**
 * A string that is stored. Its control characters would be six bytes each wherever JSON has it: in messages, events,
 * responses and webhooks.
 */
export const text = (min: number, max: number) =>
  anyText(min, max).refine((value) => controlIn(value) === null, {
    abort: true,
    error: ({ input }) =>
      `must not contain ${controlIn(String(input))}, a control character that is no tab and ends no line: leave it out`,
  });
/** A string that a chain adapter or the domain parses later: only its length is checked here. */
export const word = (rule: string, max = 200) =>
  z.string(must(rule)).min(1, must(rule)).max(max, must(rule)).refine(isStorable, must(rule));

const CAIP2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;
export const chain = z
  .string(must('a CAIP-2 chain id such as eip155:8453'))
  .regex(CAIP2, must('a CAIP-2 chain id such as eip155:8453'));
export const token = word('a token symbol such as USDC, or a token address');
const decimal = must('a decimal string greater than 0, without sign or exponent, such as "12.50"');
export const amount = z
  .string(decimal)
  .max(100, decimal)
  .regex(/^(0\.\d*[1-9]\d*|[1-9]\d*(\.\d+)?)$/, decimal);
export const wallet = word('a wallet address on the chain');
export const attribution = z.enum(['reference', 'amount'], must('"reference" or "amount"'));
export const accept = z.enum(['exact', 'at_least'], must('"exact" or "at_least"'));
export const direction = z.enum(['request', 'send'], must('"request" or "send"'));
const ttl = must(`a whole number of seconds from ${TTL_SECONDS.min} to ${TTL_SECONDS.max}`);
export const ttlSeconds = z.int(ttl).min(TTL_SECONDS.min, ttl).max(TTL_SECONDS.max, ttl);
/** A time as clients write it: any offset, any precision. */
export const moment = z.iso.datetime({
  offset: true,
  ...must('an ISO 8601 time with an offset, such as 2026-11-21T12:00:00.000Z'),
});
const change = must('the updatedAt that the intent had when you read it, such as 2026-11-21T12:00:00.000Z');
/** When an intent was last changed. Times before 1970 are invalid: messages carry milliseconds since then. */
export const updatedAt = z.iso.datetime({ offset: true, ...change }).refine((value) => Date.parse(value) >= 0, change);

export const metadataKey = text(1, METADATA_KEY_LENGTH_MAX);
export const metadataValue = text(0, METADATA_VALUE_LENGTH_MAX);
/** A key, or a value, that an intent may have from before control characters were refused. */
export const anyMetadataKey = anyText(1, METADATA_KEY_LENGTH_MAX);
const anyMetadataValue = anyText(0, METADATA_VALUE_LENGTH_MAX);
const metadataMap = must(`an object of at most ${METADATA_KEYS_MAX} string values`);
const hasFewKeys = (map: Readonly<Record<string, string>>): boolean => Object.keys(map).length <= METADATA_KEYS_MAX;
export const metadata = z.record(metadataKey, metadataValue, metadataMap).refine(hasFewKeys, metadataMap);
/** What metadata is compared with. */
export const metadataFilter = z.record(anyMetadataKey, anyMetadataValue, metadataMap).refine(hasFewKeys, metadataMap);
