import { DEPOSIT_EVENT_TYPES, PUBLIC_EVENT_TYPES } from '@pf/domain';
import { z } from 'zod';
import { moment, must, text, word } from './api/fields.ts';
import { IDEMPOTENCY_KEY_LENGTH_MAX } from './api/limits.ts';
import { PAYMENT_LINK_EVENT_TYPES } from './payment-links.ts';
import { unseenIn } from './unseen.ts';

/** What a webhook endpoint can ask for. */
const SELECTABLE_TYPES = [
  ...PUBLIC_EVENT_TYPES,
  ...PAYMENT_LINK_EVENT_TYPES,
  ...DEPOSIT_EVENT_TYPES,
  'webhook_endpoint.disabled',
] as const;
/** Versions of what is sent, newest first. An endpoint keeps its version until the account changes it. */
export const API_VERSIONS = ['2026-11-21'] as const;
/** Whether this process can send in a version: one of an endpoint that newer code has made may be unknown to it. */
export const isApiVersion = (text: string): boolean => (API_VERSIONS as readonly string[]).includes(text);
/** How many endpoints an account has in a mode. */
export const ENDPOINTS_MAX = 16;
/** Secrets of one endpoint: each signs until 24 hours after its successor, and makes `webhook-signature` longer. */
export const SECRETS_MAX = 5;
/** An endpoint that has accepted nothing for so long is disabled. */
export const FAILING_DAYS = 5;
/** Of a URL that an account chooses. */
export const URL_LENGTH_MAX = 2_048;

/** What an account's URL is for, as its problems name it. */
const PURPOSES = {
  events: { needsHttps: 'because it gets live events', password: 'the signature authenticates the sender' },
  sponsor: { needsHttps: 'because it gets live transactions', password: 'pass it as a header' },
} as const;

/** Of other characters some are invisible, turn the direction, or look like others. */
const ASCII = /^[\x21-\x7E]*$/;
const SUGGESTED_LENGTH_MAX = 200;
/** How the URL is sent. */
const asciiOf = ({ href }: URL): string => (href.length > SUGGESTED_LENGTH_MAX ? '' : `: write ${href}`);

/**
 * What is wrong with the URL of an account, to follow the URL in a message; null if it can be one. Whether its host may
 * be connected to is decided when it is: by address.
 */
export function urlProblem(
  url: string,
  { httpAllowed, purpose = 'events' }: { readonly httpAllowed: boolean; readonly purpose?: keyof typeof PURPOSES },
): string | null {
  const { needsHttps, password } = PURPOSES[purpose];
  const parsed = URL.parse(url);
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') return 'must start with http:// or https://';
  if (parsed.protocol === 'http:' && !httpAllowed) return `must start with https://, ${needsHttps}`;
  if (parsed.username !== '' || parsed.password !== '') return `must not contain a user or password: ${password}`;
  if (!ASCII.test(url)) return `must consist of visible ASCII characters${asciiOf(parsed)}`;
  if (parsed.hash !== '') return 'must not contain a #fragment: receivers never get it';
  return url.length > URL_LENGTH_MAX ? `must have at most ${URL_LENGTH_MAX} characters` : null;
}

const eventTypesRule = must(`null, for all types, or a list of types without repeats: ${SELECTABLE_TYPES.join(', ')}`);
const typesOf = (rule: ReturnType<typeof must>) =>
  z
    .array(z.enum(SELECTABLE_TYPES, rule), rule)
    .min(1, rule)
    .max(SELECTABLE_TYPES.length, rule)
    .refine((types) => new Set(types).size === types.length, rule);
/** Types of events, without repeats. */
export const selectedTypes = typesOf(must(`a list of types without repeats: ${SELECTABLE_TYPES.join(', ')}`));
const nameRule = must('0 to 100 visible characters on one line');
const settings = {
  name: text(0, 100)
    .refine((value) => unseenIn(value) === null, nameRule)
    .nullable(),
  eventTypes: typesOf(eventTypesRule).nullable(),
  apiVersion: z.enum(API_VERSIONS, must(`one of ${API_VERSIONS.join(', ')}`)),
};

/** Identifies a request, so that it can be repeated if its response was lost. */
const idempotencyKey = text(1, IDEMPOTENCY_KEY_LENGTH_MAX).optional();

/** POST /webhook-endpoints. */
export const createEndpointRequest = z.strictObject({
  url: word('a URL that starts with https:// (or http:// in test mode)', URL_LENGTH_MAX),
  name: settings.name.optional(),
  eventTypes: settings.eventTypes.optional(),
  apiVersion: settings.apiVersion.optional(),
  idempotencyKey,
});

/** PATCH /webhook-endpoints/{id}. */
export const updateEndpointRequest = z.strictObject({
  name: settings.name.optional(),
  eventTypes: settings.eventTypes.optional(),
  apiVersion: settings.apiVersion.optional(),
  paused: z.boolean(must('true or false')).optional(),
});

/** POST /webhook-endpoints/{id}/rotate-secret. */
export const rotateSecretRequest = z.strictObject({ validFrom: moment.optional(), idempotencyKey });

/** POST /webhook-endpoints/{id}/enable. */
export const enableEndpointRequest = z.strictObject({ replay: z.boolean(must('true or false')).optional() });

const time = z.iso.datetime({ precision: 3 });

/** A webhook endpoint in responses. */
export const webhookEndpoint = z.strictObject({
  id: z.string(),
  url: z.string(),
  name: z.string().nullable(),
  eventTypes: z.array(z.string()).nullable(),
  apiVersion: z.string(),
  status: z.enum(['enabled', 'paused', 'disabled']),
  disabledReason: z.enum(['gone', 'failing']).nullable(),
  disabledAt: time.nullable(),
  failingSince: time.nullable(),
  missedSince: time.nullable(),
  missedCount: z.int(),
  createdAt: time,
  livemode: z.boolean(),
});
export type ShownEndpoint = z.infer<typeof webhookEndpoint>;

export const endpointResponse = z.strictObject({ endpoint: webhookEndpoint });
/** With the secret, which is not shown again. */
export const newEndpointResponse = z.strictObject({ endpoint: webhookEndpoint, secret: z.string() });
export const endpointsResponse = z.strictObject({ endpoints: z.array(webhookEndpoint) });
export const rotatedSecretResponse = z.strictObject({ endpoint: webhookEndpoint, secret: z.string(), validFrom: time });
export const enabledEndpointResponse = z.strictObject({
  endpoint: webhookEndpoint,
  replayed: z.number().int().nonnegative(),
});
export const removedEndpointResponse = z.strictObject({ id: z.string(), removed: z.literal(true) });

/** An attempt of a delivery in responses. */
export const deliveryAttempt = z.strictObject({
  number: z.number().int().positive(),
  at: time,
  durationMs: z.number().int().nonnegative(),
  responseStatus: z.number().int().nullable(),
  reason: z.string().nullable(),
  responseBody: z.string().nullable(),
});
/** GET /webhooks/{id}/attempts. */
export const attemptsResponse = z.strictObject({
  attempts: z.array(deliveryAttempt),
  nextAttemptAt: time.nullable(),
  requestBody: z.string().nullable(),
});
/** POST /webhook-endpoints/{id}/test. */
export const testedEndpointResponse = z.strictObject({
  deliveryId: z.string(),
  eventId: z.string(),
  attempt: deliveryAttempt.nullable(),
});
