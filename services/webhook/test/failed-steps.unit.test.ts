import { describe, expect, it } from '@jest/globals';
import { FailedSteps } from '../src/failed-steps.ts';

describe('A step that fails again and again', () => {
  it('is tried less and less often, and after ten minutes at the latest', () => {
    const steps = new FailedSteps('replay');
    for (const seconds of [10, 20, 40, 80, 160, 320, 600, 600, ...Array.from({ length: 1_100 }, () => 600)]) {
      const ms = steps.againMs('whr_one');
      expect(ms).toBeGreaterThanOrEqual(seconds * 500);
      expect(ms).toBeLessThanOrEqual(seconds * 1_000);
    }
    expect(steps.againMs('whr_other')).toBeLessThanOrEqual(10_000);
  });

  it('begins at the first pause again once it has succeeded', () => {
    const steps = new FailedSteps('catch_up');
    for (let failures = 0; failures < 9; failures += 1) steps.againMs('whe_one');
    steps.forget('whe_one');
    expect(steps.againMs('whe_one')).toBeLessThanOrEqual(10_000);
  });
});
