import { describe, expect, it } from '@jest/globals';
import { readOptions } from '../../src/rpc/options.ts';
import { PLAN_NAMES } from '../../src/rpc/plans.ts';

describe('the arguments of bench:rpc', () => {
  it('are none for the running services', () => {
    expect(readOptions([])).toBeNull();
  });

  it('name plans, each once, and recipients', () => {
    expect(
      readOptions(['--profile', 'cdp,helius-free', '--profile', 'cdp', '--recipients', '10000', '--json']),
    ).toEqual({ recipients: 10_000, plans: ['cdp', 'helius-free'], seconds: 60, json: true });
    expect(readOptions(['--profile=all'])?.plans).toEqual(PLAN_NAMES);
    expect(readOptions(['--recipients=5'])?.plans).toEqual(['unlimited']);
  });

  it.each([
    [['--profile', 'nope'], '--profile: there is no plan "nope". The plans are all, unlimited, '],
    [['--recipients', '0'], '--recipients: "0" is not a whole number from 1 to 100,000.'],
    [['--seconds', '1.5'], '--seconds: "1.5" is not a whole number from 1 to 86,400.'],
  ])('are refused when they are invalid: %j', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });
});
