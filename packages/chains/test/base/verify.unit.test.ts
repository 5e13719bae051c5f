import { describe, expect, it } from '@jest/globals';
import { Wallet } from 'ethers/wallet';
import fc from 'fast-check';
import type { Hex, TransactionSerializable } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { decodeSigned } from '../../src/base/signed-transaction.ts';
import { differences } from '../../src/base/verify.ts';
import type { Differences } from '../../src/index.ts';
import { calldata, fulfiller, good, payer, signed, terms, tokenOf } from './payments.ts';

async function differ(transaction: TransactionSerializable, account = payer): Promise<Differences> {
  const decoded = decodeSigned(await signed(transaction, account));
  if (!decoded.ok) throw new Error(decoded.problem);
  return differences(decoded.value, terms, fulfiller);
}

const hexBytes = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength, maxLength }).map((bytes) => Buffer.from(bytes).toString('hex'));
const address = hexBytes(20, 20).map((hex): Hex => `0x${hex}`);
const fee = fc.bigInt({ min: 1n, max: 2n ** 60n });
/** The suffix of ERC-8021 in its three schemas; the first is the standard's own example. */
const suffixes = [
  '626173656170702c6d6f7270686f0e0080218021802180218021802180218021',
  'cccccccccccccccccccccccccccccccccccccccc210502626173656170702C6D6F7270686F0E0180218021802180218021802180218021',
  'a000010280218021802180218021802180218021',
];

describe('Base verify', () => {
  it('accepts any nonce, gas, fees, access list and attribution, in all three transaction types', async () => {
    const own = fc.record({
      nonce: fc.nat(),
      gas: fc.bigInt({ min: 21_000n, max: 2n ** 40n }),
      fees: fc.oneof(
        fc.tuple(fee, fee).map(([a, b]) => ({
          type: 'eip1559' as const,
          maxFeePerGas: a > b ? a : b,
          maxPriorityFeePerGas: a > b ? b : a,
        })),
        fee.map((gasPrice) => ({ type: 'legacy' as const, gasPrice })),
        fee.map((gasPrice) => ({ type: 'eip2930' as const, gasPrice })),
      ),
      accessList: fc.array(
        fc.record({
          address,
          storageKeys: fc.array(
            hexBytes(32, 32).map((hex): Hex => `0x${hex}`),
            { maxLength: 2 },
          ),
        }),
        { maxLength: 2 },
      ),
      suffix: fc.constantFrom('', ...suffixes),
    });
    await fc.assert(
      fc.asyncProperty(own, async ({ nonce, gas, fees, accessList, suffix }) => {
        const { maxFeePerGas: _max, maxPriorityFeePerGas: _tip, type: _type, ...rest } = good;
        const transaction = {
          ...rest,
          ...fees,
          nonce,
          gas,
          data: `${calldata}${suffix}`,
          ...(fees.type === 'legacy' ? {} : { accessList }),
        } as TransactionSerializable;
        expect(await differ(transaction)).toEqual({});
      }),
      { numRuns: 40 },
    );
  });

  it('accepts the signatures of ethers and of viem', async () => {
    const wallet = new Wallet(`0x${'a1'.repeat(32)}`);
    const { gas, ...rest } = good;
    const text = await wallet.signTransaction({ ...rest, type: 2, gasLimit: gas });
    const decoded = decodeSigned(Buffer.from(text.slice(2), 'hex'));
    if (!decoded.ok) throw new Error(decoded.problem);
    expect(differences(decoded.value, terms, fulfiller)).toEqual({});
  });

  it('names each field that differs, whatever it is changed to', async () => {
    const other = <T>(arbitrary: fc.Arbitrary<T>, from: unknown): fc.Arbitrary<T> =>
      arbitrary.filter((value) => String(value).toLowerCase() !== String(from).toLowerCase());
    const withWord = (place: number, word: string): Hex =>
      `0x${calldata.slice(2, 10 + 64 * place)}${word.padStart(64, '0')}${calldata.slice(10 + 64 * (place + 1))}`;
    const change: fc.Arbitrary<readonly [string, Partial<TransactionSerializable>]> = fc.oneof(
      other(fc.integer({ min: 1, max: 2 ** 31 }), 84_532).map((chainId) => ['chain', { chainId }] as const),
      fc
        .oneof(other(address, good.to), fc.constant(tokenOf('EURC').address as string as Hex))
        .map((to) => ['token', { to }] as const),
      fc.constant(['token', { to: undefined }] as const) as fc.Arbitrary<
        readonly [string, Partial<TransactionSerializable>]
      >,
      fc.bigInt({ min: 1n, max: 2n ** 90n }).map((value) => ['value', { value }] as const),
      other(address, terms.requestor).map((to) => ['recipient', { data: withWord(0, to.slice(2)) }] as const),
      other(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), terms.amount).map(
        (amount) => ['amount', { data: withWord(1, amount.toString(16)) }] as const,
      ),
      other(hexBytes(32, 32), terms.reference.slice(2)).map(
        (reference) => ['reference', { data: withWord(2, reference) }] as const,
      ),
      other(hexBytes(4, 4), calldata.slice(2, 10)).map(
        (selector) => ['calldata', { data: `0x${selector}${calldata.slice(10)}` }] as const,
      ),
      hexBytes(1, 80).map((more) => ['calldata', { data: `${calldata}${more}` }] as const),
      fc
        .integer({ min: 2, max: calldata.length - 2 })
        .map((end) => ['calldata', { data: calldata.slice(0, end - (end % 2)) as Hex }] as const),
    );
    await fc.assert(
      fc.asyncProperty(change, async ([what, changes]) => {
        expect(await differ({ ...good, ...changes } as TransactionSerializable)).toHaveProperty([what]);
      }),
      { numRuns: 120 },
    );
  });

  it('refuses calldata with a byte changed, added, removed or repeated', async () => {
    const bytes = [...Buffer.from(calldata.slice(2), 'hex')];
    const edit = fc.oneof(
      fc
        .tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }))
        .map(([at, xor]) => bytes.with(at, (bytes[at] ?? 0) ^ xor)),
      fc.tuple(fc.nat(bytes.length), fc.nat(255)).map(([at, byte]) => bytes.toSpliced(at, 0, byte)),
      fc.nat(bytes.length - 1).map((at) => bytes.toSpliced(at, 1)),
      fc.constant([...bytes, ...bytes]),
      fc.constant([...bytes, ...bytes.slice(-32)]),
      fc.constant([...bytes.slice(0, 68), ...bytes.slice(68).reverse(), ...bytes.slice(68)]),
    );
    await fc.assert(
      fc.asyncProperty(edit, async (changed) => {
        const data: Hex = `0x${Buffer.from(changed).toString('hex')}`;
        fc.pre(data !== calldata);
        expect(Object.keys(await differ({ ...good, data }))).not.toEqual([]);
      }),
      { numRuns: 120 },
    );
  });

  it('recognizes another signer by the signature alone', async () => {
    const other = privateKeyToAccount(generatePrivateKey());
    expect(await differ(good, other)).toEqual({ sender: { expected: fulfiller, actual: other.address } });
  });
});
