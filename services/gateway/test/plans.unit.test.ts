import { describe, expect, it } from '@jest/globals';
import { networkNamed } from '@pf/chains';
import { PLANS } from '@pf/contracts';
import { ApiError } from '../src/api-error.ts';
import { requirePlan } from '../src/plans.ts';

const refusal = (work: () => void): unknown => {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof ApiError ? [error.status, error.code, error.details] : error;
  }
};

describe('requirePlan', () => {
  it('requires growth for live Tempo', () => {
    expect(
      PLANS.map((plan) => refusal(() => requirePlan({ plan, livemode: true }, { network: networkNamed('tempo') }))),
    ).toEqual([[402, 'plan.upgrade_required', { feature: 'live_tempo', plan: 'growth' }], null, null]);
  });

  it.each(['base', 'solana'] as const)('allows live %s on every plan', (name) => {
    for (const plan of PLANS)
      expect(refusal(() => requirePlan({ plan, livemode: true }, { network: networkNamed(name) }))).toBeNull();
  });

  it('allows everything in test mode', () => {
    for (const plan of PLANS)
      expect(
        refusal(() => requirePlan({ plan, livemode: false }, { network: networkNamed('tempo'), ttlSeconds: 60 })),
      ).toBeNull();
  });
});
