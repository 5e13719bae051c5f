import { describe, expect, it } from '@jest/globals';
import { Heads } from '../../src/rpc/heads.ts';

describe('how far an upstream lags, in time', () => {
  it('is since when another had shown a newer head', () => {
    const heads = new Heads();
    expect(heads.note(100n, 0, 10)).toBe(0);
    expect(heads.note(101n, 1_000, 1_010)).toBe(0);
    expect(heads.note(103n, 2_000, 2_010)).toBe(0);
    expect(heads.note(100n, 5_000, 5_010)).toBe(5_000 - 1_010);
    expect(heads.note(102n, 5_000, 5_010)).toBe(5_000 - 2_010);
    expect(heads.note(103n, 5_000, 5_010)).toBe(0);
  });

  it('is not made of the time that an answer took', () => {
    const heads = new Heads();
    heads.note(101n, 0, 1_000);
    expect(heads.note(100n, 900, 9_000)).toBe(0);
  });

  it('is nothing on a chain that stands still, and forgotten where it began anew', () => {
    const heads = new Heads();
    heads.note(1_000n, 0, 10);
    expect(heads.note(1_000n, 50_000, 50_010)).toBe(0);
    expect(heads.note(5n, 55_000, 55_010)).toBeGreaterThan(0);
    expect(heads.note(6n, 70_000, 70_010)).toBe(0);
  });

  it('is at least that since the oldest head it remembers', () => {
    const heads = new Heads();
    for (let head = 1; head <= 1_000; head++) heads.note(BigInt(head), head * 10, head * 10);
    expect(heads.note(1n, 10_000, 10_000)).toBeGreaterThan(2_000);
  });
});
