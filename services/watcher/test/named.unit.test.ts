import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Named } from '../src/named.ts';

interface Value {
  readonly names: readonly string[];
}
const found = (named: Named<Value>, name: string): readonly Value[] =>
  named.of(name).filter(({ names }) => names.includes(name));

describe('Named', () => {
  it('finds values by each of their names as a map would, whatever was added and removed before', () => {
    const value = fc.record({ names: fc.uniqueArray(fc.nat(60).map(String), { minLength: 1, maxLength: 3 }) });
    fc.assert(
      fc.property(fc.array(fc.tuple(value, fc.boolean()), { maxLength: 200 }), (changes) => {
        const named = new Named<Value>();
        const kept: Value[] = [];
        for (const [one, isRemoved] of changes) {
          named.add(one.names, one);
          kept.push(one);
          const [first] = isRemoved ? kept.splice(kept.length >> 1, 1) : [];
          if (first !== undefined) named.remove(first.names, first);
        }
        expect(named.size).toBe(kept.length);
        for (let name = 0; name <= 60; name += 1) {
          const wanted = kept.filter(({ names }) => names.includes(String(name)));
          expect(new Set(found(named, String(name)))).toEqual(new Set(wanted));
        }
      }),
    );
  });

  it('uses the places of what was removed again', () => {
    const named = new Named<Value>();
    const [first, second] = [{ names: ['one'] }, { names: ['two'] }];
    named.add(first.names, first);
    named.remove(first.names, first);
    named.add(second.names, second);
    expect([found(named, 'one'), found(named, 'two'), named.size]).toEqual([[], [second], 1]);
  });
});
