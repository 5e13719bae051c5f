import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { grouped } from '../../src/format/address.ts';
import { accentOf } from '../../src/format/color.ts';
import { formatAmount, formatTime, solOf } from '../../src/format/money.ts';

describe('amounts', () => {
  it('are written as the language does, in Latin digits', () => {
    expect(formatAmount('1234567.5', 'en')).toBe('1,234,567.50');
    expect(formatAmount('1234567.5', 'de')).toBe('1.234.567,50');
    expect(formatAmount('12.345678', 'ar')).toMatch(/^12[.,٫]345678$/);
    expect(formatAmount('0.000001', 'ja')).toBe('0.000001');
  });

  it('keep every digit, which floats would not', () => {
    expect(formatAmount('18446744073709.551615', 'en')).toBe('18,446,744,073,709.551615');
  });

  it('count lamports without floats', () => {
    expect(solOf(5_000)).toBe('0.000005');
    expect(solOf(2_039_280)).toBe('0.00203928');
    expect(solOf(1_000_000_000)).toBe('1');
  });

  it('show the time that is left in minutes and seconds', () => {
    expect([299_001, 61_000, 59_999, 0].map((ms) => formatTime(ms, 'en'))).toEqual(['5:00', '1:01', '1:00', '0:00']);
  });
});

describe('addresses', () => {
  it('are shown whole, in groups', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^(0x)?[0-9a-zA-Z]{1,90}$/), (address) => {
        expect(grouped(address).join('')).toBe(address);
      }),
    );
    expect(grouped('0x036CbD53842c54')).toEqual(['0x036C', 'bD53', '842c', '54']);
  });
});

describe("the merchant's color", () => {
  const luminance = (color: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (a: string, b: string): number => {
    const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (lighter + 0.05) / (darker + 0.05);
  };

  it('can be read on the page and written on, whatever it is', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^#[0-9a-f]{6}$/), (color) => {
        const { light, onLight, dark, onDark } = accentOf(color);
        for (const [a, b] of [
          [light, '#ffffff'],
          [light, onLight],
          [dark, '#15181e'],
          [dark, onDark],
        ] as const)
          expect(contrast(a, b)).toBeGreaterThanOrEqual(4.5);
      }),
      { numRuns: 500 },
    );
  });

  it('stays as it is where it can', () => {
    expect(accentOf('#1d4ed8').light).toBe('#1d4ed8');
    expect(accentOf('url(x)')).toEqual(accentOf(null));
  });
});
