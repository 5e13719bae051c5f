import { describe, expect, it } from '@jest/globals';
import { worthOf } from '@pf/domain';
import fc from 'fast-check';

const claim = (amount: bigint) => ({ amount, isClaimed: true });
const other = (amount: bigint) => ({ amount, isClaimed: false });
const worth = (credits: readonly ReturnType<typeof claim>[], debited: bigint, gained: bigint): readonly bigint[] => [
  ...worthOf({ credits, debited, gained }).values(),
];

describe('worthOf', () => {
  it('counts a payment in full that has arrived', () => {
    expect(worth([claim(5n)], 0n, 5n)).toEqual([5n]);
  });

  it('counts several payments in full that have arrived', () => {
    expect(worth([claim(5n), claim(7n), other(3n)], 0n, 15n)).toEqual([5n, 7n]);
  });

  it('counts nothing that went back', () => {
    expect(worth([claim(250n), other(1n)], 250n, 1n)).toEqual([0n]);
  });

  it('counts one amount once that went round three times', () => {
    expect(worth([claim(100n), claim(100n), claim(100n)], 200n, 100n)).toEqual([33n, 33n, 34n]);
  });

  it('lets each payment bear its part of a fee that the token withholds', () => {
    expect(worth([claim(100n), claim(300n)], 0n, 396n)).toEqual([99n, 297n]);
  });

  it('gives to no claim what no transfer explains', () => {
    expect(worth([claim(100n)], 100n, 100n)).toEqual([0n]);
  });

  it('gives to no claim what another transfer has brought', () => {
    expect(worth([claim(100n), other(100n)], 0n, 100n)).toEqual([0n]);
  });

  it('counts nothing where the requestor has less than before', () => {
    expect(worth([claim(10n)], 500n, -490n)).toEqual([0n]);
  });

  it('never counts more than was gained, and all of it where every transfer has arrived', () => {
    const amount = fc.bigInt(0n, 1_000n);
    const credits = fc.array(fc.record({ amount, isClaimed: fc.boolean() }), { maxLength: 8 });
    fc.assert(
      fc.property(credits, amount, fc.bigInt(-1_000n, 9_000n), (all, debited, gained) => {
        const worths = worthOf({ credits: all, debited, gained });
        const sum = [...worths.values()].reduce((units, one) => units + one, 0n);
        expect(sum <= (gained > 0n ? gained : 0n)).toBe(true);
        for (const [credit, units] of worths) expect(units >= 0n && units <= credit.amount).toBe(true);
        const credited = all.reduce((units, one) => units + one.amount, 0n);
        const honest = worthOf({ credits: all, debited: 0n, gained: credited });
        for (const [credit, units] of honest) expect(units).toBe(credit.amount);
      }),
    );
  });
});
