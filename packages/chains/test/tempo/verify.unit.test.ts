import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { getAddress } from 'ethers/address';
import * as AuthorizationTempo from 'ox/tempo/AuthorizationTempo';
import * as SignatureEnvelope from 'ox/tempo/SignatureEnvelope';
import type { Hex } from 'viem';
import type { Transaction } from 'viem/tempo';
import { Account } from 'viem/tempo';
import type { Differences } from '../../src/index.ts';
import { decodeSigned, feePayerOf } from '../../src/tempo/signed-transaction.ts';
import { differences } from '../../src/tempo/verify.ts';
import {
  addressOf,
  calldata,
  CHAIN,
  type Envelope,
  good,
  lent,
  p256,
  passkey,
  payer,
  signed,
  sponsor,
  sponsored,
  terms,
  tokenOf,
  usdc,
} from './payments.ts';

function differ(raw: Buffer, fulfiller = addressOf(payer)): Differences {
  const decoded = decodeSigned(raw);
  if (!decoded.ok) throw new Error(decoded.problem);
  return differences(decoded.value, terms, fulfiller);
}
const changed = async (change: Partial<Envelope>): Promise<Differences> => differ(await signed({ ...good, ...change }));

const hexBytes = (length: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes).toString('hex'));
const address = hexBytes(20).map((hex): Hex => `0x${hex}`);
const price = fc.bigInt({ min: 1n, max: 2n ** 60n });

