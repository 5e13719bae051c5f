import { describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import type { Hex } from 'viem';
import { Account, Transaction } from 'viem/tempo';
import { TempoAdapter } from '../../src/tempo/adapter.ts';
import { tempoPool } from './chain.ts';
import { addressOf, calldata, good, network, passkey, payer, signed, sponsored, terms, usdc } from './payments.ts';

/** Parsing asks no upstream. */
const adapter = new TempoAdapter(network, tempoPool([]));
const { sponsoring } = adapter;
const handedIn = (text: string): Uint8Array | null => {
  const parsed = adapter.parseSubmitted(text);
  return parsed.ok && parsed.value.kind === 'handed' ? parsed.value.bytes : null;
};
const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`;
const toSponsor = async (envelope: object = good, account: { signTransaction: unknown } = payer): Promise<Hex> => {
  const { feeToken: _, ...rest } = Transaction.deserialize(
    TxEnvelopeTempo.serialize({ ...good, ...envelope }) as never,
  ) as { feeToken?: Hex };
  return (account as typeof payer).signTransaction({ ...rest, feePayer: true } as never);
};
async function handedOver(...of: Parameters<typeof toSponsor>): Promise<Uint8Array> {
  const handed = handedIn(await toSponsor(...of));
  if (handed === null) throw new Error('a sponsor cannot be handed this');
  return handed;
}
const result = (raw: Uint8Array) => ({ hash: '' as TransactionHash, raw });

describe('what a sponsor of Tempo is handed', () => {
  it('is a transaction that its payer has signed for a fee payer, who has not', async () => {
    // Of type 0x78, with the sender's address.
    const bytes = Buffer.from((await toSponsor()).slice(2), 'hex');
    expect(bytes[0]).toBe(0x78);
    // Or of type 0x76, with nothing in its place.
    const { from: _, ...plain } = TxEnvelopeTempo.deserialize(hexOf(bytes) as TxEnvelopeTempo.Serialized);
    const other = Buffer.from(TxEnvelopeTempo.serialize(plain).slice(2), 'hex');
    expect(other[0]).toBe(0x76);
    for (const form of [bytes, other])
      for (const text of [hexOf(form), form.toString('base64')])
        expect(Buffer.from(handedIn(text) ?? []).toString('hex')).toBe(other.toString('hex'));
    const forged = Buffer.concat([Buffer.of(0x78), Buffer.alloc(5_000)]);
    for (const none of [await signed(), await sponsored(), bytes.subarray(1), forged, new Uint8Array()])
      expect(handedIn(hexOf(none))).toBeNull();
  });

  it.each([
    ['a key', payer],
    ['a passkey', passkey],
  ])('is compared with the intent when %s has signed', async (_what, account) => {
    const handed = await handedOver(good, account);
    expect(await sponsoring.differences(handed, terms, addressOf(account))).toEqual({});
    const another = { ...terms, amount: terms.amount + 1n };
    expect(await sponsoring.differences(handed, another, addressOf(account))).toHaveProperty('amount');
    const twice = { calls: [...good.calls, { to: usdc, data: calldata }] };
    expect(await sponsoring.differences(await handedOver(twice, account), terms, addressOf(account))).toHaveProperty(
      'calls',
    );
  });

  it('costs the sponsor no more than a tenth of a dollar', async () => {
    const fee = { gas: 10_000_000n, maxFeePerGas: 10n ** 10n };
    expect(await sponsoring.differences(await handedOver(fee), terms, addressOf(payer))).toEqual({});
    expect(
      await sponsoring.differences(await handedOver({ ...fee, gas: fee.gas + 1n }), terms, addressOf(payer)),
    ).toEqual({
      fee: { expected: 'at most 0.1 of the fee token', actual: '0.100001 of the fee token' },
    });
  });

  it('is asked for by the call that sends nothing', async () => {
    expect(sponsoring.signCall(await handedOver())).toMatchObject({
      method: 'eth_signRawTransaction',
      params: [await toSponsor()],
    });
  });
});

describe('what a sponsor of Tempo returns', () => {
  const feePayer = Account.fromSecp256k1(`0x${'a4'.repeat(32)}`);
  /** As viem's relays sign. */
  const returned = async (handed: Uint8Array, change: object = {}): Promise<Uint8Array> => {
    const transaction: object = Transaction.deserialize(hexOf(handed) as never);
    const text = await Transaction.serialize({
      ...transaction,
      feeToken: good.feeToken,
      feePayer,
      ...change,
    } as never);
    return Buffer.from(text.slice(2), 'hex');
  };

  it('is the same transaction with a fee token and its signature, and nothing else', async () => {
    const handed = await handedOver();
    expect(await sponsoring.isSigned(handed, result(await returned(handed)))).toBe(true);
    const other = await handedOver({ nonce: 1n });
    for (const raw of [
      handed,
      await returned(other),
      await returned(handed, { maxFeePerGas: 10n ** 12n }),
      await returned(handed, { calls: [] }),
      await signed(),
    ])
      expect(await sponsoring.isSigned(handed, result(raw))).toBe(false);
  });
});
