import { describe, expect, it } from '@jest/globals';
import { equalInConstantTime } from '../src/constant-time.ts';

describe('A comparison in constant time', () => {
  it.each([
    ['abc', 'abc', true],
    ['abc', Buffer.from('abc'), true],
    [new Uint8Array([1, 2]), new Uint8Array([1, 2]), true],
    ['abc', 'abd', false],
    ['abc', 'ab', false],
    ['abc', '', false],
    // As many characters, of which one takes two bytes.
    ['abc', 'abß', false],
  ])('says of %s and %s: %s', (made, given, equal) => {
    expect(equalInConstantTime(made, given)).toBe(equal);
  });
});
