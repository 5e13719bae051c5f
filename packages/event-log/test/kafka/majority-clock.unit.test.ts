import { describe, expect, it } from '@jest/globals';
import { type LogSink, SILENT } from '../../src/index.ts';
import { MajorityClock } from '../../src/kafka/majority-clock.ts';

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;

/** Brokers by what their clocks show, relative to NOW; null for one that does not respond. */
const brokers = (...leads: readonly (number | null)[]): ReadonlyMap<string, () => Promise<number>> =>
  new Map(
    leads.map((lead, index) => [
      String(index + 1),
      async () => {
        if (lead === null) throw new Error('no response');
        return NOW + lead;
      },
    ]),
  );

describe('The clock of several brokers', () => {
  it.each([
    ['that of a single one', [5], 5],
    ['that of two', [1, 0], 1],
    ['that of two of three, where the third is fast', [HOUR_MS, 0, 1], 1],
    ['that of two of three, where the third is slow', [0, -HOUR_MS, 1], 1],
    ['that of two of three, where the third does not respond', [0, 1, null], 1],
    ['that of three of five', [HOUR_MS, 0, 1, -HOUR_MS, 2], 1],
  ])('shows %s', async (_what, leads, lead) => {
    expect(await new MajorityClock(SILENT).read(brokers(...leads))).toBe(NOW + lead);
  });

  it.each([
    ['none responds', [null, null, null]],
    ['one of three responds', [0, null, null]],
    ['one of two responds', [0, null]],
    ['two of two disagree', [0, 2_001]],
    ['one of three does not respond and the others disagree', [0, HOUR_MS, null]],
    ['all three disagree', [0, 3_000, 6_000]],
    ['two of four agree', [0, 0, HOUR_MS, -HOUR_MS]],
  ])('cannot be read where %s', async (_when, leads) => {
    await expect(new MajorityClock(SILENT).read(brokers(...leads))).rejects.toThrow(
      `No majority of ${leads.length} brokers agrees on the time`,
    );
  });

  it('does not wait for a broker that hangs', async () => {
    const hanging = new Map([...brokers(0, 1), ['3', () => new Promise<number>(() => undefined)] as const]);
    expect(await new MajorityClock(SILENT).read(hanging)).toBe(NOW + 1);
  });

  it('raises one alarm each time a broker becomes wrong, with its id', async () => {
    const alarms: object[] = [];
    const log: LogSink = { ...SILENT, error: (fields) => void alarms.push(fields) };
    const clock = new MajorityClock(log);
    const read = async (...leads: readonly number[]): Promise<void> => {
      await clock.read(brokers(...leads));
      // The other brokers are compared once all have responded.
      await new Promise((resolve) => setImmediate(resolve));
    };
    await read(0, 0, 0);
    await read(0, HOUR_MS, 0);
    await read(0, HOUR_MS, 1);
    await read(0, 1, 1);
    await read(0, 0, -HOUR_MS);
    const aheadMs = expect.any(Number);
    expect(alarms).toEqual([
      { broker: '2', aheadMs, alarm: 'wrong_clock', runbook: 'docs/operations/runbooks/wrong-clock.md' },
      { broker: '3', aheadMs, alarm: 'wrong_clock', runbook: 'docs/operations/runbooks/wrong-clock.md' },
    ]);
  });
});
