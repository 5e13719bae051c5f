import { describe, expect, it } from '@jest/globals';
import type { PaymentTerms, Reference } from '@pf/domain';
import { id } from 'ethers/hash';
import { aliasOf } from '../../src/index.ts';
import { mppNameIn, mppNameOf, referenceIn } from '../../src/tempo/mpp.ts';
import { decodeSigned } from '../../src/tempo/signed-transaction.ts';
import { differences } from '../../src/tempo/verify.ts';
import { addressOf, calldata, good, payer, signed, terms, usdc } from './payments.ts';

/** As MPP's clients write it: tag, version, 10 bytes of the realm, 10 of the client, 7 of the challenge. */
const memoFor = (realm: string, client = '0'.repeat(20), nonce = 'ab'.repeat(7), version = '01'): Reference =>
  `${id('mpp').slice(0, 10)}${version}${id(realm).slice(2, 22)}${client}${nonce}` as Reference;
const withMemo = async (memo: Reference, of: PaymentTerms = terms) => {
  const data = `${calldata.slice(0, -64)}${memo.slice(2)}` as typeof calldata;
  const decoded = decodeSigned(await signed({ ...good, calls: [{ to: usdc, data }] }));
  if (!decoded.ok) throw new Error(decoded.problem);
  return differences(decoded.value, of, addressOf(payer));
};
const other = { ...terms, reference: `0x${'5f'.repeat(32)}` as Reference };

describe('a memo of an MPP client on Tempo', () => {
  it('counts as the reference that is its realm, whatever the client and the challenge', async () => {
    expect(await withMemo(memoFor(terms.reference))).toEqual({});
    expect(await withMemo(memoFor(terms.reference, 'cd'.repeat(10), '01'.repeat(7)))).toEqual({});
  });

  it('does not count for another realm, another intent or another version', async () => {
    const memos = [
      memoFor(other.reference),
      memoFor('api.example'),
      memoFor(terms.reference, undefined, undefined, '02'),
    ];
    for (const memo of memos)
      expect(await withMemo(memo)).toEqual({ reference: { expected: terms.reference, actual: memo } });
    expect(await withMemo(memoFor(terms.reference), other)).toHaveProperty('reference');
  });

  it('leads to the intent by its first 15 bytes', () => {
    const memo = memoFor(terms.reference);
    expect(mppNameIn(memo)).toBe(memo.slice(0, 32));
    expect(mppNameOf(terms)).toBe(memo.slice(0, 32));
    expect(aliasOf(terms)).toBe(memo.slice(0, 32));
    expect(referenceIn(memo, terms)).toBe(terms.reference);
    expect(mppNameIn(terms.reference)).toBeNull();
  });
});
