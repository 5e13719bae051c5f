import type { z } from 'zod';
import type { KeyScope } from './account.ts';
import { type ErrorCode, ERRORS } from './errors.ts';

export const TAGS = {
  'Payment Intents': 'A payment request: created, paid by a wallet on chain, followed to `confirmed` and `finalized`.',
  Payment: 'What an app in the hands of the payer does: detect, build, sign by itself, submit, follow.',
  Webhooks: 'Deliveries of events to the URLs of the account, signed.',
  Testing: 'Test mode only.',
} as const;

/** What one operation answers when all is well. */
export interface Success {
  readonly description: string;
  /** By media type; an event stream is text. */
  readonly content: Readonly<Record<string, z.ZodType>>;
  readonly headers?: z.ZodObject;
}

/**
 * One operation of the API, said once: the gateway serves it by this, the OpenAPI document shows it, the tests hold the
 * answers to it.
 */
export interface Operation {
  /** The name in generated clients: `createIntent`. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'patch';
  /** Below the base URL, parameters in braces: `/intents/{id}`. */
  readonly path: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** The least that the API key must have. */
  readonly scope: KeyScope;
  readonly request: {
    readonly params?: z.ZodObject;
    readonly query?: z.ZodObject;
    readonly headers?: z.ZodObject;
    readonly body?: z.ZodType;
  };
  readonly answers: Readonly<Partial<Record<200 | 201, Success>>>;
  /** Those particular to it; what every operation can answer is added: see errorsOf. */
  readonly errors: readonly ErrorCode[];
}

const EVERYWHERE: readonly ErrorCode[] = [
  'api_key.missing',
  'api_key.invalid',
  'rate_limit.exceeded',
  'internal.error',
  'service.unavailable',
];
const WITH_BODY: readonly ErrorCode[] = [
  'request.malformed_json',
  'request.validation_failed',
  'request.too_large',
  'request.unsupported_media_type',
];

/** Every error that the operation can answer, in the order of the registry. */
export function errorsOf({ request, scope, errors }: Operation): readonly ErrorCode[] {
  const can = new Set<ErrorCode>([
    ...EVERYWHERE,
    ...(request.body === undefined ? [] : WITH_BODY),
    ...(request.query === undefined ? [] : (['request.validation_failed'] as const)),
    ...(scope === 'full' ? (['api_key.insufficient_scope'] as const) : []),
    ...errors,
  ]);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => can.has(code));
}

/** Every status that the operation can answer, in ascending order. */
export const statusesOf = (operation: Operation): readonly number[] =>
  [
    ...new Set([
      ...Object.keys(operation.answers).map(Number),
      ...errorsOf(operation).map((code) => ERRORS[code].status),
    ]),
  ].sort((a, b) => a - b);
