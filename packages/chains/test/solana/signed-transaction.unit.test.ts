import { describe, expect, it } from '@jest/globals';
import type { Address as WalletAddress } from '@pf/domain';
import fc from 'fast-check';
import { networkOf } from '../../src/index.ts';
import { SolanaAdapter } from '../../src/solana/adapter.ts';
import { tokenAccountOf } from '../../src/solana/payment.ts';
import { decodeSigned } from '../../src/solana/signed-transaction.ts';
import { differences } from '../../src/solana/verify.ts';
import { solanaPool } from './chain.ts';
import { blobFor, DEVNET, fulfiller, signedBy, solanaToken, termsIn } from './payments.ts';

/** Parsing asks no upstream. */
const adapter = new SolanaAdapter(networkOf(DEVNET), solanaPool([]));
const terms = termsIn('USDC');
const raw = signedBy(await blobFor(terms));
/** That of a program: no key signs for it. */
const offCurve = (await tokenAccountOf(fulfiller, solanaToken('USDC').address)) as string as WalletAddress;

describe('Solana signed transactions', () => {
  it('accept base64, and the signature of a sent transaction', () => {
    const decoded = decodeSigned(raw);
    if (!decoded.ok) throw new Error(decoded.problem);
    const parsed = adapter.parseSubmitted(Buffer.from(raw).toString('base64'));
    expect(parsed).toEqual({
      ok: true,
      value: { kind: 'signed', transaction: { hash: decoded.value.hash, raw: Buffer.from(raw) } },
    });
    expect(adapter.parseSubmitted(decoded.value.hash)).toEqual({
      ok: true,
      value: { kind: 'sent', hash: decoded.value.hash },
    });
    expect(adapter.parseHash(decoded.value.hash)).toEqual({ ok: true, value: decoded.value.hash });
  });

  it('never throw on arbitrary text or bytes, and find no payment in them', () => {
    const bytes = fc.uint8Array({ maxLength: 1_400 });
    const junk = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      bytes.map((some) => Buffer.from(some).toString('base64')),
      bytes.map((some) => Buffer.from([1, ...raw.subarray(1, 66), ...some]).toString('base64')),
    );
    fc.assert(
      fc.property(junk, (text) => {
        const parsed = adapter.parseSubmitted(text);
        expect(parsed.ok && parsed.value.kind === 'signed').toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never attribute a transaction with changed, added or removed bytes to its payer', async () => {
    const at = fc.nat(raw.length - 1);
    const edit = fc.oneof(
      fc.tuple(at, fc.integer({ min: 1, max: 255 })).map(([place, xor]) => raw.with(place, (raw[place] ?? 0) ^ xor)),
      fc
        .tuple(fc.nat(raw.length), fc.uint8Array({ minLength: 1, maxLength: 40 }))
        .map(([place, more]) => Uint8Array.from([...raw.subarray(0, place), ...more, ...raw.subarray(place)])),
      fc
        .tuple(at, at)
        .map(([a, b]) => Uint8Array.from([...raw.subarray(0, Math.min(a, b)), ...raw.subarray(Math.max(a, b) + 1)])),
    );
    await fc.assert(
      fc.asyncProperty(edit, async (bytes) => {
        fc.pre(!Buffer.from(bytes).equals(raw));
        const decoded = decodeSigned(bytes);
        if (decoded.ok) expect(await differences(decoded.value, terms, fulfiller)).not.toEqual({});
      }),
      { numRuns: 1_500 },
    );
  });

  it('refuse unsigned transactions, non-minimal lengths and transactions larger than a packet', async () => {
    expect(decodeSigned(await blobFor(terms))).toEqual({ ok: false, problem: 'is not signed' });
    // One signature, its count written in two bytes.
    expect(decodeSigned(Uint8Array.from([0x81, 0x00, ...raw.subarray(1)])).ok).toBe(false);
    expect(adapter.parseSubmitted(Buffer.alloc(1_233, 1).toString('base64'))).toEqual({
      ok: false,
      problem: 'is longer than 1232 bytes',
    });
  });
});

describe('Solana addresses', () => {
  it('get refunds without a question where they have a key', async () => {
    expect(await adapter.refundProblem(fulfiller)).toBeNull();
    expect(await adapter.refundProblem(offCurve)).toContain('is a wallet of a program');
  });

  it('are base58 of 32 bytes, on the curve or not', () => {
    expect(adapter.parseAddress(fulfiller)).toEqual({ ok: true, value: fulfiller });
    expect(adapter.parseAddress(offCurve)).toEqual({ ok: true, value: offCurve });
    for (const text of [
      '',
      fulfiller.slice(1, -1),
      `${fulfiller}1`,
      fulfiller.replace(/^./, '0'),
      '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    ])
      expect(adapter.parseAddress(text).ok).toBe(false);
  });

  it.each([
    ['11111111111111111111111111111111', 'is the zero address'],
    [solanaToken('USDC').address, 'is the address of the token USDC'],
    [solanaToken('PYUSD').address, 'is the address of the token PYUSD'],
    ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', "is one of the chain's own programs or accounts"],
    ['SysvarRent111111111111111111111111111111111', "is one of the chain's own programs or accounts"],
    ['ComputeBudget111111111111111111111111111111', "is one of the chain's own programs or accounts"],
    ['1nc1nerator11111111111111111111111111111111', "is one of the chain's own programs or accounts"],
  ])('%s %s', (text, problem) => {
    expect(adapter.parseAddress(text)).toEqual({ ok: false, problem });
  });

  it('are new each time when generated', () => {
    expect(adapter.newReference()).not.toBe(adapter.newReference());
    expect(adapter.parseAddress(adapter.newReference()).ok).toBe(true);
    expect(adapter.parseHash(adapter.synthetic().hash).ok).toBe(true);
    expect(adapter.parseAddress(adapter.synthetic().address).ok).toBe(true);
  });
});
