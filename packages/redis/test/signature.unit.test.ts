import { describe, expect, it } from '@jest/globals';
import { signed, verified } from '../src/index.ts';

const [ours, former, strange] = ['ours', 'former', 'strange'].map((text) => Buffer.from(text.padEnd(32, '.'))) as [
  Buffer,
  Buffer,
  Buffer,
];

describe('a signed message', () => {
  const message = signed(ours, 'pf:replies:a', '[1]');

  it('is believed on its channel, by whoever has the secret, also while it is replaced', () => {
    expect(verified([ours], 'pf:replies:a', message)).toBe('[1]');
    expect(verified([former, ours], 'pf:replies:a', message)).toBe('[1]');
  });

  it.each([
    ['signed with another secret', 'pf:replies:a', signed(strange, 'pf:replies:a', '[1]')],
    ['of another channel', 'pf:replies:b', message],
    ['changed', 'pf:replies:a', `${message.slice(0, -1)} ]`],
    ['not signed', 'pf:replies:a', '[{"outcome":{"kind":"accepted"}}]'],
    ['signed with nothing', 'pf:replies:a', '.[1]'],
    ['empty', 'pf:replies:a', ''],
  ])('is not believed where it is %s', (_what, channel, text) => {
    expect(verified([ours, former], channel, text)).toBeNull();
  });
});
