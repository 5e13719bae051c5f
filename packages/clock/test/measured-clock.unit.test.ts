import { CLOCK_SLIP_MS, CLOCK_TOLERANCE_MS } from '@pf/domain';
import { createLogger } from '@pf/runtime';
import { describe, expect, it, jest } from '@jest/globals';
import { ClockUnprovenError } from '../src/clock.ts';
import { FakeClocks } from './fake-clocks.ts';

const HOUR_MS = 3_600_000;

describe('A measured clock', () => {
  it('proves nothing before its first measurement', () => {
    const clock = new FakeClocks().clock();
    expect(clock.standing).toBe('unproven');
    expect(clock.provenTime()).toBeNull();
    expect(() => clock.now()).toThrow(ClockUnprovenError);
  });

  it('shows the wall clock once it is proven', async () => {
    const clocks = new FakeClocks();
    clocks.wallLead = 500;
    const clock = clocks.clock();
    await clock.prove();
    expect(clock.now()).toBe(clocks.time + 500);
    const { standing, offsets } = clock.report();
    expect(standing).toBe('right');
    expect(offsets.kafka).toBeCloseTo(500, -1);
    expect(offsets.postgres).toBeCloseTo(500, -1);
  });

  it.each([HOUR_MS, -HOUR_MS, 8_000, -8_000, CLOCK_TOLERANCE_MS + 20, -CLOCK_TOLERANCE_MS - 20])(
    'is wrong if it is %i ms ahead',
    async (lead) => {
      const clocks = new FakeClocks();
      clocks.wallLead = lead;
      const clock = clocks.clock();
      await expect(clock.prove()).rejects.toThrow('not proven to be within 2000 ms of Kafka');
      expect(clock.standing).toBe('wrong');
      expect(() => clock.now()).toThrow('docs/operations/runbooks/wrong-clock.md');
    },
  );

  it.each(['kafka', 'postgres'] as const)('is wrong if only %s disagrees: one of the two clocks is', async (name) => {
    const clocks = new FakeClocks();
    clocks.references[name].lead = 8_000;
    const clock = clocks.clock();
    await expect(clock.prove()).rejects.toThrow(ClockUnprovenError);
    expect(clock.standing).toBe('wrong');
  });

  it('counts half the round trip as uncertainty: a slow network proves neither right nor wrong', async () => {
    const clocks = new FakeClocks();
    clocks.references.kafka.request = 10;
    clocks.references.kafka.response = 3_900;
    const clock = clocks.clock();
    await clock.measure();
    expect(clock.standing).toBe('unproven');
    // A slow network could explain the whole difference, so the clock is not taken for right either.
    for (const reference of Object.values(clocks.references)) reference.request = reference.response = 1_900;
    clocks.wallLead = 2_100;
    await clock.measure();
    expect(clock.standing).toBe('unproven');
  });

  it('reads a slow reference a few times, and is proven by the quickest response', async () => {
    const clocks = new FakeClocks();
    clocks.references.postgres.response = 3_900;
    const clock = clocks.clock();
    const measuring = clock.measure();
    clocks.references.postgres.response = 1;
    await measuring;
    expect(clock.standing).toBe('right');
  });

  it('is unproven from the moment of a step, and wrong when it was measured again', async () => {
    const clocks = new FakeClocks();
    const clock = clocks.clock();
    await clock.prove();
    clocks.wallLead = 8_000;
    expect(clock.provenTime()).toBeNull();
    expect(clock.standing).toBe('unproven');
    await expect(clock.prove()).rejects.toThrow(ClockUnprovenError);
    expect(clock.standing).toBe('wrong');
  });

  it('cannot slip unnoticed by more than the margin of the rebroadcast allows', async () => {
    const clocks = new FakeClocks();
    const clock = clocks.clock();
    await clock.prove();
    clocks.wallLead = CLOCK_SLIP_MS;
    expect(clock.provenTime()).toBeNull();
    clocks.wallLead = -CLOCK_SLIP_MS;
    expect(clock.provenTime()).toBeNull();
  });

  it('is right again after it was set right', async () => {
    const clocks = new FakeClocks();
    clocks.wallLead = -HOUR_MS;
    const clock = clocks.clock();
    await clock.measure();
    expect(clock.standing).toBe('wrong');
    clocks.wallLead = 0;
    await clock.prove();
    expect(clock.now()).toBe(clocks.time);
  });

  it('is measured again before it counts after the process was stopped for long', async () => {
    const clocks = new FakeClocks();
    const clock = clocks.clock();
    await clock.prove();
    clocks.time += 31_000;
    expect(clock.provenTime()).toBeNull();
    const { reads } = clocks.references.kafka;
    await clock.prove();
    expect(clocks.references.kafka.reads).toBe(reads + 1);
    // A recent proof needs no further reading.
    await clock.prove();
    expect(clocks.references.kafka.reads).toBe(reads + 1);
  });

  it('keeps a recent proof while a reference is unavailable, and no old one', async () => {
    const clocks = new FakeClocks();
    const clock = clocks.clock();
    await clock.prove();
    clocks.references.postgres.available = false;
    clocks.time += 10_000;
    await clock.measure();
    expect(clock.standing).toBe('right');
    clocks.time += 21_000;
    await expect(clock.prove()).rejects.toThrow(ClockUnprovenError);
    expect(clock.standing).toBe('unproven');
  });

  it('tells the time of its first reference, whatever its wall clock shows', async () => {
    const clocks = new FakeClocks();
    clocks.wallLead = HOUR_MS;
    clocks.references.kafka.lead = 7;
    const clock = clocks.clock();
    expect(clock.referenceTime()).toBe(clocks.time + HOUR_MS);
    await clock.measure();
    expect(clock.referenceTime() - clocks.time).toBeCloseTo(7, -1);
    clocks.wallLead = -HOUR_MS;
    clocks.time += 5_000;
    expect(clock.referenceTime() - clocks.time).toBeCloseTo(7, -1);
  });

  it('raises one alarm each time it becomes wrong, and tells its listeners of every change', async () => {
    const clocks = new FakeClocks();
    const log = createLogger('test', 'silent');
    const errors = jest.spyOn(log, 'error');
    const clock = clocks.clock({ log });
    const heard: string[] = [];
    const unlisten = clock.onChange((standing) => heard.push(standing));
    await clock.measure();
    clocks.wallLead = HOUR_MS;
    await clock.measure();
    await clock.measure();
    clocks.wallLead = 0;
    await clock.measure();
    unlisten();
    clocks.wallLead = HOUR_MS;
    await clock.measure();
    expect(heard).toEqual(['right', 'wrong', 'right']);
    expect(errors.mock.calls.map(([fields]) => fields)).toMatchObject([
      { alarm: 'wrong_clock', clock: { standing: 'wrong' } },
      { alarm: 'wrong_clock' },
    ]);
  });
});
