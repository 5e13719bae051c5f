import { describe, expect, it } from '@jest/globals';
import { Slots } from '../src/slots.ts';

describe('slots', () => {
  it('are taken up to the number of each name, and given back once', () => {
    const slots = new Slots();
    const take = (account: string) => slots.take({ [account]: 2, all: 3 });
    const first = take('a');
    expect([first, take('a')].every((taken) => typeof taken === 'function')).toBe(true);
    expect(take('a')).toEqual({ full: 'a' });
    expect(typeof take('b')).toBe('function');
    expect(take('b')).toEqual({ full: 'all' });
    for (const _again of [1, 2]) if (typeof first === 'function') first();
    expect(typeof take('b')).toBe('function');
    expect(take('c')).toEqual({ full: 'all' });
  });
});
