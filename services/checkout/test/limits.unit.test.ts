import { afterEach, describe, expect, it } from '@jest/globals';
import { ApiError } from '@pf/http';
import { Limits } from '../src/limits.ts';

describe('the places of the checkout', () => {
  let limits = new Limits();
  afterEach(() => {
    limits = new Limits();
  });
  type Kind = Parameters<Limits['begin']>[2];

  /** @returns what gives the place back, or the code of the refusal */
  const take = (what: Kind, ip: string, owner: string): Promise<(() => void) | string> =>
    limits
      .begin(ip, () => Promise.resolve(owner), what)
      .catch((error: unknown) => {
        if (error instanceof ApiError) return error.code;
        throw error;
      });
  /** @returns how many have a place of those that addresses ask for, with the payments of merchants in turn */
  async function fill(
    what: Kind,
    { addresses, merchants, each }: { readonly addresses: number; readonly merchants: number; readonly each: number },
  ): Promise<number> {
    let held = 0;
    for (let address = 0; address < addresses; address++)
      for (let n = 0; n < each; n++)
        held += typeof (await take(what, `192.0.2.${address}`, `merchant ${n % merchants}`)) === 'function' ? 1 : 0;
    return held;
  }

  it('have room for looks at payments while builds hang at the sponsors of other merchants', async () => {
    // Three accounts whose sponsors hang, and five addresses, each with all that it may have.
    expect(await fill('builds', { addresses: 5, merchants: 3, each: 32 })).toBe(24);
    expect(await take('requests', '192.0.2.1', 'merchant 0')).toBeInstanceOf(Function);
    expect(await take('requests', '198.51.100.1', 'another')).toBeInstanceOf(Function);
    expect(await take('builds', '198.51.100.1', 'another')).toBeInstanceOf(Function);
  });

  it.each([
    ['requests', 4, 32, 128],
    ['builds', 4, 16, 64],
    ['submits', 4, 16, 64],
    ['streams', 20, 100, 2_000],
  ] as const)(
    'have a reserve of %s for an address and a merchant with nothing under way',
    async (what, addresses, each, capacity) => {
      expect(await fill(what, { addresses, merchants: 16, each })).toBe(capacity);
      const release = await take(what, '198.51.100.1', 'another');
      expect(release).toBeInstanceOf(Function);
      expect(await take(what, '198.51.100.1', 'a third')).toBe('service.unavailable');
      expect(await take(what, '198.51.100.2', 'another')).toBe('service.unavailable');
      expect(await take(what, '198.51.100.2', 'merchant 0')).toBe('service.unavailable');
      if (typeof release === 'function') release();
      expect(await take(what, '198.51.100.2', 'another')).toBeInstanceOf(Function);
    },
  );

  it('have a reserve that ends, and of which a /48 of IPv6 has one place', async () => {
    expect(await fill('requests', { addresses: 4, merchants: 16, each: 32 })).toBe(128);
    expect(await take('requests', '2001:db8:1:1::1', 'one of a site')).toBeInstanceOf(Function);
    expect(await take('requests', '2001:db8:1:2::1', 'two of a site')).toBe('service.unavailable');
    for (let n = 1; n < 32; n++)
      expect(await take('requests', `198.51.100.${n}`, `another ${n}`)).toBeInstanceOf(Function);
    expect(await take('requests', '203.0.113.1', 'the last')).toBe('service.unavailable');
  });

  it('are given back where the merchant of a payment cannot be found out', async () => {
    expect(await fill('requests', { addresses: 4, merchants: 16, each: 32 })).toBe(128);
    const failed = limits.begin('198.51.100.1', () => Promise.reject(new Error('no database')), 'requests');
    await expect(failed).rejects.toThrow('no database');
    expect(await take('requests', '198.51.100.1', 'another')).toBeInstanceOf(Function);
  });
});
