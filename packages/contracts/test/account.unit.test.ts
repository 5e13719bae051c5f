import { describe, expect, it } from '@jest/globals';
import { apiKeyHint, isApiKey, newApiKey } from '../src/index.ts';

describe('API keys', () => {
  it.each([
    [true, /^pk_live_[A-Za-z0-9]{32}$/],
    [false, /^pk_test_[A-Za-z0-9]{32}$/],
  ])('have a prefix of their own for livemode %s', (livemode, pattern) => {
    const key = newApiKey(livemode);
    expect(key).toMatch(pattern);
    expect(isApiKey(key)).toBe(true);
    expect(newApiKey(livemode)).not.toBe(key);
  });

  it.each([
    '',
    'pk_test_',
    `pk_test_${'a'.repeat(31)}`,
    `pk_test_${'a'.repeat(33)}`,
    `pk_prod_${'a'.repeat(32)}`,
    `pk_test_${'-'.repeat(32)}`,
  ])('do not include %p', (text) => {
    expect(isApiKey(text)).toBe(false);
  });

  it('are shown by their prefix and last four characters only', () => {
    const key = newApiKey(false);
    expect(apiKeyHint(key)).toBe(`pk_test_…${key.slice(-4)}`);
  });
});
