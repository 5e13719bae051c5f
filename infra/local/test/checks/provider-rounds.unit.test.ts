import { describe, expect, it } from '@jest/globals';
import { PROFILE_NAMES, PROFILES } from '@pf/testing/providers';
import { roundsOf } from '../../src/checks/provider-rounds.ts';

describe('the rounds of the payments behind providers', () => {
  it('have each profile that serves alone before each chain of its families once', () => {
    const rounds = roundsOf([]);
    const serving = PROFILE_NAMES.filter((name) => PROFILES[name].cannot.length === 0);
    const expected = serving.flatMap((name) => PROFILES[name].families.map((family) => `${family}:${name}`));
    expect(rounds.flat().toSorted()).toEqual(expected.toSorted());
    for (const round of rounds) expect(new Set(round.map((entry) => entry.split(':')[0])).size).toBe(round.length);
  });

  it('are one where profiles are named', () => {
    expect(roundsOf(['cdp,helius-free', 'tempo-rpc'])).toEqual([['cdp', 'helius-free', 'tempo-rpc']]);
    expect(() => roundsOf(['nope'])).toThrow('there is no profile "nope"');
  });
});
