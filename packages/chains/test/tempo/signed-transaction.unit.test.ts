import { describe, expect, it } from '@jest/globals';
import { keccak256 } from 'ethers/crypto';
import fc from 'fast-check';
import * as SignatureEnvelope from 'ox/tempo/SignatureEnvelope';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import type { TransactionHash } from '@pf/domain';
import { TempoAdapter } from '../../src/tempo/adapter.ts';
import { decodePayment, encodePayment } from '../../src/tempo/calldata.ts';
import { decodeSigned, fromChain } from '../../src/tempo/signed-transaction.ts';
import { differences } from '../../src/tempo/verify.ts';
import { tempoPool } from './chain.ts';
import { addressOf, calldata, good, network, p256, passkey, payer, signed, sponsored, terms } from './payments.ts';

const ORDER = {
  secp256k1: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
  p256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
};
/** Parsing asks no upstream. */
const adapter = new TempoAdapter(network, tempoPool([]));
const raw = await signed();
const kinds: readonly (readonly [string, Buffer, { readonly address: string }])[] = [
  ['a key', raw, payer],
  ['a P256 key', await signed(good, p256), p256],
  ['a passkey', await signed(good, passkey), passkey],
  ['a sponsor', await sponsored(), payer],
];

describe('Tempo signed transactions', () => {
  it.each([...kinds])('accept base64, hex, and the hash of a transaction signed by %s', (_what, bytes) => {
    const hash = keccak256(bytes);
    const transaction = { ok: true, value: { kind: 'signed', transaction: { hash, raw: bytes } } };
    expect(adapter.parseSubmitted(bytes.toString('base64'))).toEqual(transaction);
    expect(adapter.parseSubmitted(`0x${bytes.toString('hex')}`)).toEqual(transaction);
    expect(adapter.parseSubmitted(hash)).toEqual({ ok: true, value: { kind: 'sent', hash } });
  });

  it('never throw on arbitrary text or bytes, and find no payment in them', () => {
    const bytes = fc.uint8Array({ maxLength: 400 });
    const typed = bytes.map((rest) => Buffer.from([0x76, ...rest]).toString('base64'));
    const listed = bytes.map((rest) => Buffer.from([0x76, 0xf8, rest.length, ...rest]).toString('base64'));
    const junk = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      typed,
      listed,
      bytes.map((rest) => `0x${Buffer.from(rest).toString('hex')}`),
    );
    fc.assert(
      fc.property(junk, (text) => {
        const parsed = adapter.parseSubmitted(text);
        expect(parsed.ok && parsed.value.kind === 'signed').toBe(false);
      }),
      { numRuns: 1_500 },
    );
  });

  it.each([...kinds])(
    'never attribute a transaction signed by %s with changed, added or removed bytes to its signer',
    (_what, bytes, account) => {
      const at = fc.nat(bytes.length - 1);
      const edit = fc.oneof(
        fc
          .tuple(at, fc.integer({ min: 1, max: 255 }))
          .map(([place, xor]) => Buffer.from(bytes.map((value, index) => (index === place ? value ^ xor : value)))),
        fc
          .tuple(fc.nat(bytes.length), fc.uint8Array({ minLength: 1, maxLength: 40 }))
          .map(([place, more]) => Buffer.concat([bytes.subarray(0, place), more, bytes.subarray(place)])),
        fc
          .tuple(at, at)
          .map(([a, b]) => Buffer.concat([bytes.subarray(0, Math.min(a, b)), bytes.subarray(Math.max(a, b) + 1)])),
      );
      fc.assert(
        fc.property(edit, (edited) => {
          fc.pre(!edited.equals(bytes));
          const decoded = decodeSigned(edited);
          if (!decoded.ok) return;
          const differs = differences(decoded.value, terms, addressOf(account));
          // Another sponsor's signature, or another fee token under it, is another sponsor: the payment is the same.
          if (Object.keys(differs).length === 0)
            expect({ ...decoded.value, feePayerSignature: null, feeToken: null, signature: null }).toEqual({
              ...decodedOf(bytes),
              feePayerSignature: null,
              feeToken: null,
              signature: null,
            });
        }),
        { numRuns: 150 },
      );
    },
  );

  const decodedOf = (bytes: Uint8Array): TxEnvelopeTempo.Signed => {
    const decoded = decodeSigned(bytes);
    if (!decoded.ok) throw new Error(decoded.problem);
    return decoded.value;
  };

  it.each(kinds.slice(0, 3))('refuse the high-s twin of a signature by %s', (_what, bytes) => {
    const transaction = decodedOf(bytes);
    const { signature } = transaction;
    if (signature.type === 'keychain' || signature.type === 'multisig') throw new Error('no such signature here');
    const order = signature.type === 'secp256k1' ? ORDER.secp256k1 : ORDER.p256;
    const twin = {
      ...signature,
      signature: {
        ...signature.signature,
        s: order - signature.signature.s,
        ...(signature.type === 'secp256k1' ? { yParity: 1 - (signature.signature.yParity ?? 0) } : {}),
      },
    } as SignatureEnvelope.SignatureEnvelope;
    const text = TxEnvelopeTempo.serialize({ ...transaction, signature: twin });
    expect(decodeSigned(Buffer.from(text.slice(2), 'hex'))).toEqual({
      ok: false,
      problem: 'has a signature with a high s',
    });
  });

  it('refuse unsigned, unsponsored, too long transactions, other types and trailing bytes', () => {
    const unsigned = Buffer.from(TxEnvelopeTempo.serialize(good).slice(2), 'hex');
    expect(decodeSigned(unsigned)).toEqual({ ok: false, problem: 'is not signed' });
    const waiting = TxEnvelopeTempo.serialize({ ...decodedOf(raw), feePayerSignature: null });
    expect(decodeSigned(Buffer.from(waiting.slice(2), 'hex'))).toEqual({
      ok: false,
      problem: 'lacks the signature of its fee payer',
    });
    expect(decodeSigned(Buffer.concat([raw, Buffer.of(0)])).ok).toBe(false);
    expect(decodeSigned(Buffer.concat([raw, Buffer.alloc(5_000)]))).toEqual({
      ok: false,
      problem: 'is longer than 2048 bytes',
    });
    for (const type of [0x00, 0x01, 0x02, 0x04, 0x78, 0xc0])
      expect(decodeSigned(Buffer.concat([Buffer.of(type), raw.subarray(1)])).ok).toBe(false);
  });

  it('decode only calldata that they encoded', () => {
    expect(encodePayment({ to: terms.requestor, amount: terms.amount, reference: terms.reference })).toBe(calldata);
    expect(decodePayment(calldata)).toEqual({ to: terms.requestor, amount: terms.amount, reference: terms.reference });
    expect(decodePayment(`0x95777d5901${calldata.slice(12)}`)).toBeNull();
  });

  it('accept from a node only what makes the hash', () => {
    const { signature } = decodedOf(raw);
    const told = {
      type: 0x76n,
      chainId: '0xa5bf',
      calls: [{ to: good.calls[0].to, value: '0x0', input: calldata, data: null }],
      accessList: [],
      aaAuthorizationList: [],
      feePayerSignature: null,
      keyAuthorization: null,
      feeToken: good.feeToken,
      gas: `0x${good.gas.toString(16)}`,
      maxFeePerGas: `0x${good.maxFeePerGas.toString(16)}`,
      maxPriorityFeePerGas: `0x${good.maxPriorityFeePerGas.toString(16)}`,
      nonce: '0x0',
      nonceKey: `0x${good.nonceKey.toString(16)}`,
      validAfter: null,
      validBefore: `0x${good.validBefore.toString(16)}`,
      signature: SignatureEnvelope.toRpc(signature),
    };
    const hash = keccak256(raw) as TransactionHash;
    expect(fromChain(hash, told)).toEqual({ hash, raw });
    for (const lie of [
      { gas: '0x1' },
      { calls: [] },
      { signature: {} },
      { signature: { type: 'secp256k1', r: '0x1', s: '0x1', yParity: '0x0' } },
      { validBefore: '0x1' },
    ])
      expect(fromChain(hash, { ...told, ...lie })).toBeNull();
    expect(fromChain(hash, { type: 2n, signature: undefined })).toEqual({
      hash,
      raw: Uint8Array.of(2),
      isPartial: true,
    });
  });
});
