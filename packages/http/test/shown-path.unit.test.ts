import { expect, it } from '@jest/globals';
import { shownPath } from '../src/request-log.ts';

it.each([
  ['/pay/pi_5mUj8xNgYq3vWJ2hTfKd7', '/pay/pi_5mUj8xNgYq3vWJ2hTfKd7'],
  ['/v1/intents/pi_5mUj8x_secret_9Qz4/events', '/v1/intents/pi_5mUj8x_secret_[redacted]/events'],
  ['/s/pi_5mUj8x_spl_9Qz4', '/s/pi_5mUj8x_spl_[redacted]'],
  ['/p/pi_5mUj8x_pm_9Qz4', '/p/pi_5mUj8x_pm_[redacted]'],
  [`/${'x'.repeat(300)}`, `/${'x'.repeat(199)}`],
])('a path is kept without secrets, and short: %s', (path, shown) => {
  expect(shownPath({ path })).toBe(shown);
});
