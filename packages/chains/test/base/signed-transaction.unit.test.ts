import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Signature } from 'ethers/crypto';
import { Transaction } from 'ethers/transaction';
import { BaseAdapter } from '../../src/base/adapter.ts';
import { decodeSigned } from '../../src/base/signed-transaction.ts';
import { differences } from '../../src/base/verify.ts';
import { networkOf } from '../../src/index.ts';
import { poolOver } from './chain.ts';
import { CHAIN, fulfiller, good, signed, terms } from './payments.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** Parsing asks no upstream. */
const adapter = new BaseAdapter(networkOf(CHAIN), poolOver([]));
const raw = await signed(good);

describe('Base signed transactions', () => {
  it('accept base64, hex, and the hash of a sent transaction', () => {
    const hash = Transaction.from(`0x${raw.toString('hex')}`).hash ?? '';
    const transaction = { ok: true, value: { kind: 'signed', transaction: { hash, raw } } };
    expect(adapter.parseSubmitted(raw.toString('base64'))).toEqual(transaction);
    expect(adapter.parseSubmitted(`0x${raw.toString('hex')}`)).toEqual(transaction);
    expect(adapter.parseSubmitted(hash.toUpperCase().replace('0X', '0x'))).toEqual({
      ok: true,
      value: { kind: 'sent', hash },
    });
  });

  it('never throw on arbitrary text or bytes, and find no payment in them', () => {
    const junk = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.uint8Array({ maxLength: 400 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
      fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    );
    fc.assert(
      fc.property(junk, (text) => {
        const parsed = adapter.parseSubmitted(text);
        expect(parsed.ok && parsed.value.kind === 'signed').toBe(false);
      }),
      { numRuns: 1_500 },
    );
  });

  it('never attribute a transaction with changed, added or removed bytes to its payer', () => {
    const at = fc.nat(raw.length - 1);
    const byte = fc.nat(255);
    const edit = fc.oneof(
      fc
        .tuple(at, fc.integer({ min: 1, max: 255 }))
        .map(([place, xor]) => Buffer.from(raw.map((value, index) => (index === place ? value ^ xor : value)))),
      fc
        .tuple(fc.nat(raw.length), fc.uint8Array({ minLength: 1, maxLength: 40 }))
        .map(([place, more]) => Buffer.concat([raw.subarray(0, place), more, raw.subarray(place)])),
      fc
        .tuple(at, at)
        .map(([a, b]) => Buffer.concat([raw.subarray(0, Math.min(a, b)), raw.subarray(Math.max(a, b) + 1)])),
      fc
        .tuple(at, byte, byte)
        .map(([place, a, b]) => Buffer.concat([raw.subarray(0, place), Buffer.of(a, b), raw.subarray(place + 2)])),
    );
    fc.assert(
      fc.property(edit, (bytes) => {
        fc.pre(!bytes.equals(raw));
        const decoded = decodeSigned(bytes);
        if (decoded.ok) expect(differences(decoded.value, terms, fulfiller)).not.toEqual({});
      }),
      { numRuns: 1_500 },
    );
  });

  it('refuse the high-s twin of a signature', () => {
    const twin = Transaction.from(`0x${raw.toString('hex')}`);
    const { r, s, yParity } = twin.signature ?? Signature.from();
    const unsigned = Buffer.from(twin.unsignedSerialized.slice(4), 'hex');
    const field = (value: bigint): Buffer =>
      Buffer.concat([Buffer.of(0xa0), Buffer.from(value.toString(16).padStart(64, '0'), 'hex')]);
    // The list's content grows by yParity, r and s: written by hand, because no library makes such a signature.
    const content = Buffer.concat([
      unsigned.subarray(unsigned[0] === 0xf8 ? 2 : 3),
      Buffer.of(yParity === 0 ? 0x01 : 0x80),
      field(BigInt(r)),
      field(ORDER - BigInt(s)),
    ]);
    const head =
      content.length < 256
        ? Buffer.of(0x02, 0xf8, content.length)
        : Buffer.of(0x02, 0xf9, content.length >> 8, content.length & 255);
    expect(decodeSigned(Buffer.concat([head, content])).ok).toBe(false);
    const same = Buffer.concat([
      unsigned.subarray(unsigned[0] === 0xf8 ? 2 : 3),
      Buffer.of(yParity === 0 ? 0x80 : 0x01),
      field(BigInt(r)),
      field(BigInt(s)),
    ]);
    expect(Buffer.concat([head, same]).equals(raw)).toBe(true);
  });

  it('refuse unsigned transactions, other types, trailing bytes and non-minimal numbers', () => {
    const unsigned = Buffer.from(Transaction.from(`0x${raw.toString('hex')}`).unsignedSerialized.slice(2), 'hex');
    expect(decodeSigned(unsigned)).toEqual({ ok: false, problem: 'is not signed' });
    expect(decodeSigned(Buffer.concat([raw, Buffer.of(0)])).ok).toBe(false);
    for (const type of [0x03, 0x04, 0x76, 0x7e, 0x7f])
      expect(decodeSigned(Buffer.concat([Buffer.of(type), raw.subarray(1)])).ok).toBe(false);
    // Nonce 7 as 0x8107: the same number in a form that is not the shortest.
    const long = Buffer.concat([
      raw.subarray(0, 2),
      Buffer.of((raw[2] ?? 0) + 1),
      Buffer.from(raw.subarray(3).toString('hex').replace('07', '8107'), 'hex'),
    ]);
    expect(decodeSigned(long).ok).toBe(false);
  });
});
