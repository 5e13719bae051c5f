import { describe, expect, it } from '@jest/globals';
import { shownPath } from '../src/request-log.ts';

describe('the path of a request in logs', () => {
  it.each([
    ['/pay/pi_5mUj8xNgYq3vWJ2hTfKd7', '/pay/pi_5mUj8xNgYq3vWJ2hTfKd7'],
    ['/v1/intents/pi_5mUj8x_secret_9Qz4/events', '/v1/intents/pi_5mUj8x_secret_[redacted]/events'],
    ['/s/pi_5mUj8x_spl_9Qz4', '/s/pi_5mUj8x_spl_[redacted]'],
    ['/p/pi_5mUj8x_pm_9Qz4', '/p/pi_5mUj8x_pm_[redacted]'],
  ])('has no secret of a payer: %s', (path, shown) => {
    expect(shownPath({ path })).toBe(shown);
  });

  it('has 200 characters at most', () => {
    expect(shownPath({ path: `/${'x'.repeat(300)}` })).toBe(`/${'x'.repeat(199)}`);
  });
});
