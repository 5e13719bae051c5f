import { describe, expect, it } from '@jest/globals';
import { FEATURES, KEY_QUOTAS, PLANS } from '@pf/contracts';
import { PLANS as SHOWN } from '../../src/format/plans.ts';

describe('the plans that the settings show', () => {
  it('are those that the API enforces', () => {
    expect(Object.keys(SHOWN)).toEqual(PLANS);
    for (const plan of PLANS) expect(SHOWN[plan].requests).toBe(KEY_QUOTAS[plan].requests);
    for (const [feature, plan] of Object.entries(FEATURES))
      expect([feature, Object.keys(SHOWN[plan].features)]).toEqual([
        feature,
        expect.arrayContaining([feature]) as unknown,
      ]);
  });
});
