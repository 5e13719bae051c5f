import { describe, expect, it } from '@jest/globals';
import { ERROR_CODES, ERRORS } from '../src/index.ts';

/** The table of errors in docs/reference/contract.md. */
const DOCUMENTED: Readonly<Record<number, readonly string[]>> = {
  400: ['request.malformed_json', 'request.validation_failed'],
  401: ['api_key.missing', 'api_key.invalid', 'api_key.test_mode_required', 'api_key.insufficient_scope'],
  402: ['plan.upgrade_required'],
  404: [
    'intent.not_found',
    'payment_link.not_found',
    'delivery.not_found',
    'webhook_endpoint.not_found',
    'webhook_replay.not_found',
    'sponsor.not_found',
    'route.not_found',
  ],
  405: ['request.method_not_allowed'],
  409: [
    'intent.invalid_state',
    'intent.already_fulfilled',
    'intent.expired',
    'intent.stale_update',
    'intent.submission_in_progress',
    'mpp.challenge_expired',
    'intent.already_refunded',
    'intent.original_unpaid',
    'intent.limit_reached',
    'payment_link.invalid_state',
    'payment_link.limit_reached',
    'webhook_endpoint.exists',
    'webhook_endpoint.limit_reached',
    'webhook_endpoint.not_enabled',
    'webhook_replay.limit_reached',
  ],
  413: ['request.too_large'],
  415: ['request.unsupported_media_type'],
  422: [
    'chain.not_available',
    'token.not_available',
    'address.sanctions_match',
    'address.not_payable',
    'transaction.malformed',
    'transaction.mismatch',
    'transaction.rejected',
    'sponsor.refused',
  ],
  429: ['rate_limit.exceeded', 'intent.too_many_builds'],
  500: ['internal.error'],
  503: [
    'rpc.unavailable',
    'transaction.not_visible',
    'screening.unavailable',
    'sponsor.unavailable',
    'intent.unavailable',
    'service.unavailable',
  ],
};

/** Errors of the HTTP parser, before there is a request that the contract describes. */
const HTTP_ERRORS: readonly (readonly [string, number])[] = [
  ['request.malformed_http', 400],
  ['request.timeout', 408],
  ['request.headers_too_large', 431],
];

describe('ERRORS', () => {
  it('contains exactly the documented codes, each with its documented status', () => {
    const documented = Object.entries(DOCUMENTED).flatMap(([status, codes]) =>
      codes.map((code) => [code, Number(status)]),
    );
    expect(Object.fromEntries(ERROR_CODES.map((code) => [code, ERRORS[code].status]))).toEqual(
      Object.fromEntries([...documented, ...HTTP_ERRORS]),
    );
  });

  it.each(ERROR_CODES)('has a message, a cause and a remedy for %s, each a full sentence', (code) => {
    const { message, cause, remedy } = ERRORS[code];
    for (const text of [message, cause, remedy]) expect(text).toMatch(/^[A-Z`].{15,}\.$/);
    expect(code).toMatch(/^[a-z_]+\.[a-z_]+$/);
  });
});
