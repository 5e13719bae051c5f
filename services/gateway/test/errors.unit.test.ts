import { describe, expect, it } from '@jest/globals';
import { RpcUnavailableError } from '@pf/chains';
import { errorResponse } from '@pf/contracts';
import type { IntentId, Refusal } from '@pf/domain';
import { LogUnavailableError } from '@pf/event-log';
import { type ApiError, asApiError, validationFailed } from '../src/api-error.ts';
import { refused } from '../src/refusals.ts';

const intentId = 'pi_G8qqJ3s1Gp4WAAPrB11gC' as IntentId;
const bodyOf = (error: ApiError) => errorResponse.parse(JSON.parse(error.body())).error;

describe('asApiError', () => {
  it('puts the time to wait into the body and the Retry-After header', () => {
    const error = asApiError(new RpcUnavailableError('unavailable', { retryAfterSeconds: 7 }));
    expect([error.status, error.headers]).toEqual([503, { 'Retry-After': '7' }]);
    expect(bodyOf(error)).toMatchObject({ code: 'rpc.unavailable', param: null, details: { retry_after: 7 } });
  });

  it.each([
    ['an unavailable log', new LogUnavailableError('no broker')],
    ['an unavailable database', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
    ['a database that shuts down', Object.assign(new Error('terminating connection'), { code: '57P01' })],
  ])('maps %s to a 503 without internal details', (_name, thrown) => {
    const error = asApiError(thrown);
    expect([error.status, error.code]).toEqual([503, 'service.unavailable']);
    expect(error.body()).not.toContain(thrown.message);
  });

  it('maps an unexpected error to a 500 without internal details', () => {
    const error = asApiError(new Error('column "secret" does not exist'));
    expect([error.status, error.code]).toEqual([500, 'internal.error']);
    expect(error.body()).not.toContain('secret');
  });
});

describe('validationFailed', () => {
  it('names the first invalid field and lists all of them', () => {
    const issues = [
      { param: 'amount', message: 'amount is required' },
      { param: 'token', message: 'token is required' },
    ] as const;
    expect(bodyOf(validationFailed(issues))).toEqual({
      code: 'request.validation_failed',
      message: 'amount is required.',
      param: 'amount',
      details: { issues },
    });
  });
});

describe('refused', () => {
  const refusal = (more: Partial<Refusal>): Refusal => ({
    code: 'intent.invalid_state',
    message: 'It cannot be.',
    intentId,
    ...more,
  });

  it('gives a conflict the id and state of the intent', () => {
    const error = refused(refusal({ code: 'intent.expired', currentState: 'expired' }));
    expect(error.status).toBe(409);
    expect(bodyOf(error)).toEqual({
      code: 'intent.expired',
      message: 'It cannot be.',
      param: null,
      details: { intent_id: intentId, current_state: 'expired' },
    });
  });

  it('gives a mismatch only the differences', () => {
    const details = { amount: { expected: '2', actual: '1' } };
    expect(
      bodyOf(refused(refusal({ code: 'transaction.mismatch', currentState: 'created', details }))).details,
    ).toEqual(details);
  });

  it('gives an unknown intent no details', () => {
    expect(bodyOf(refused(refusal({ code: 'intent.not_found' }))).details).toBeNull();
  });

  it('gives an invalid field the same body as the schema does', () => {
    expect(
      bodyOf(
        refused(
          refusal({
            code: 'request.validation_failed',
            message: 'The requestor cannot pay itself.',
            param: 'fulfiller',
          }),
        ),
      ),
    ).toEqual({
      code: 'request.validation_failed',
      message: 'The requestor cannot pay itself.',
      param: 'fulfiller',
      details: { issues: [{ param: 'fulfiller', message: 'The requestor cannot pay itself' }] },
    });
  });

  it('asks for a retry when builds for other fulfillers kept coming first, and is no failure of ours', () => {
    expect(refused(refusal({ code: 'build.superseded' }))).toMatchObject({
      status: 429,
      code: 'intent.too_many_builds',
      headers: { 'Retry-After': '2' },
    });
  });
});
