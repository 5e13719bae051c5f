import { describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import type { IntentId } from '@pf/domain';
import { RestingIntents } from '../src/resting-intents.ts';

const DAY_MS = 86_400_000;
const nameOf = (at: number): string => `name ${at} of an intent`;

describe('RestingIntents', () => {
  it('finds each of thousands by each of its names, with its version', () => {
    const resting = new RestingIntents();
    const ids = Array.from({ length: 5_000 }, (_, at) => newIntentId(at % 16));
    for (const [at, id] of ids.entries())
      resting.add([nameOf(at), `other ${nameOf(at)}`], id, at + 1, (at % 30) * DAY_MS);
    expect(resting.size).toBe(5_000);
    for (const prefix of ['', 'other '])
      expect(ids.map((id, at) => resting.of(`${prefix}${nameOf(at)}`).get(id))).toEqual(ids.map((_, at) => at + 1));
    expect(resting.of('a name of none').size).toBeLessThan(2);
  });

  it('has the last version of one that came to rest twice', () => {
    const resting = new RestingIntents();
    const id = newIntentId(1);
    resting.add(['name'], id, 7, 2 * DAY_MS);
    resting.add(['name'], id, 5, DAY_MS);
    expect(resting.of('name')).toEqual(new Map([[id, 7]]));
  });

  it('keeps ids of another form', () => {
    const resting = new RestingIntents();
    const odd = ['pi_1', `pi_${'long'.repeat(10)}`, 'another'] as IntentId[];
    for (const id of odd) resting.add([id], id, 1, 0);
    for (const id of odd) expect(resting.of(id)).toEqual(new Map([[id, 1]]));
  });

  it('drops what is no longer watched by days', () => {
    const resting = new RestingIntents();
    const [first, second] = [newIntentId(1), newIntentId(2)];
    resting.add(['first'], first, 1, DAY_MS + 1);
    resting.add(['second'], second, 1, 2 * DAY_MS);
    resting.drop(2 * DAY_MS - 1);
    expect([resting.of('first').size, resting.of('second').size]).toEqual([1, 1]);
    resting.drop(2 * DAY_MS);
    expect([resting.of('first').size, resting.of('second').size]).toEqual([0, 1]);
    expect(resting.size).toBe(1);
  });

  it.each([
    ['one name', 1, 50],
    ['two names, as on Tempo', 2, 64],
  ])('takes few bytes for each of 100,000 with %s', (_names, names, most) => {
    const resting = new RestingIntents();
    for (let at = 0; at < 100_000; at += 1)
      resting.add(
        Array.from({ length: names }, (_, which) => `${which} ${nameOf(at)}`),
        `pi_${String(at).padStart(22, '1')}` as IntentId,
        5,
        at * 25_000,
      );
    expect(resting.size).toBe(100_000);
    expect(resting.bytes / 100_000).toBeLessThan(most);
  });
});
