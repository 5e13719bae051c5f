import { describe, expect, it } from '@jest/globals';
import type { Address } from '@pf/domain';
import fc from 'fast-check';
import { paidIn, type TokenTransfer } from '../../src/base/paid.ts';

const [PAYER, MERCHANT, OTHER] = ['payer', 'merchant', 'other'] as const;
const [USDC, EURC] = ['USDC', 'EURC'] as const;
type Move = readonly [from: string, to: string, amount: bigint, token?: string];

const logged = (moves: readonly Move[]): readonly TokenTransfer[] =>
  moves.map(([from, to, amount, token = USDC], index) => ({
    from: from as Address,
    to: to as Address,
    amount,
    log: { address: token as Address, logIndex: BigInt(index) },
  }));
/** What the transfers are worth of which these indexes are claimed. */
const worth = (moves: readonly Move[], ...claimed: readonly number[]): readonly (bigint | undefined)[] => {
  const paid = paidIn(logged(moves), ({ log }) => claimed.includes(Number(log.logIndex)));
  return claimed.map((index) => paid.get(BigInt(index)));
};

describe('what a transaction has paid', () => {
  it('is the amount of an honest transfer', () => {
    expect(worth([[PAYER, MERCHANT, 5n]], 0)).toEqual([5n]);
  });

  it('is each amount of several, beside other transfers to the same account', () => {
    expect(
      worth(
        [
          [PAYER, MERCHANT, 5n],
          [OTHER, MERCHANT, 3n],
          [PAYER, MERCHANT, 7n],
        ],
        0,
        2,
      ),
    ).toEqual([5n, 7n]);
  });

  it('is nothing where the money goes back', () => {
    expect(
      worth(
        [
          [PAYER, MERCHANT, 5n],
          [MERCHANT, PAYER, 5n],
        ],
        0,
      ),
    ).toEqual([0n]);
  });

  it('is one amount where one amount goes round for three intents', () => {
    const round: readonly Move[] = [
      [PAYER, MERCHANT, 100n],
      [MERCHANT, PAYER, 100n],
      [PAYER, MERCHANT, 100n],
      [MERCHANT, PAYER, 100n],
      [PAYER, MERCHANT, 100n],
    ];
    const [first = 0n, second = 0n, third = 0n] = worth(round, 0, 2, 4);
    expect(first + second + third).toBe(100n);
  });

  it('is less by what goes on to another account', () => {
    expect(
      worth(
        [
          [PAYER, MERCHANT, 5n],
          [MERCHANT, OTHER, 2n],
        ],
        0,
      ),
    ).toEqual([3n]);
  });

  it('is not made good by another token, nor by what was there before', () => {
    const twoTokens: readonly Move[] = [
      [PAYER, MERCHANT, 5n],
      [MERCHANT, PAYER, 5n],
      [PAYER, MERCHANT, 9n, EURC],
    ];
    expect(worth(twoTokens, 0, 2)).toEqual([0n, 9n]);
    expect(
      worth(
        [
          [MERCHANT, PAYER, 9n],
          [PAYER, MERCHANT, 5n],
        ],
        1,
      ),
    ).toEqual([0n]);
  });

  it('is nothing where an account pays itself', () => {
    expect(worth([[MERCHANT, MERCHANT, 5n]], 0)).toEqual([undefined]);
    expect(
      worth(
        [
          [MERCHANT, MERCHANT, 5n],
          [PAYER, MERCHANT, 2n],
        ],
        1,
      ),
    ).toEqual([2n]);
  });

  it('counts a log once, however often a node repeats it', () => {
    const [paid, back] = logged([
      [PAYER, MERCHANT, 5n],
      [MERCHANT, PAYER, 5n],
    ]);
    if (paid === undefined || back === undefined) throw new Error('there are two');
    expect(paidIn([paid, paid, back], () => true).get(0n)).toBe(0n);
  });

  it('is together never more than each account has gained, and all of it where nothing leaves', () => {
    const party = fc.constantFrom(PAYER, MERCHANT, OTHER);
    const move = fc.tuple(party, party, fc.bigInt({ min: 0n, max: 1_000n }), fc.constantFrom(USDC, EURC));
    fc.assert(
      fc.property(fc.array(move, { maxLength: 12 }), fc.nat(), (moves, claims) => {
        const isClaimed = ({ log }: TokenTransfer): boolean => ((claims >> Number(log.logIndex)) & 1) === 1;
        const transfers = logged(moves);
        const paid = paidIn(transfers, isClaimed);
        for (const token of [USDC, EURC])
          for (const account of [PAYER, MERCHANT, OTHER]) {
            const of = transfers.filter((one) => (one.log.address as string) === token && one.from !== one.to);
            const sum = (some: readonly TokenTransfer[]): bigint => some.reduce((all, one) => all + one.amount, 0n);
            const into = of.filter(({ to }) => to === account);
            const out = of.filter(({ from }) => from === account);
            const claimed = into.filter(isClaimed);
            const counted = claimed.reduce((all, { log }) => all + (paid.get(log.logIndex) ?? 0n), 0n);
            const gained = sum(into) - sum(out);
            expect(counted <= (gained > 0n ? gained : 0n)).toBe(true);
            if (out.length === 0) expect(counted).toBe(sum(claimed));
          }
      }),
      { numRuns: 2_000 },
    );
  });
});
