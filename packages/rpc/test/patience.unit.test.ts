import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { limitOf, rpcCall, soon } from '../src/index.ts';
import { Patience } from '../src/patience.ts';
import { poolOver } from './upstreams.ts';
import { startProvider, served } from './provider.ts';

const took = (patience: Patience, method: string, ...times: readonly number[]): void => {
  for (const ms of times) patience.took(method, ms);
};

describe('the patience with an upstream', () => {
  it('is 300 ms where it is quick, or not known', () => {
    const patience = new Patience();
    expect(patience.msOf('getTransaction')).toBe(300);
    took(patience, 'getTransaction', 20, 30, 90);
    expect(patience.msOf('getTransaction')).toBe(300);
  });

  it('is three times what it takes for everything, or for this method', () => {
    const patience = new Patience();
    took(patience, 'getEpochInfo', 1_600);
    expect(patience.msOf('getTransaction')).toBe(4_800);
    took(patience, 'getEpochInfo', ...Array<number>(9).fill(20));
    expect(patience.msOf('getTransaction')).toBe(300);
    took(patience, 'getTransaction', 1_000);
    expect([patience.msOf('getTransaction'), patience.msOf('getBlock')]).toEqual([3_000, 300]);
  });

  it('is not stretched by a few that take long', () => {
    const patience = new Patience();
    took(patience, 'getTransaction', 20, 20, 20, ...Array<number>(6).fill(2_000));
    expect(patience.msOf('getTransaction')).toBe(300);
    took(patience, 'getTransaction', 2_000);
    expect(patience.msOf('getTransaction')).toBe(6_000);
  });
});

describe('the limit of a request', () => {
  const [method, params] = ['echo', []];

  it('is that of its calls where each has one, and never more than any request has', () => {
    expect(limitOf([{ method, params, withinMs: 300 }], 2_500)).toBe(300);
    expect(limitOf([{ method, params, withinMs: 6_000 }], 2_500)).toBe(2_500);
    expect(
      limitOf(
        [
          { method, params, withinMs: 300 },
          { method, params },
        ],
        2_500,
      ),
    ).toBe(2_500);
  });

  it('ends a request that shall cost little time, and no other', async () => {
    const provider = await startProvider(served);
    const pool = poolOver([provider.url], 5_000);
    const call = rpcCall('echo', [7], z.number());
    expect(await pool.batch([soon(call), call])).toEqual([7, 7]);
    expect(await pool.call(soon(call))).toBe(7);
    await pool.close();
    await provider.stop();
  });
});
