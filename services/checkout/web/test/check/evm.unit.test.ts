import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import { concat, type Hex, hexToBytes, serializeTransaction, type TransactionSerializable } from 'viem';
import { checkBase, checkTempo } from '../../src/check/evm.ts';
import * as base from '../../../../../packages/chains/test/base/payments.ts';
import * as tempo from '../../../../../packages/chains/test/tempo/payments.ts';
import { shown } from './intents.ts';

const baseTerms = shown(base.terms);
const tempoTerms = shown(tempo.terms);
const onBase = (changes: Partial<TransactionSerializable>): Uint8Array =>
  hexToBytes(serializeTransaction({ ...base.good, ...changes } as TransactionSerializable));
const onTempo = (changes: Partial<TxEnvelopeTempo.TxEnvelopeTempo<false>>): Uint8Array =>
  hexToBytes(TxEnvelopeTempo.serialize({ ...tempo.good, ...changes }));

const thief = '66'.repeat(20);
const differences = (checked: ReturnType<typeof checkBase> | ReturnType<typeof checkTempo>): readonly string[] =>
  checked.ok ? [] : checked.differs;
/** Calldata with one of its words changed. */
const withWord = (calldata: Hex, index: number, word: string): Hex =>
  `0x${calldata.slice(2, 10 + 64 * index)}${word.padStart(64, '0')}${calldata.slice(10 + 64 * (index + 1))}`;

describe('the check of a transaction on Base', () => {
  it('accepts the payment, and passes on only its call', () => {
    expect(checkBase(onBase({}), baseTerms)).toEqual({
      ok: true,
      payment: { isSponsored: false, chainId: 84_532, to: base.terms.tokenAddress, data: base.calldata },
    });
  });

  it.each<readonly [string, Partial<TransactionSerializable>]>([
    ['chain', { chainId: 8_453 }],
    ['chain', { chainId: 1 }],
    ['token', { to: base.tokenOf('EURC').address as string as Hex }],
    ['token', { to: `0x${thief}` }],
    ['token', { to: null }],
    ['more', { value: 1n }],
    ['more', { accessList: [{ address: `0x${thief}`, storageKeys: [] }] }],
    ['more', { data: '0x' }],
    ['more', { data: withWord(base.calldata, 0, thief).replace('a9059cbb', '095ea7b3') as Hex }],
    ['more', { data: base.calldata.slice(0, -64) as Hex }],
    ['more', { data: `${base.calldata}00` }],
    ['recipient', { data: withWord(base.calldata, 0, thief) }],
    ['recipient', { data: withWord(base.calldata, 0, `01${base.terms.requestor.slice(2).padStart(62, '0')}`) }],
    ['amount', { data: withWord(base.calldata, 1, (base.terms.amount + 1n).toString(16)) }],
    ['amount', { data: withWord(base.calldata, 1, 'f'.repeat(64)) }],
    ['reference', { data: withWord(base.calldata, 2, '77'.repeat(32)) }],
  ])('names a changed %s (%#)', (name, changes) => {
    expect(differences(checkBase(onBase(changes), baseTerms))).toContain(name);
  });

  it('refuses transactions of other types, signed ones, and invalid bytes', async () => {
    const { maxFeePerGas: gasPrice, maxPriorityFeePerGas: _tip, type: _type, ...rest } = base.good;
    const legacy = serializeTransaction({ ...rest, type: 'legacy', gasPrice });
    for (const bytes of [
      hexToBytes(legacy),
      await base.signed(base.good),
      Uint8Array.of(),
      Uint8Array.of(2),
      hexToBytes(concat(['0x02', '0xc0'])),
    ])
      expect(differences(checkBase(Uint8Array.from(bytes), baseTerms))).toContain('malformed');
  });

  it('accepts only the bytes of the payment, whichever one is changed', () => {
    const good = onBase({});
    const edit = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(edit, ([at, change]) => {
        const bytes = Uint8Array.from(good, (byte, index) => (index === at ? byte ^ change : byte));
        const checked = checkBase(bytes, baseTerms);
        // Nonce, gas and fees are the wallet's own: what it is handed is the same call.
        if (checked.ok) expect(checked).toEqual(checkBase(good, baseTerms));
      }),
      { numRuns: 400 },
    );
  });

  it('refuses trailing bytes', () => {
    expect(differences(checkBase(Uint8Array.of(...onBase({}), 0), baseTerms))).toContain('malformed');
  });
});

