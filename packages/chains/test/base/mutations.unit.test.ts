import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Hex,
  keccak256,
  parseTransaction,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerialized,
} from 'viem';
import { sign } from 'viem/accounts';
import type { Differences } from '../../src/index.ts';
import { decodeSigned } from '../../src/base/signed-transaction.ts';
import { differences } from '../../src/base/verify.ts';
import { edited, field, list, listContent } from '../edits.ts';
import { calldata, fulfiller, good, terms } from './payments.ts';

/*
 * A payer who means ill signs what he likes: the bytes of what was built, changed anyhow, with his own signature over
 * them. What is accepted of it is judged here a second time, by another library.
 */

const SUFFIX = '626173656170700700' + '80218021802180218021802180218021';
const MARKER = SUFFIX.slice(18);
const { maxFeePerGas, maxPriorityFeePerGas: _tip, type: _type, ...plain } = good;
/** The fields of unsigned transactions that pay the terms, of every type, with and without an attribution. */
const unsigned: readonly (readonly [0 | 1 | 2, Uint8Array])[] = [
  [2, good],
  [2, { ...good, data: `${calldata}${SUFFIX}` as Hex }],
  [1, { ...plain, type: 'eip2930', gasPrice: maxFeePerGas }],
  [0, { ...plain, type: 'legacy', gasPrice: maxFeePerGas }],
].map(([type, transaction]) => {
  const raw = Buffer.from(serializeTransaction(transaction as TransactionSerializable).slice(2), 'hex');
  // A legacy one ends in its chain id and two zeros, which the signature takes the place of (EIP-155).
  return [type, listContent(type === 0 ? raw : raw.subarray(1))] as [0 | 1 | 2, Uint8Array];
});

const CHAIN_ID = 84_532n;
/** EIP-155: chain id and two empty fields, in the place of the signature. */
const LEGACY_TAIL = Buffer.from('83014a348080', 'hex');

/** These fields with the payer's signature over them, as they go over the wire. */
async function resigned(type: 0 | 1 | 2, content: Uint8Array): Promise<Buffer> {
  const prefix = type === 0 ? Buffer.alloc(0) : Buffer.of(type);
  const {
    r,
    s,
    yParity = 0,
  } = await sign({ hash: keccak256(Buffer.concat([prefix, list(content)])), privateKey: `0x${'a1'.repeat(32)}` });
  const fields = type === 0 ? content.subarray(0, content.length - LEGACY_TAIL.length) : content;
  const v = type === 0 ? CHAIN_ID * 2n + 35n + BigInt(yParity) : BigInt(yParity);
  return Buffer.concat([prefix, list(Buffer.concat([fields, field(v), field(BigInt(r)), field(BigInt(s))]))]);
}

function judge(raw: Buffer): Differences | null {
  const decoded = decodeSigned(raw);
  if (!decoded.ok) return null;
  const differs = differences(decoded.value, terms, fulfiller);
  // viem reads no chain id beyond 2^53: such a transaction must differ, or isPayment throws.
  if (decoded.value.chainId > Number.MAX_SAFE_INTEGER) return differs;
  // What is read is read whole: another library writes the same bytes.
  const serialized = `0x${raw.toString('hex')}` as TransactionSerialized;
  const { r, s, yParity, v, ...fields } = parseTransaction(serialized) as TransactionSerializable & {
    r: Hex;
    s: Hex;
    yParity?: number;
    v?: bigint;
  };
  expect(
    serializeTransaction(fields as TransactionSerializable, {
      r,
      s,
      ...(fields.type === 'legacy' ? { v: v ?? 0n } : { yParity: yParity ?? 0 }),
    }),
  ).toBe(serialized);
  return differs;
}

function isPayment(raw: Buffer): boolean {
  const {
    chainId,
    to,
    value = 0n,
    data = '0x',
  } = parseTransaction(`0x${raw.toString('hex')}` as TransactionSerialized);
  if (chainId !== 84_532 || to?.toLowerCase() !== terms.tokenAddress.toLowerCase() || value !== 0n) return false;
  return (
    data === calldata ||
    (data.startsWith(calldata) && data.endsWith(MARKER) && data.length > calldata.length + MARKER.length)
  );
}

describe('Base verify › a malicious payer', () => {
  it('cannot change bytes of a payment unless it pays the same', async () => {
    let [accepted, read] = [0, 0];
    const chosen = fc
      .constantFrom(...unsigned)
      .chain(([type, content]) =>
        edited(type === 0 ? content.subarray(0, content.length - LEGACY_TAIL.length) : content).map(
          (bytes) => [type, type === 0 ? Buffer.concat([bytes, LEGACY_TAIL]) : bytes] as const,
        ),
      );
    await fc.assert(
      fc.asyncProperty(chosen, async ([type, content]) => {
        const raw = await resigned(type, content);
        const differs = judge(raw);
        if (differs === null) return;
        read += 1;
        if (Object.keys(differs).length > 0) return;
        accepted += 1;
        expect(isPayment(raw)).toBe(true);
      }),
      { numRuns: 2_500 },
    );
    expect(read).toBeGreaterThan(500);
    // Another nonce, gas, fee, access list or attribution pays the same.
    expect(accepted).toBeGreaterThan(30);
  });

  it('cannot repeat, reorder or insert words of the calldata', async () => {
    const words = [
      calldata.slice(0, 10),
      ...(calldata.slice(10).match(/.{64}/g) ?? []),
      '00'.repeat(32),
      terms.requestor.slice(2).toLowerCase().padStart(64, 'f'),
      MARKER,
      SUFFIX,
    ];
    const said = fc
      .array(fc.constantFrom(...words.slice(1)), { minLength: 0, maxLength: 6 })
      .map((chosen) => `${words[0] ?? ''}${chosen.join('')}` as Hex);
    await fc.assert(
      fc.asyncProperty(said, async (data) => {
        const content = listContent(Buffer.from(serializeTransaction({ ...good, data }).slice(4), 'hex'));
        const raw = await resigned(2, content);
        const differs = judge(raw);
        expect(differs !== null && Object.keys(differs).length === 0).toBe(
          data === calldata || data === `${calldata}${SUFFIX}`,
        );
      }),
      { numRuns: 1_000 },
    );
  });
});
