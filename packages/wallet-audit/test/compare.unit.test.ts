import { describe, expect, it } from '@jest/globals';
import type { Moved } from '@pf/chains';
import type { ToldTransfer } from '@pf/database';
import type { Address, TokenAddress, TransactionHash } from '@pf/domain';
import { compare } from '../src/compare.ts';

const USDC = '0xusdc' as TokenAddress;
const PAYER = '0xpayer' as Address;

const moved = (hash: string, came: bigint, went = 0n, more: Partial<Moved> = {}): Moved => ({
  hash: hash as TransactionHash,
  block: 7n,
  tokenAddress: USDC,
  came,
  went,
  from: PAYER,
  ...more,
});
/** @param index null: what is stored does not say where the transfer is */
const told = (
  kind: ToldTransfer['kind'],
  hash: string,
  amount: bigint,
  index: string | null = '1',
  more: Partial<ToldTransfer> = {},
): ToldTransfer => ({
  kind,
  toldBy: `${kind}_${hash}`,
  hash: hash as TransactionHash,
  place: index === null ? null : { index, block: 7n },
  tokenAddress: USDC,
  amount,
  from: PAYER,
  isClaimed: false,
  toldAt: 0,
  ...more,
});

describe('compare', () => {
  it('agrees where the ledger tells of each transfer, whatever tells it', () => {
    const { sums, differences } = compare(
      [moved('a', 10n), moved('b', 10n), moved('c', 3n), moved('d', 5n), moved('e', 0n, 4n)],
      [
        told('settlement', 'a', 10n),
        told('extra', 'b', 10n),
        told('mismatched', 'c', 3n, null),
        told('deposit', 'd', 5n),
      ],
    );
    expect(differences).toEqual([]);
    expect(sums.get(USDC)).toEqual({
      came: 28n,
      went: 4n,
      told: { settlement: 10n, extra: 10n, mismatched: 3n, deposit: 5n },
      difference: 0n,
    });
  });

  it('finds what the ledger lacks, to the unit, with its sender', () => {
    const { sums, differences } = compare([moved('a', 10n), moved('b', 5n)], [told('settlement', 'a', 9n)]);
    expect(sums.get(USDC)?.difference).toBe(-6n);
    expect(differences).toEqual([
      {
        kind: 'missing',
        tokenAddress: USDC,
        hash: 'a',
        block: 7n,
        arrived: 10n,
        told: 9n,
        sender: PAYER,
        toldBy: ['settlement_a'],
      },
      expect.objectContaining({ kind: 'missing', hash: 'b', arrived: 5n, told: 0n, toldBy: [] }),
    ]);
  });

  it('finds what the ledger has beyond the chain, after all that the chain has', () => {
    const { sums, differences } = compare(
      [moved('b', 5n, 0n, { block: 9n }), moved('a', 1n)],
      [told('deposit', 'gone', 4n), told('deposit', 'b', 6n), told('deposit', 'a', 2n)],
    );
    expect(sums.get(USDC)?.difference).toBe(6n);
    expect(differences.map(({ kind, hash, block }) => [kind, hash, block])).toEqual([
      ['beyond', 'a', 7n],
      ['beyond', 'b', 9n],
      ['beyond', 'gone', null],
    ]);
  });

  it('does not let one transaction make up for another', () => {
    const { sums, differences } = compare([moved('a', 10n), moved('b', 10n)], [told('deposit', 'a', 20n)]);
    expect(sums.get(USDC)?.difference).toBe(0n);
    expect(differences.map(({ kind }) => kind)).toEqual(['beyond', 'missing']);
  });

  it('keeps tokens apart', () => {
    const eurc = '0xeurc' as TokenAddress;
    const { sums, differences } = compare(
      [moved('a', 10n), moved('a', 2n, 0n, { tokenAddress: eurc })],
      [told('deposit', 'a', 12n)],
    );
    expect([...sums].map(([token, { difference }]) => [token, difference])).toEqual([
      [USDC, 2n],
      [eurc, -2n],
    ]);
    expect(differences).toHaveLength(2);
  });

  it('counts a transfer once that is a deposit of two accounts', () => {
    const deposits = [told('deposit', 'a', 5n), told('deposit', 'a', 5n, '1', { toldBy: 'dp_other' })];
    expect(compare([moved('a', 5n)], deposits).differences).toEqual([]);
  });

  it('counts two transfers of one transaction', () => {
    const both = [told('settlement', 'a', 5n, '1'), told('deposit', 'a', 5n, '2')];
    expect(compare([moved('a', 10n)], both).differences).toEqual([]);
    expect(compare([moved('a', 5n)], both).differences).toMatchObject([{ kind: 'beyond', arrived: 5n, told: 10n }]);
  });

  it('counts a mismatched payment once that settles another intent', () => {
    const rows = [told('settlement', 'a', 5n), told('mismatched', 'a', 5n, null)];
    const { sums, differences } = compare([moved('a', 5n)], rows);
    expect(differences).toEqual([]);
    expect(sums.get(USDC)?.told).toMatchObject({ settlement: 5n, mismatched: 0n });
  });

  it('counts a mismatched payment that is as much as another transfer of its transaction', () => {
    const rows = [told('settlement', 'a', 5n), told('mismatched', 'a', 5n, null)];
    expect(compare([moved('a', 10n)], rows).sums.get(USDC)?.told).toMatchObject({ settlement: 5n, mismatched: 5n });
  });

  it('counts what two intents claim as far as the chain has it, and no claim beyond that', () => {
    const claims = [1, 2].map((n) =>
      told('mismatched', 'a', 5n, null, { isClaimed: true, toldBy: `pi_${n}`, from: null }),
    );
    expect(compare([moved('a', 5n)], claims).differences).toEqual([]);
    expect(compare([], claims).sums.get(USDC)?.told.mismatched).toBe(0n);
  });

  it('takes what came and left in one transaction as the ledger has it: all, what was kept, or between', () => {
    for (const amount of [4n, 7n, 10n]) {
      const { sums, differences } = compare([moved('a', 10n, 6n)], [told('deposit', 'a', amount)]);
      expect(differences).toEqual([]);
      expect(sums.get(USDC)).toMatchObject({ came: amount, went: amount - 4n, difference: 0n });
    }
    expect(compare([moved('a', 10n, 6n)], []).differences).toMatchObject([{ kind: 'missing', arrived: 4n }]);
    expect(compare([moved('a', 10n, 6n)], [told('deposit', 'a', 11n)]).differences).toMatchObject([
      { kind: 'beyond', arrived: 10n },
    ]);
    expect(compare([moved('a', 10n, 10n)], []).differences).toEqual([]);
  });

  it('has no token where nothing moved', () => {
    expect(compare([], [])).toEqual({ sums: new Map(), differences: [] });
  });
});
