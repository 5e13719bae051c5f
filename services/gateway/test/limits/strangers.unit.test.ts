import { describe, expect, it } from '@jest/globals';
import { STRANGER_QUOTA } from '@pf/contracts';
import { Strangers } from '../../src/limits/strangers.ts';

/** How many requests are admitted of these addresses, one after the other, while no time passes. */
function admitted(ipOf: (n: number) => string, strangers = new Strangers(1, () => 0)): number {
  for (let n = 0; ; n++) {
    try {
      strangers.admit(ipOf(n));
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limit.exceeded', status: 429 });
      return n;
    }
  }
}

describe('Strangers', () => {
  const { requests } = STRANGER_QUOTA;
  const inSite = (n: number): string => `2001:db8:1:${n.toString(16)}::1`;

  it('admits as many requests of an address as its quota, and those of others', () => {
    const strangers = new Strangers(1, () => 0);
    expect(admitted(() => '192.0.2.1', strangers)).toBe(requests);
    expect(admitted(() => '192.0.2.2', strangers)).toBe(requests);
  });

  it('admits of all networks of a /48 what 16 addresses may', () => {
    const strangers = new Strangers(1, () => 0);
    expect(admitted((n) => inSite(n % 500), strangers)).toBe(requests * 16);
    expect(() => strangers.admit('2001:db8:2::1')).not.toThrow();
  });

  it('uncounts a request for the address and its /48', () => {
    const strangers = new Strangers(1 / requests, () => 0);
    for (let n = 0; n < 100; n++) {
      strangers.admit(inSite(n));
      strangers.acquit(inSite(n));
    }
    expect(() => strangers.admit(inSite(0))).not.toThrow();
  });
});
