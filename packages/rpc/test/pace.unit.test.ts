import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pauseInData, pauseInHeaders } from '../src/asked-pause.ts';
import { LEARNED_MS, Pace } from '../src/pace.ts';
import type { Work } from '../src/work.ts';

const work = (change: Partial<Work> = {}): Work => ({ deadline: 1e9, canMoveOn: false, isUrgent: false, ...change });

/** So many calls without a price. */
const free = (calls: number): readonly number[] => Array.from({ length: calls }, () => 0);

describe('Pace', () => {
  beforeEach(() => void jest.useFakeTimers({ now: 0 }));
  afterEach(() => void jest.useRealTimers());

  /** When each of these requests, all begun now, had its turn. */
  async function turnsOf(pace: Pace, requests: readonly number[], of = work()): Promise<readonly number[]> {
    const turns: number[] = [];
    const all = requests.map(async (calls) => {
      if (await pace.take(free(calls), of)) turns.push(performance.now());
    });
    await jest.advanceTimersByTimeAsync(100_000);
    await Promise.all(all);
    return turns;
  }

  it.each([1, 5, 10, 45, 120])('lets no more than %p calls pass in any second', async (rate) => {
    const pace = new Pace({ callsPerSecond: rate });
    const atOnce = pace.most(free(1_000));
    const turns = await turnsOf(
      pace,
      Array.from({ length: 40 }, () => atOnce),
    );
    const calls = turns.map((from) => turns.filter((at) => at >= from && at < from + 1_000).length * atOnce);
    expect(Math.max(...calls)).toBeLessThanOrEqual(Math.max(rate, atOnce));
    expect(turns).toHaveLength(40);
  });

  it('counts calls by their credits where a plan has a budget of them', async () => {
    const pace = new Pace({ creditsPerSecond: 500 });
    expect(pace.most(Array.from({ length: 100 }, () => 20))).toBe(5);
    // A single call may cost more than a second's budget.
    expect(pace.most([1_000, 1_000])).toBe(1);
    expect(await pace.take([60], work())).toBe(true);
    expect(await pace.take([60], work({ deadline: 100 }))).toBe(false);
    await jest.advanceTimersByTimeAsync(160);
    expect(await pace.take([60], work({ deadline: performance.now() }))).toBe(true);
  });

  it('lets as many calls pass as there are where no limit is known', async () => {
    const pace = new Pace();
    expect(new Set(await turnsOf(pace, [100, 100, 100]))).toEqual(new Set([0]));
    expect(pace.most(free(1_000))).toBe(1_000);
  });

  it('tells how many calls have their turn within a time, at least one', () => {
    expect(new Pace({ callsPerSecond: 4 }).callsIn(4_000, 0)).toBe(12);
    expect(new Pace({ creditsPerSecond: 500 }).callsIn(4_000, 40)).toBe(37);
    expect(new Pace({ callsPerSecond: 1 / 60 }).callsIn(4_000, 0)).toBe(1);
    expect(new Pace().callsIn(4_000, 40)).toBe(Number.POSITIVE_INFINITY);
  });

  it('does not wait longer than the work may, nor keep the turn', async () => {
    const pace = new Pace({ callsPerSecond: 1 });
    expect(await pace.take(free(10), work())).toBe(true);
    expect(await pace.take(free(10), work({ deadline: 5_000 }))).toBe(false);
    expect(await turnsOf(pace, [1], work({ deadline: 15_000 }))).toHaveLength(1);
  });

  it('finishes some work in time where it cannot finish all: the oldest goes first', async () => {
    const pace = new Pace({ callsPerSecond: 5 });
    const finished: number[] = [];
    async function request(number: number): Promise<void> {
      const of = work({ deadline: 6_000 + number });
      for (let part = 0; part < 4; part++) if (!(await pace.take(free(2), of))) return;
      finished.push(number);
    }
    const all = Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(request));
    await jest.advanceTimersByTimeAsync(7_000);
    await all;
    expect(finished).toEqual([0, 1, 2]);
  });

  it('turns work away at once whose turn older work has taken', async () => {
    const pace = new Pace({ callsPerSecond: 1 });
    await pace.take(free(1), work());
    const newer = pace.take(free(1), work({ deadline: 2_000 }));
    const older = pace.take(free(1), work({ deadline: 1_900 }));
    expect(await newer).toBe(false);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await older).toBe(true);
  });

  it('lets urgent work go before the calls that wait', async () => {
    const pace = new Pace({ callsPerSecond: 1 });
    await pace.take(free(10), work());
    expect(await pace.take(free(1), work({ isUrgent: true, deadline: 0 }))).toBe(true);
  });

  it('pauses for as long as it is asked, or twice as long after each refusal, and a minute at most', async () => {
    const pace = new Pace();
    jest.spyOn(Math, 'random').mockReturnValue(0);
    expect(pace.refused(7_000)).toBe(7_000);
    expect(pace.refused(null)).toBeNull();
    for (const ms of [1_000, 2_000, 4_000]) {
      jest.advanceTimersByTime(60_000);
      expect(pace.refused(null)).toBe(ms);
    }
    jest.advanceTimersByTime(60_000);
    expect(pace.refused(86_400_000)).toBe(60_000);
    jest.advanceTimersByTime(60_000);
    pace.passed(1);
    expect(pace.refused(null)).toBe(500);
    expect(await turnsOf(pace, [1], work({ canMoveOn: true }))).toEqual([]);
  });

  it('learns the rate from what passed, goes slower after each refusal, slowly faster, and forgets it', () => {
    const pace = new Pace();
    pace.passed(45);
    pace.refused(null);
    expect(pace.rate).toBe(45);
    jest.advanceTimersByTime(2_000);
    pace.refused(null);
    expect(pace.rate).toBe(45 * 0.75);
    jest.advanceTimersByTime(10_000);
    pace.passed(1);
    expect(pace.rate).toBeGreaterThan(45 * 0.75);
    expect(pace.rate).toBeLessThan(36);
    jest.advanceTimersByTime(LEARNED_MS);
    expect(pace.rate).toBe(Number.POSITIVE_INFINITY);
  });

  it('never goes faster than the configured rate', () => {
    const pace = new Pace({ callsPerSecond: 10 });
    pace.refused(null);
    expect(pace.rate).toBe(7.5);
    for (let second = 0; second < 100; second++) {
      jest.advanceTimersByTime(1_000);
      pace.passed(1);
    }
    expect(pace.rate).toBe(10);
  });
});

describe('the pause that a provider asks for', () => {
  const now = Date.parse('2026-11-23T12:00:00Z');
  it.each<readonly [Record<string, string>, number | null]>([
    [{ 'retry-after': '12' }, 12_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Mon, 23 Nov 2026 12:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Mon, 23 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, null],
    [{ 'x-ratelimit-reset': '3' }, 3_000],
    [{ 'ratelimit-reset': String(now / 1_000 + 9) }, 9_000],
    [{ 'x-ratelimit-reset': String(now + 4_000) }, 4_000],
    [{ 'x-ratelimit-reset': 'never' }, null],
    [{}, null],
  ])('is, by the headers %p, %p ms', (headers, ms) => {
    expect(pauseInHeaders(headers, now)).toBe(ms);
  });

  it.each<readonly [unknown, number | null]>([
    [{ backoff_seconds: 30 }, 30_000],
    [{ rate: { allowed_rps: 1, backoff_seconds: 2 } }, 2_000],
    [{ backoff_seconds: -1 }, null],
    ['0x08c379a0', null],
    [undefined, null],
  ])('is, by the data %p of an error, %p ms', (data, ms) => {
    expect(pauseInData(data)).toBe(ms);
  });
});
