import { describe, expect, it } from '@jest/globals';
import { BlockPace } from '../src/block-pace.ts';

/** A chain that makes a block in so many ms, read every six seconds by a pace that assumes 200 ms. */
function seeing(blockMs: number) {
  let now = 0;
  let head = 1_000n;
  const pace = new BlockPace(200, () => now);
  return {
    pace,
    look: (lag = 0n) => pace.saw(head - lag),
    pass: (seconds: number, ms = blockMs, lag: () => bigint = () => 0n) => {
      for (let second = 0; second < seconds; second += 6) {
        now += 6_000;
        head += BigInt(Math.round(6_000 / ms));
        pace.saw(head - lag());
      }
    },
    head: () => head,
    wait: (ms: number) => void (now += ms),
  };
}

describe('the pace of blocks', () => {
  it('is the assumed one until it was measured for half a minute', () => {
    const { pace, look, pass } = seeing(400);
    expect([pace.blockMs(), pace.msUntil(1_150n)]).toEqual([200, null]);
    look();
    pass(24);
    expect(pace.blockMs()).toBe(200);
    pass(6);
    expect(pace.blockMs()).toBeCloseTo(400, -1);
  });

  it.each([100, 200, 214, 400])('is measured at slots of %i ms, also by nodes that lag', (blockMs) => {
    const { pace, look, pass, head } = seeing(blockMs);
    let turn = 0n;
    look();
    pass(60, blockMs, () => (turn++ % 2n) * 8n);
    look();
    expect(pace.blockMs() / blockMs).toBeCloseTo(1, 1);
    const life = pace.msUntil(head() + 150n) ?? 0;
    expect(life / (150 * blockMs)).toBeCloseTo(1, 1);
  });

  it('follows a network that becomes faster', () => {
    const { pace, look, pass } = seeing(400);
    look();
    pass(1_200);
    expect(pace.blockMs()).toBeCloseTo(400, -1);
    pass(1_200, 200);
    expect(pace.blockMs()).toBeCloseTo(200, -1);
  });

  it('goes on counting while no node is asked', () => {
    const { pace, look, wait, head } = seeing(200);
    look();
    wait(10_000);
    expect(pace.msUntil(head() + 150n)).toBe(20_000);
  });

  it('forgets a height that no node has reported for a minute: it was a lie, or the chain has started again', () => {
    const { pace, wait } = seeing(200);
    pace.saw(10n ** 12n);
    expect(pace.saw(1_000n)).toBe(10n ** 12n);
    wait(60_000);
    expect(pace.saw(1_000n)).toBe(1_000n);
    expect([pace.blockMs(), pace.msUntil(1_100n)]).toEqual([200, 20_000]);
  });
});
