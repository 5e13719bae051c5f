import { describe, expect, it } from '@jest/globals';
import { ReceiverHealth } from '../src/receiver-health.ts';

describe('The health of a receiver', () => {
  const failing = (failures: number): { health: ReceiverHealth; now: number } => {
    const health = new ReceiverHealth(8, false);
    for (let count = 0; count < 10; count += 1) health.succeeded();
    let now = 0;
    for (let count = 0; count < failures; count += 1) health.failed((now += 1), (now += 1));
    return { health, now };
  };

  it('allows one attempt at first, and twice as many after each success', () => {
    const health = new ReceiverHealth(8, false);
    const allowed = [health.atOnce];
    for (let count = 0; count < 4; count += 1) {
      health.succeeded();
      allowed.push(health.atOnce);
    }
    expect(allowed).toEqual([1, 2, 4, 8, 8]);
  });

  it('halves them after a failure, and needs no rest for two', () => {
    const { health, now } = failing(2);
    expect([health.atOnce, health.failing, health.restMs(now)]).toEqual([2, true, 0]);
    health.succeeded();
    expect([health.atOnce, health.failing]).toEqual([4, false]);
  });

  it('allows a single probe after three, with rests that grow to a minute', () => {
    const rests = Array.from({ length: 9 }, (_, index) => {
      const { health, now } = failing(index + 3);
      expect(health.atOnce).toBe(1);
      return health.restMs(now);
    });
    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('lets a URL that has never accepted anything have eight requests in the first minute', () => {
    const health = new ReceiverHealth(8, false);
    let requests = 0;
    for (let now = 0; now < 60_000; now += health.restMs(now)) {
      expect(health.atOnce).toBe(1);
      health.failed(now, now);
      requests += 1;
    }
    expect(requests).toBe(8);
  });

  it('counts attempts that were under way together as one failure', () => {
    const health = new ReceiverHealth(8, false);
    for (let count = 0; count < 3; count += 1) health.succeeded();
    for (let count = 0; count < 8; count += 1) health.failed(0, 15_000 + count);
    expect([health.atOnce, health.restMs(15_010)]).toEqual([4, 0]);
  });

  it('rests after the first failure of a URL that is known to fail', () => {
    const health = new ReceiverHealth(8, true);
    expect([health.failing, health.restMs(0)]).toEqual([true, 0]);
    health.failed(0, 1);
    expect(health.restMs(1)).toBe(1_000);
    health.succeeded();
    expect([health.failing, health.restMs(1)]).toEqual([false, 0]);
  });

  it('is slow while three of its last five attempts were late', () => {
    const health = new ReceiverHealth(8, false);
    const slow = [true, true, false, true, false, false, true, false, false, false].map((late) => {
      health.took(late);
      return health.slow;
    });
    expect(slow).toEqual([false, false, false, true, true, false, false, false, false, false]);
  });
});
