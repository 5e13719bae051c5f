import { describe, expect, it } from '@jest/globals';
import { READING_LIMITS } from '@pf/contracts';
import type { Holder } from '../../src/api-keys.ts';
import { Readings } from '../../src/limits/readings.ts';

const reader = (keyId: string, scope: Holder['scope'] = 'full') => ({ keyId, scope });
/** Begins readings until one is refused. @returns how many began */
const begun = (readings: Readings, begin: (n: number) => Parameters<Readings['begin']>): number => {
  for (let n = 0; ; n += 1) {
    try {
      readings.begin(...begin(n));
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limit.exceeded', status: 429, details: { retry_after: 1 } });
      return n;
    }
  }
};

describe('Readings', () => {
  it('are bounded for a key, wherever it is used', () => {
    const readings = new Readings();
    expect(begun(readings, (n) => [reader('key_1'), `198.51.100.${n}`])).toBe(READING_LIMITS.holder);
    readings.begin(reader('key_2'), '198.51.100.1');
  });

  it('are bounded for an address, whatever its keys, and for its /48', () => {
    const readings = new Readings();
    expect(begun(readings, (n) => [reader(`key_${n}`), '192.0.2.1'])).toBe(READING_LIMITS.address);
    readings.begin(reader('key_1'), '192.0.2.2');
    const site = begun(readings, (n) => [reader(`key_${n}`), `2001:db8:0:${n.toString(16)}::1`]);
    expect(site).toBe(16 * READING_LIMITS.address);
  });

  it('are bounded by address only with a key that many payers share', () => {
    const readings = new Readings();
    expect(begun(readings, () => [reader('key_1', 'payer'), '192.0.2.1'])).toBe(READING_LIMITS.address);
    readings.begin(reader('key_1', 'payer'), '192.0.2.2');
  });

  it('count for people, and not for the address of the dashboard', () => {
    const readings = new Readings();
    const person = (n: number) => ({ ...reader(`usr_${n}`), userId: `usr_${n}` });
    for (let n = 0; n < 2 * READING_LIMITS.address; n += 1) readings.begin(person(n), '192.0.2.1');
    expect(begun(readings, () => [person(1), '192.0.2.1'])).toBe(READING_LIMITS.holder - 1);
  });

  it('give their place back', () => {
    const readings = new Readings(0.01);
    readings.begin(reader('key_1'), '192.0.2.1')();
    expect(begun(readings, () => [reader('key_1'), '192.0.2.1'])).toBe(1);
  });
});