describe('the check of a transaction on Tempo', () => {
  it('accepts the payment', () => {
    expect(checkTempo(onTempo({}), tempoTerms)).toMatchObject({
      ok: true,
      payment: { isSponsored: false, chainId: 42_431, to: tempo.usdc, data: tempo.calldata },
    });
  });

  it('accepts one whose fee a sponsor pays, in a token of its choice', () => {
    const sponsored = onTempo({ feePayerSignature: null, feeToken: undefined });
    expect(checkTempo(sponsored, tempoTerms)).toMatchObject({ ok: true, payment: { isSponsored: true } });
  });

  it('accepts a fee in a dollar token that the registry lacks, which the payer has chosen at the fee manager', () => {
    const feeToken = '0x20c000000000000000000000a1b2c3d4e5f60718';
    expect(checkTempo(onTempo({ feeToken }), tempoTerms)).toMatchObject({ ok: true });
  });

  const call = { to: tempo.usdc, data: tempo.calldata };
  const withData = (data: Hex) => ({ calls: [{ ...call, data }] });
  it.each<readonly [string, Partial<TxEnvelopeTempo.TxEnvelopeTempo<false>>]>([
    ['chain', { chainId: 4_217 }],
    ['token', { calls: [{ ...call, to: tempo.tokenOf('AlphaUSD').address as string as Hex }] }],
    ['more', { calls: [call, call] }],
    ['more', { calls: [call, { to: `0x${thief}`, data: '0x' }] }],
    ['more', { calls: [{ ...call, value: 1n }] }],
    ['more', { accessList: [{ address: `0x${thief}`, storageKeys: [] }] }],
    ['more', withData(`0xa9059cbb${tempo.calldata.slice(10, 138)}`)],
    ['more', withData(`0x095ea7b3${tempo.calldata.slice(10)}`)],
    ['more', withData(`${tempo.calldata}00`)],
    ['more', { feePayerSignature: { r: 1n, s: 1n, yParity: 0 } }],
    ['recipient', withData(withWord(tempo.calldata, 0, thief))],
    ['amount', withData(withWord(tempo.calldata, 1, (tempo.terms.amount - 1n).toString(16)))],
    ['reference', withData(withWord(tempo.calldata, 2, '77'.repeat(32)))],
    ['fee', { maxFeePerGas: 10n ** 15n }],
    ['fee', { feeToken: `0x20c0${'11'.repeat(18)}` }],
  ])('names a changed %s (%#)', (name, changes) => {
    expect(differences(checkTempo(onTempo(changes), tempoTerms))).toContain(name);
  });

  it('refuses an authorization of a key, signed transactions, and trailing bytes', async () => {
    const keyAuthorization = {
      address: `0x${thief}`,
      chainId: 42_431n,
      type: 'secp256k1',
      signature: await lentSignature(),
    } as const;
    const authorizing = onTempo({ keyAuthorization } as never);
    expect(differences(checkTempo(authorizing, tempoTerms))).toContain('more');
    for (const bytes of [await tempo.signed(), Uint8Array.of(...onTempo({}), 0), Uint8Array.of(0x76), Uint8Array.of()])
      expect(differences(checkTempo(Uint8Array.from(bytes), tempoTerms))).toContain('malformed');
  });

  it('accepts no other call, recipient or amount, whichever byte is changed', () => {
    const good = onTempo({});
    const edit = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(edit, ([at, change]) => {
        const bytes = Uint8Array.from(good, (byte, index) => (index === at ? byte ^ change : byte));
        const checked = checkTempo(bytes, tempoTerms);
        if (!checked.ok) return;
        const { to, data, chainId } = checked.payment;
        expect({ to, data, chainId }).toEqual({ to: tempo.usdc, data: tempo.calldata, chainId: 42_431 });
        expect(checked.payment.envelope.calls).toEqual([{ to: tempo.usdc.toLowerCase(), data: tempo.calldata }]);
      }),
      // A list where bytes belong: what the deserializer returns is not of its types.
      { numRuns: 400, examples: [[[24, 20]], [[45, 22]]] },
    );
  });
});

async function lentSignature() {
  const { SignatureEnvelope } = await import('ox/tempo');
  return SignatureEnvelope.from(await tempo.payer.sign({ hash: `0x${'01'.repeat(32)}` }));
}
