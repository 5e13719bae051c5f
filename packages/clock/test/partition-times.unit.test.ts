import { describe, expect, it } from '@jest/globals';
import { ClockUnprovenError, trustedClock } from '../src/clock.ts';
import { PartitionTimes } from '../src/partition-times.ts';
import { FakeClocks } from './fake-clocks.ts';

describe('The time of a partition', () => {
  it('is the owner’s clock, and never goes back', () => {
    let clock = 1_000;
    const times = new PartitionTimes(trustedClock(() => clock));
    times.begin(3, 400);
    expect(times.next(3)).toEqual({ at: 1_000, clock: 1_000 });
    clock = 900;
    expect(times.next(3)).toEqual({ at: 1_000, clock: 900 });
    clock = 1_100;
    expect(times.next(3)).toEqual({ at: 1_100, clock: 1_100 });
  });

  it('stands still while an earlier owner’s clock was ahead, and goes on when the clock has caught up', () => {
    let clock = 1_000;
    const times = new PartitionTimes(trustedClock(() => clock));
    times.begin(3, 5_000);
    expect(times.next(3)).toEqual({ at: 5_000, clock: 1_000 });
    expect([...times.ahead]).toEqual([[3, 4_000]]);
    clock = 5_001;
    expect(times.next(3)).toEqual({ at: 5_001, clock: 5_001 });
    expect([...times.ahead]).toEqual([[3, 0]]);
    times.end(3);
    expect([...times.ahead]).toEqual([]);
  });

  it('is not stamped by a clock that is not proven', async () => {
    const clocks = new FakeClocks();
    const clock = clocks.clock();
    const times = new PartitionTimes(clock);
    await clock.prove();
    times.begin(3, 0);
    clocks.wallLead = 3_600_000;
    expect(() => times.next(3)).toThrow(ClockUnprovenError);
    clocks.wallLead = 0;
    await clock.prove();
    expect(times.next(3)).toEqual({ at: clocks.time, clock: clocks.time });
  });
});
