import { describe, expect, it } from '@jest/globals';
import { RpcUnavailableError } from '@pf/chains';
import { errorResponse } from '@pf/contracts';
import type { IntentId, Refusal } from '@pf/domain';
import { LogUnavailableError } from '@pf/event-log';
import { type ApiError, asApiError, validationFailed } from '../src/api-error.ts';
import { refused } from '../src/refusals.ts';

const intentId = 'pi_G8qqJ3s1Gp4WAAPrB11gC' as IntentId;
const bodyOf = (error: ApiError) => errorResponse.parse(JSON.parse(error.body())).error;

describe('what a client is told of what was thrown', () => {
  it('says when to come back, in the body and in the header', () => {
    const error = asApiError(new RpcUnavailableError('away', { retryAfterSeconds: 7 }));
    expect([error.status, error.headers]).toEqual([503, { 'Retry-After': '7' }]);
    expect(bodyOf(error)).toMatchObject({ code: 'rpc.unavailable', param: null, details: { retry_after: 7 } });
  });

  it.each([
    ['the log away', new LogUnavailableError('no broker')],
    ['the database away', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
    ['the database shutting down', Object.assign(new Error('terminating connection'), { code: '57P01' })],
  ])('%s is a 503 that says nothing of the inside', (_name, thrown) => {
    const error = asApiError(thrown);
    expect([error.status, error.code]).toEqual([503, 'service.unavailable']);
    expect(error.body()).not.toContain(thrown.message);
  });

  it('what nobody foresaw is a 500 that says nothing of the inside', () => {
    const error = asApiError(new Error('column "secret" does not exist'));
    expect([error.status, error.code]).toEqual([500, 'internal.error']);
    expect(error.body()).not.toContain('secret');
  });

  it('a validation error names its first field and lists all', () => {
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

describe('refusals of the domain', () => {
  const refusal = (more: Partial<Refusal>): Refusal => ({
    code: 'intent.invalid_state',
    message: 'It cannot be.',
    intentId,
    ...more,
  });

  it('a conflict carries the intent and its state', () => {
    const error = refused(refusal({ code: 'intent.expired', currentState: 'expired' }));
    expect(error.status).toBe(409);
    expect(bodyOf(error)).toEqual({
      code: 'intent.expired',
      message: 'It cannot be.',
      param: null,
      details: { intent_id: intentId, current_state: 'expired' },
    });
  });

  it('a mismatch carries what differs and nothing else', () => {
    const details = { amount: { expected: '2', actual: '1' } };
    expect(
      bodyOf(refused(refusal({ code: 'transaction.mismatch', currentState: 'created', details }))).details,
    ).toEqual(details);
  });

  it('an unknown intent tells nothing', () => {
    expect(bodyOf(refused(refusal({ code: 'intent.not_found' }))).details).toBeNull();
  });

  it('a wrong field looks like one that the schema refused', () => {
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

  it('a race among builders that did not end is worth another try', () => {
    expect(refused(refusal({ code: 'build.superseded' })).headers).toHaveProperty('Retry-After');
  });
});
