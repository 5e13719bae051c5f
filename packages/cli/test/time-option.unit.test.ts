import { afterEach, describe, expect, it } from '@jest/globals';
import { timeOf } from '../src/time-option.ts';

const { TZ } = process.env;

describe('a time as the value of an option', () => {
  afterEach(() => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });

  it.each([
    ['2026-11-26', '2026-11-26T00:00:00.000Z'],
    ['2026-11-26 20:58:30', '2026-11-26T20:58:30.000Z'],
    ['2026-11-26 20:58:30.123456', '2026-11-26T20:58:30.123Z'],
    ['2026-11-26 20:58:30 UTC', '2026-11-26T20:58:30.000Z'],
    ['2026-11-26T20:58', '2026-11-26T20:58:00.000Z'],
    ['2026-11-26t20:58:30z', '2026-11-26T20:58:30.000Z'],
    ['2026-11-26T20:58:30+01:00', '2026-11-26T19:58:30.000Z'],
    ['2026-11-26 20:58:30-0500', '2026-11-27T01:58:30.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('is in UTC, wherever it is written: %s', (text, expected) => {
    process.env['TZ'] = 'America/New_York';
    expect(timeOf(text).toISOString()).toBe(expected);
  });

  it.each([
    'yesterday',
    '',
    '2026',
    '2026-11',
    'Nov 26 2026',
    '11/26/2026',
    '2026-11-26 8:30',
    '2026-11-26T25:00:00Z',
    '2026-02-30',
    '2026-11-26 20:58:30 CET',
    '2026-11-26 20:58:30 Z Z',
  ])('is refused where it does not tell the moment: "%s"', (text) => {
    expect(() => timeOf(text)).toThrow('Write it in UTC: 2026-11-23 or 2026-11-23T12:00:00Z.');
  });
});
