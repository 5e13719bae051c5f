import { z } from 'zod';
import type { KeyScope } from './account.ts';
import type { ClientSecretKind } from './client-secrets.ts';
import { type ErrorCode, ERRORS } from './errors.ts';

export const TAGS = {
  'Payment Intents': 'Create, read, update, cancel and refund payment intents.',
  'Payment Links': 'Offer several ways to pay one order: the payer chooses.',
  Deposits: 'See money that has arrived at the wallets of payment intents, and pays none of them; ignore it.',
  Payment:
    "The requests of the payer's app: detect, build and submit a payment (signed by the wallet), then follow it.",
  Sponsors: "Set the account's own services that pay the fees of its payers.",
  Webhooks: 'Manage the URLs that signed events are sent to; inspect and retry their deliveries.',
  Testing: 'Simulate payments in test mode.',
} as const;

/** A successful response of an operation. */
export interface Success {
  readonly description: string;
  /** Schema by media type; an event stream is text. */
  readonly content: Readonly<Record<string, z.ZodType>>;
  readonly headers?: z.ZodObject;
}

/**
 * One operation of the API. The gateway routes and authorizes by it, the OpenAPI document is generated from it, and the
 * tests check every response against it.
 */
export interface Operation {
  /** Its name in generated clients: `createIntent`. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Relative to the base URL, parameters in braces: `/intents/{id}`. */
  readonly path: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** The scope that the API key needs. What needs `payer` only is open to the intent's client secret, too. */
  readonly scope: KeyScope;
  /** Whether a Solana Pay token suffices, which is in the URL of a QR code. */
  readonly solanaPay?: true;
  /** Whether a paymaster token suffices, which is in a URL that wallets request. It opens this operation only. */
  readonly paymaster?: true;
  /** Whether the secret of the payment link suffices. Nothing else of a payer's does. */
  readonly paymentLink?: true;
  /** Whether the credential of an MPP challenge suffices. It opens this operation only. */
  readonly mpp?: true;
  readonly request: {
    readonly params?: z.ZodObject;
    readonly query?: z.ZodObject;
    readonly headers?: z.ZodObject;
    readonly body?: z.ZodType;
  };
  /** 402 requests a payment, which is not an error. */
  readonly responses: Readonly<Partial<Record<Answered, Success>>>;
  /** What payers get as JSON instead: the same, with intents reduced. */
  readonly forPayers?: z.ZodType;
  /** The errors specific to this operation; `errorsOf` adds those that every operation can return. */
  readonly errors: readonly ErrorCode[];
}

/** The statuses of responses that are not errors. */
export type Answered = 200 | 201 | 202 | 402;

/**
 * What a credential allows: a key by its scope; a secret or token of a payer, of its one intent or payment link; an MPP
 * challenge, of its one intent.
 */
export type Access = KeyScope | ClientSecretKind | 'mpp_challenge';

/** Which credentials an operation takes. */
export type AccessRules = Pick<Operation, 'scope' | 'solanaPay' | 'paymaster' | 'paymentLink' | 'mpp'>;

/** Whether a credential allows the operation; of an intent or a payment link, on that one. */
export function allows(access: Access, { scope, solanaPay, paymaster, paymentLink, mpp }: AccessRules): boolean {
  switch (access) {
    case 'full':
      return true;
    case 'payer':
    case 'client_secret':
      return scope === 'payer';
    case 'solana_pay_token':
      return solanaPay === true;
    case 'paymaster_token':
      return paymaster === true;
    case 'payment_link_secret':
      return paymentLink === true;
    case 'mpp_challenge':
      return mpp === true;
    default:
      return access satisfies never;
  }
}

/** The JSON of a successful response: that for payers too, where it is another. */
export function jsonOf({ responses, forPayers }: Operation, status: Answered): z.ZodType | undefined {
  const content = responses[status]?.content;
  if (content?.['application/problem+json']) return content['application/problem+json'];
  const whole = content?.['application/json'];
  return whole && forPayers ? z.union([whole, forPayers]) : whole;
}

const EVERYWHERE: readonly ErrorCode[] = [
  'api_key.missing',
  'api_key.invalid',
  'rate_limit.exceeded',
  'internal.error',
  'service.unavailable',
];
/** The errors of every operation that has a body. */
export const BODY_ERRORS = [
  'request.malformed_json',
  'request.validation_failed',
  'request.too_large',
  'request.unsupported_media_type',
] as const satisfies readonly ErrorCode[];

/** Every error that the operation can return, in the order of the registry. */
export function errorsOf({ request, errors }: Operation): readonly ErrorCode[] {
  const possible = new Set<ErrorCode>([
    ...EVERYWHERE,
    ...(request.body === undefined ? [] : BODY_ERRORS),
    ...(request.query === undefined ? [] : (['request.validation_failed', 'request.uri_too_long'] as const)),
    // There is always a credential that allows less.
    'api_key.insufficient_scope',
    ...errors,
  ]);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => possible.has(code));
}

/** Every HTTP status that the operation can return, in ascending order. */
export const statusesOf = (operation: Operation): readonly number[] =>
  [
    ...new Set([
      ...Object.keys(operation.responses).map(Number),
      ...errorsOf(operation).map((code) => ERRORS[code].status),
    ]),
  ].sort((a, b) => a - b);
