import { describe, expect, it } from '@jest/globals';
import { Heads } from '../src/heads.ts';

describe('Heads', () => {
  it('measures the lag from when another upstream reported a newer head', () => {
    const heads = new Heads();
    expect(heads.record(100n, 0, 10)).toBe(0);
    expect(heads.record(101n, 1_000, 1_010)).toBe(0);
    expect(heads.record(103n, 2_000, 2_010)).toBe(0);
    expect(heads.record(100n, 5_000, 5_010)).toBe(5_000 - 1_010);
    expect(heads.record(102n, 5_000, 5_010)).toBe(5_000 - 2_010);
    expect(heads.record(103n, 5_000, 5_010)).toBe(0);
  });

  it('leaves the time that a response took out of the lag', () => {
    const heads = new Heads();
    heads.record(101n, 0, 1_000);
    expect(heads.record(100n, 900, 9_000)).toBe(0);
  });

  it('reports no lag on a stalled chain, and forgets the heads of a chain that was reset', () => {
    const heads = new Heads();
    heads.record(1_000n, 0, 10);
    expect(heads.record(1_000n, 50_000, 50_010)).toBe(0);
    expect(heads.record(5n, 55_000, 55_010)).toBeGreaterThan(0);
    expect(heads.record(6n, 70_000, 70_010)).toBe(0);
  });

  it('measures at least the lag since the oldest head it remembers', () => {
    const heads = new Heads();
    for (let head = 1; head <= 1_000; head++) heads.record(BigInt(head), head * 10, head * 10);
    expect(heads.record(1n, 10_000, 10_000)).toBeGreaterThan(2_000);
  });
});
