import type { PublicIntent, UnsignedTransaction } from '@pf/domain';
import { INTENT_STATUSES } from '@pf/domain';
import { z } from 'zod';
import { unsignedTransaction } from './intent-state.ts';
import { address, chainId, intentId, isStorable, isWithin, reference, tokenAddress, transactionHash } from './scalars.ts';

/** Limits of the API (spec.md part 8, decisions.md). */
export const BODY_LIMIT_BYTES = 64 * 1024;
export const METADATA_KEYS_MAX = 20;
export const METADATA_KEY_LENGTH_MAX = 40;
export const METADATA_VALUE_LENGTH_MAX = 500;
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
export const TTL_SECONDS = { min: 60, max: 604_800, default: 86_400 } as const;

/** What zod says of a wrong value, in words that say what would be right; once a field, whatever else is wrong with it. */
const must = (rule: string) => ({ abort: true, error: (issue: { readonly input?: unknown }) => (issue.input === undefined ? `is required: ${rule}` : `must be ${rule}`) });

const text = (min: number, max: number) => {
  const rule = must(`text of ${min} to ${max} characters, without U+0000 and lone surrogates`);
  return z.string(rule).refine((value) => value.length >= min && isWithin(value, max) && isStorable(value), rule);
};
/** Text that an adapter or the domain reads further: here only its length is bounded. */
const word = (rule: string, max = 200) => z.string(must(rule)).min(1, must(rule)).max(max, must(rule)).refine(isStorable, must(rule));

// Requests -----------------------------------------------------------------------------------------------------------
const CAIP2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;
const chain = z.string(must('a CAIP-2 chain id such as eip155:8453')).regex(CAIP2, must('a CAIP-2 chain id such as eip155:8453'));
const decimal = must('a plain decimal in text, without sign or exponent, such as "12.50"');
const amount = z.string(decimal).max(100, decimal).regex(/^(0|[1-9]\d*)(\.\d+)?$/, decimal);
const wallet = word('a wallet address of the chain');
const metadataMap = must(`an object of at most ${METADATA_KEYS_MAX} text values`);
const requestMetadata = z
  .record(text(1, METADATA_KEY_LENGTH_MAX), text(0, METADATA_VALUE_LENGTH_MAX), metadataMap)
  .refine((map) => Object.keys(map).length <= METADATA_KEYS_MAX, metadataMap);
const ttl = must(`a whole number of seconds from ${TTL_SECONDS.min} to ${TTL_SECONDS.max}`);

/** POST /intents. What depends on the chain (addresses, token, decimals) is read by its adapter after this. */
export const createIntentRequest = z.strictObject({
  chain,
  token: word('a token symbol such as USDC, or the address of a token'),
  amount,
  requestor: wallet,
  direction: z.enum(['request', 'send'], must('"request" or "send"')).default('request'),
  fulfiller: wallet.nullish(),
  idempotencyKey: text(1, IDEMPOTENCY_KEY_LENGTH_MAX).optional(),
  ttlSeconds: z.int(ttl).min(TTL_SECONDS.min, ttl).max(TTL_SECONDS.max, ttl).default(TTL_SECONDS.default),
  metadata: requestMetadata.nullish(),
});
export type CreateIntentRequest = z.infer<typeof createIntentRequest>;

/** POST /intents/{id}/build. */
export const buildIntentRequest = z.strictObject({ fulfiller: wallet.nullish() });
export type BuildIntentRequest = z.infer<typeof buildIntentRequest>;

/** POST /intents/{id}/submit. `signedTransaction` is bounded by the body. */
export const submitIntentRequest = z.strictObject({
  signedTransaction: word('the signed transaction as base64 (or 0x hex on EVM chains), or the hash of what the wallet sent', BODY_LIMIT_BYTES),
  fulfiller: wallet.nullish(),
});
export type SubmitIntentRequest = z.infer<typeof submitIntentRequest>;

/** For endpoints that take no fields: an empty object, or nothing at all. */
export const emptyRequest = z.strictObject({});

/** A body of nothing but mistakes is not answered with all of them. */
const ISSUES_MAX = 25;

export interface RequestIssue {
  /** The path of the field, dots between its parts; empty for the body as a whole. */
  readonly param: string;
  readonly message: string;
}
export type ParsedRequest<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly [RequestIssue, ...RequestIssue[]] };

/** Checks a request's body. Every field that is unknown or wrong is an issue of its own, in the order zod found them. */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, body: unknown): ParsedRequest<z.output<Schema>> {
  const hidden = prototypeKey(body);
  if (hidden !== null) return { ok: false, issues: [{ param: hidden, message: `${hidden} is not allowed` }] };
  const result = schema.safeParse(body);
  if (result.success) return { ok: true, value: result.data };
  const [first, ...rest] = result.error.issues.flatMap(issuesOf).slice(0, ISSUES_MAX);
  return { ok: false, issues: [first ?? { param: '', message: 'The body cannot be used' }, ...rest] };
}

function issuesOf(issue: z.core.$ZodIssue): readonly RequestIssue[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const param = [...path, key].join('.').slice(0, 200);
      return { param, message: `${param} is not a field of this request` };
    });
  }
  const param = path.join('.').slice(0, 200);
  if (param === '') return [{ param, message: 'The body must be a JSON object' }];
  // A key of a map that is wrong: what is wrong with it stands one level down.
  const message = issue.code === 'invalid_key' ? `as a key ${issue.issues[0]?.message ?? issue.message}` : issue.message;
  return [{ param, message: `${param} ${message}` }];
}

/** zod leaves the key `__proto__` of a map out without a word; a client should hear of it. Our bodies are two levels deep. */
function prototypeKey(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null;
  for (const [name, child] of Object.entries(body as Record<string, unknown>)) {
    if (typeof child === 'object' && child !== null && Object.hasOwn(child, '__proto__')) return `${name}.__proto__`;
  }
  return null;
}

// Responses ----------------------------------------------------------------------------------------------------------
const time = z.iso.datetime({ precision: 3 });

/** A PaymentIntent as the API answers it (spec.md part 2.1): what `view` of the domain makes. */
export const publicIntent = z.strictObject({
  id: intentId,
  idempotencyKey: z.string().exactOptional(),
  chain: chainId,
  token: z.string(),
  tokenAddress,
  amount: z.string(),
  amountBaseUnits: z.string().regex(/^\d{1,20}$/),
  requestor: address,
  fulfiller: address.nullable(),
  direction: z.enum(['request', 'send']),
  state: z.enum(INTENT_STATUSES),
  retryRequired: z.boolean(),
  pendingAtExpiry: z.boolean(),
  reference,
  txSignature: transactionHash.nullable(),
  detectedAt: time.nullable(),
  ataRentLamports: z.number().nullable(),
  ttlSeconds: z.number().int(),
  expiresAt: time,
  createdAt: time,
  updatedAt: time,
  confirmedAt: time.nullable(),
  finalizedAt: time.nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
  refundedBy: intentId.nullable(),
  refundOf: intentId.nullable(),
  livemode: z.boolean(),
}) satisfies z.ZodType<PublicIntent>;

/** create, fetch, cancel and detected. */
export const intentResponse = z.strictObject({ intent: publicIntent });
export const buildIntentResponse = z.strictObject({ intent: publicIntent, transaction: unsignedTransaction satisfies z.ZodType<UnsignedTransaction> });
export const submitIntentResponse = z.strictObject({ intent: publicIntent, txSignature: transactionHash });
