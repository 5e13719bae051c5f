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

  it('have a reserve beside a full room for those who have nothing under way', () => {
    const slots = new Slots();
    const take = (who: string, network = `network of ${who}`) =>
      slots.takeShared({ [who]: 2, [network]: 3 }, { rooms: { all: 4 }, reserve: { reserve: 2 } });
    const [first] = [take('a'), take('a'), take('b'), take('b')];
    expect(take('a')).toEqual({ full: 'a' });
    expect(take('c', 'network of b')).toEqual({ full: 'all' });
    const reserved = take('c');
    expect(typeof reserved).toBe('function');
    expect(take('c')).toEqual({ full: 'all' });
    expect(typeof take('d')).toBe('function');
    expect(take('e')).toEqual({ full: 'all' });
    if (typeof reserved === 'function') reserved();
    expect(typeof take('e')).toBe('function');
    if (typeof first === 'function') first();
    expect(typeof take('f')).toBe('function');
  });

  it('have as much of the reserve as each may', () => {
    const slots = new Slots();
    const take = (who: string) =>
      slots.takeShared({ [who]: 3 }, { rooms: { all: 2 }, reserve: { reserve: 9 }, each: 2 });
    expect([take('a'), take('b')].every((taken) => typeof taken === 'function')).toBe(true);
    expect(typeof take('a')).toBe('function');
    expect(take('a')).toEqual({ full: 'all' });
  });
});