describe('Tempo verify', () => {
  it('accepts any nonce, gas, fees, fee token and access list', async () => {
    const own = fc.record({
      nonceKey: fc.bigInt({ min: 0n, max: 2n ** 192n }),
      nonce: fc.bigInt({ min: 0n, max: 2n ** 40n }),
      gas: fc.bigInt({ min: 21_000n, max: 2n ** 40n }),
      fees: fc.tuple(price, price),
      feeToken: fc.option(
        fc.constantFrom(...['USDC', 'pathUSD', 'BetaUSD'].map((symbol) => tokenOf(symbol).address as string as Hex)),
        { nil: undefined },
      ),
      accessList: fc.array(
        fc.record({
          address,
          storageKeys: fc.array(
            hexBytes(32).map((hex): Hex => `0x${hex}`),
            { maxLength: 2 },
          ),
        }),
        { maxLength: 2 },
      ),
      validBefore: fc.integer({ min: 1_700_000_001, max: 2 ** 40 }),
      validAfter: fc.option(fc.integer({ min: 1, max: 1_700_000_000 }), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(own, async ({ fees: [a, b], ...rest }) => {
        expect(await changed({ ...rest, maxFeePerGas: a > b ? a : b, maxPriorityFeePerGas: a > b ? b : a })).toEqual(
          {},
        );
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    ['a key', payer],
    ['a P256 key', p256],
    ['a passkey', passkey],
  ] as const)('recognizes the signer by %s', async (_what, account) => {
    const raw = await signed(good, account);
    expect(differ(raw, addressOf(account))).toEqual({});
    expect(differ(raw, addressOf(sponsor))).toEqual({ sender: { expected: sponsor.address, actual: account.address } });
  });

  it('accepts the signatures of viem and of ox', async () => {
    const text = await Account.fromP256(`0x${'a2'.repeat(32)}`).signTransaction({
      ...good,
      nonce: 0,
    } as Transaction.TransactionSerializableTempo);
    expect(differ(Buffer.from(text.slice(2), 'hex'), addressOf(p256))).toEqual({});
  });

  it.each([
    ['a P256 key', p256],
    ['a passkey', passkey],
  ] as const)('refuses a forged signature by %s', async (_what, account) => {
    const raw = await signed(good, account);
    const decoded = decodeSigned(raw);
    if (!decoded.ok) throw new Error(decoded.problem);
    // The signature of another transaction, with the public key of this account in it.
    const other = decodeSigned(await signed({ ...good, gas: 1n }, account));
    if (!other.ok) throw new Error(other.problem);
    expect(differences({ ...decoded.value, signature: other.value.signature }, terms, addressOf(account))).toEqual({
      sender: { expected: account.address, actual: null },
    });
  });

  it.each([
    ['a key', payer],
    ['a passkey', passkey],
  ] as const)('recovers the fee payer of a transaction signed by %s', async (_what, account) => {
    const raw = await sponsored(good, account);
    expect(differ(raw, addressOf(account))).toEqual({});
    const decoded = decodeSigned(raw);
    expect(decoded.ok && feePayerOf(decoded.value, addressOf(account))).toBe(sponsor.address);
  });

  it('refuses access keys, whose permission is not in the transaction', async () => {
    expect(await signed(good, lent).then((raw) => differ(raw))).toEqual({
      signature: { expected: 'secp256k1, p256 or webAuthn', actual: 'keychain' },
    });
  });

  it('refuses a transaction that also grants something', async () => {
    const key = Account.fromP256(`0x${'b1'.repeat(32)}`, { access: payer });
    const keyAuthorization = await payer.signKeyAuthorization(key, { chainId: 42_431n, expiry: 1_900_000_000 });
    expect(Object.keys(await changed({ keyAuthorization }))).toEqual(['keyAuthorization']);
    const unsigned = AuthorizationTempo.from({ address: `0x${'77'.repeat(20)}`, chainId: 42_431, nonce: 0n });
    const signature = SignatureEnvelope.from(await payer.sign({ hash: AuthorizationTempo.getSignPayload(unsigned) }));
    expect(await changed({ authorizationList: [AuthorizationTempo.from(unsigned, { signature })] })).toEqual({
      authorizations: { expected: '0', actual: '1' },
    });
  });

  it('names each field that differs, whatever it is changed to', async () => {
    const other = <T>(arbitrary: fc.Arbitrary<T>, from: unknown): fc.Arbitrary<T> =>
      arbitrary.filter((value) => String(value).toLowerCase() !== String(from).toLowerCase());
    const withWord = (place: number, word: string): Hex =>
      `0x${calldata.slice(2, 10 + 64 * place)}${word.padStart(64, '0')}${calldata.slice(10 + 64 * (place + 1))}`;
    const withData = (data: Hex): Partial<Envelope> => ({ calls: [{ to: usdc, data }] });
    const [call] = good.calls;
    const change: fc.Arbitrary<readonly [string, Partial<Envelope>]> = fc.oneof(
      other(fc.integer({ min: 1, max: 2 ** 31 }), 42_431).map((chainId) => ['chain', { chainId }] as const),
      fc
        .oneof(other(address, usdc), fc.constant(tokenOf('AlphaUSD').address as string as Hex))
        .map((to) => ['token', { calls: [{ ...call, to }] }] as const),
      fc.bigInt({ min: 1n, max: 2n ** 90n }).map((value) => ['value', { calls: [{ ...call, value }] }] as const),
      other(address, terms.requestor).map((to) => ['recipient', withData(withWord(0, to.slice(2)))] as const),
      other(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), terms.amount).map(
        (amount) => ['amount', withData(withWord(1, amount.toString(16)))] as const,
      ),
      other(hexBytes(32), terms.reference.slice(2)).map(
        (reference) => ['reference', withData(withWord(2, reference))] as const,
      ),
      other(hexBytes(4), calldata.slice(2, 10)).map(
        (selector) => ['calldata', withData(`0x${selector}${calldata.slice(10)}`)] as const,
      ),
      fc
        .uint8Array({ minLength: 1, maxLength: 80 })
        .map((more) => ['calldata', withData(`${calldata}${Buffer.from(more).toString('hex')}`)] as const),
      fc
        .integer({ min: 2, max: calldata.length - 2 })
        .map((end) => ['calldata', withData(calldata.slice(0, end - (end % 2)) as Hex)] as const),
      fc
        .integer({ min: 2, max: 4 })
        .map((times) => ['calls', { calls: Array.from({ length: times }, () => call) }] as const),
      address.map((to) => ['calls', { calls: [{ to }, call] }] as const),
      address.map((to) => ['calls', { calls: [call, { to }] }] as const),
    );
    await fc.assert(
      fc.asyncProperty(change, async ([what, changes]) => {
        expect(await changed(changes)).toHaveProperty([what]);
      }),
      { numRuns: 150 },
    );
    const { validBefore: _validBefore, ...endless } = good;
    expect(Object.keys(differ(await signed(endless)))).toEqual(['validBefore']);
  });

  it('refuses a call without a contract', async () => {
    expect(await changed({ calls: [{ data: calldata }] })).toMatchObject({
      token: { expected: getAddress(usdc), actual: null },
    });
  });

  it('compares the chain by its CAIP-2 id', async () => {
    expect((await changed({ chainId: 4217 }))['chain']).toEqual({ expected: CHAIN, actual: 'eip155:4217' });
  });
});
