import { describe, expect, it } from '@jest/globals';
import { readCommandLine } from '@pf/local/command';
import { BENCH_RPC } from '../../src/rpc/options.ts';
import { PLAN_NAMES } from '../../src/rpc/plans.ts';

describe('the arguments of bench:rpc', () => {
  it('name plans, each once, and recipients', () => {
    const args = ['--profile', 'cdp,helius-free', '--profile', 'cdp', '--recipients', '10000', '--json'];
    expect(readCommandLine(args, BENCH_RPC)).toMatchObject({
      values: { recipients: 10_000, profile: ['cdp', 'helius-free'], seconds: 60, json: true },
    });
    expect(readCommandLine(['--profile=all'], BENCH_RPC)).toMatchObject({ values: { profile: PLAN_NAMES } });
    expect(readCommandLine(['--recipients=5'], BENCH_RPC)).toMatchObject({ values: { profile: ['unlimited'] } });
  });

  it('are refused where a plan is not known', () => {
    expect(readCommandLine(['--profile', 'nope'], BENCH_RPC)).toEqual({
      kind: 'wrong',
      problem: expect.stringContaining('--profile: there is no plan "nope". The plans are all, unlimited, '),
    });
  });
});
