import { describe, expect, it } from '@jest/globals';
import type { Address } from '@solana/kit';
import { paidBy } from '../../../src/solana/observe/paid.ts';
import type { Holding, Holdings, TokenTransfer } from '../../../src/solana/observe/reading.ts';

const [USDC, FAKE] = ['usdc', 'fake'] as Address[] as [Address, Address];
const [payer, merchant] = ['payer', 'merchant'] as Address[] as [Address, Address];
/** Places of accounts: the payer's, the requestor's two, one that changes hands, and a program's vault. */
const [PURSE, SHOP, SAVINGS, TAKEN, VAULT] = [1, 2, 3, 4, 5];

const held = (owner: Address, amount: bigint, mint = USDC): Holding => ({ owner, mint, amount });
const holdings = (all: Readonly<Record<number, Holding>>): Holdings =>
  new Map(Object.entries(all).map(([place, holding]) => [Number(place), holding]));
const transfer = (source: number, destination: number, amount: bigint): TokenTransfer => ({
  index: `${source} ${destination} ${amount}`,
  source,
  destination,
  authority: payer,
  amount,
  names: [],
  isProven: true,
});
/** What the claimed ones have paid, in their order. */
function paid(
  claimed: readonly TokenTransfer[],
  others: readonly TokenTransfer[],
  before: Readonly<Record<number, Holding>>,
  after: Readonly<Record<number, Holding>>,
  opaque: readonly number[] = [],
): readonly (bigint | undefined)[] {
  const worth = paidBy(
    {
      transfers: [...claimed, ...others],
      opaque: new Set(opaque),
      before: holdings(before),
      after: holdings(after),
    },
    new Set(claimed),
  );
  return claimed.map((one) => worth.get(one));
}

describe('what a transfer has paid', () => {
  it('is all that has arrived', () => {
    expect(
      paid(
        [transfer(PURSE, SHOP, 5n)],
        [],
        { [PURSE]: held(payer, 9n), [SHOP]: held(merchant, 1n) },
        { [PURSE]: held(payer, 4n), [SHOP]: held(merchant, 6n) },
      ),
    ).toEqual([5n]);
  });

  it('is nothing where it went back before the account was given away', () => {
    expect(
      paid(
        [transfer(PURSE, TAKEN, 250n)],
        [transfer(TAKEN, PURSE, 250n), transfer(PURSE, SHOP, 1n)],
        { [PURSE]: held(payer, 300n), [SHOP]: held(merchant, 0n) },
        { [PURSE]: held(payer, 299n), [SHOP]: held(merchant, 1n), [TAKEN]: held(merchant, 0n) },
      ),
    ).toEqual([0n]);
  });

  it('is nothing where it went in a way that no transfer shows', () => {
    expect(
      paid([transfer(PURSE, TAKEN, 250n)], [], { [PURSE]: held(payer, 300n) }, { [TAKEN]: held(merchant, 0n) }),
    ).toEqual([0n]);
  });

  it('is nothing of another token, in an account that was of the right one before', () => {
    const fake = held(merchant, 250n, FAKE);
    expect(
      paid(
        [transfer(TAKEN, SAVINGS, 250n)],
        [],
        { [TAKEN]: held(payer, 0n) },
        { [TAKEN]: held(payer, 0n, FAKE), [SAVINGS]: fake },
      ),
    ).toEqual([250n]);
    // The token is that of the credited account: whoever asks has it from there.
    expect(fake.mint).toBe(FAKE);
  });

  it('takes nothing of what another account of the owner gained', () => {
    // Credited while it was of a worthless token, made again and given away, while a program pays the owner.
    expect(
      paid(
        [transfer(PURSE, TAKEN, 5n)],
        [],
        { [TAKEN]: held(payer, 0n, FAKE), [SHOP]: held(merchant, 0n) },
        { [TAKEN]: held(merchant, 0n), [SHOP]: held(merchant, 5n) },
      ),
    ).toEqual([0n]);
  });

  it('counts all of an account that was of another owner or token before as new', () => {
    const after = { [PURSE]: held(payer, 0n), [TAKEN]: held(merchant, 105n) };
    expect(paid([transfer(PURSE, TAKEN, 5n)], [], { [TAKEN]: held(payer, 100n) }, after)).toEqual([5n]);
    expect(paid([transfer(PURSE, TAKEN, 5n)], [], { [TAKEN]: held(merchant, 100n) }, after)).toEqual([5n]);
    const moved = { [PURSE]: held(payer, 0n), [TAKEN]: held(merchant, 100n) };
    expect(paid([transfer(PURSE, TAKEN, 5n)], [], { [TAKEN]: held(payer, 100n) }, moved)).toEqual([5n]);
    // What was the owner's before is no gain.
    expect(paid([transfer(PURSE, TAKEN, 5n)], [], { [TAKEN]: held(merchant, 100n) }, moved)).toEqual([0n]);
  });

  it('is nothing where as much has left another account of the owner', () => {
    expect(
      paid(
        [transfer(PURSE, SHOP, 5n)],
        [],
        { [PURSE]: held(payer, 5n), [SHOP]: held(merchant, 0n), [SAVINGS]: held(merchant, 9n) },
        { [PURSE]: held(payer, 5n), [SHOP]: held(merchant, 5n), [SAVINGS]: held(merchant, 4n) },
      ),
    ).toEqual([0n]);
  });

  it('is nothing where the owner moves it between accounts, or to itself', () => {
    const before = { [SHOP]: held(merchant, 5n), [SAVINGS]: held(merchant, 0n) };
    const after = { [SHOP]: held(merchant, 0n), [SAVINGS]: held(merchant, 5n) };
    expect(paid([transfer(SHOP, SAVINGS, 5n)], [], before, after)).toEqual([undefined]);
    expect(paid([transfer(SHOP, SHOP, 5n)], [], before, before)).toEqual([undefined]);
  });

  it('shares one amount that goes round, and leaves others what is theirs', () => {
    expect(
      paid(
        [transfer(PURSE, TAKEN, 100n), transfer(PURSE, TAKEN, 100n)],
        [transfer(TAKEN, PURSE, 100n)],
        {},
        { [PURSE]: held(payer, 0n), [TAKEN]: held(merchant, 100n) },
      ),
    ).toEqual([50n, 50n]);
    expect(
      paid(
        [transfer(PURSE, SHOP, 5n)],
        [transfer(SHOP, PURSE, 5n), transfer(VAULT, SHOP, 5n)],
        { [SHOP]: held(merchant, 0n) },
        { [PURSE]: held(payer, 9n), [SHOP]: held(merchant, 5n) },
      ),
    ).toEqual([0n]);
  });

  it('is nothing in an account whose tokens may have moved otherwise, and all in another one', () => {
    const before = { [PURSE]: held(payer, 9n), [VAULT]: held(payer, 9n), [SHOP]: held(merchant, 0n) };
    const after = { [PURSE]: held(payer, 4n), [VAULT]: held(payer, 4n), [SHOP]: held(merchant, 5n) };
    expect(paid([transfer(PURSE, SHOP, 5n)], [], before, after, [VAULT, SHOP])).toEqual([0n]);
    expect(paid([transfer(PURSE, SHOP, 5n)], [], before, after, [VAULT, PURSE])).toEqual([5n]);
  });

  it('is unknown where the account is gone', () => {
    expect(paid([transfer(PURSE, TAKEN, 5n)], [], { [PURSE]: held(payer, 5n) }, {})).toEqual([undefined]);
  });
});
