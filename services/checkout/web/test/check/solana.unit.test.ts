import { describe, expect, it } from '@jest/globals';
import {
  type CompiledTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
} from '@solana/kit';
import { checkSolana } from '../../src/check/solana.ts';
import { randomAddress } from '../../../../../packages/chains/src/solana/address.ts';
import { tamperings, walletChanges } from '../../../../../packages/chains/test/solana/changes.ts';
import { blobFor, fulfiller, payer, signedBy, termsIn } from '../../../../../packages/chains/test/solana/payments.ts';
import { shown } from './intents.ts';

type Message = CompiledTransactionMessage & { readonly version: 0; readonly lifetimeToken: string };
const sponsor: string = randomAddress();

/** Unsigned again: as a build would be that has been tampered with. */
const unsigned = (signed: Uint8Array): Uint8Array =>
  Uint8Array.from(signed, (byte, index) => (index >= 1 && index <= 64 ? 0 : byte));

describe('the check of a transaction on Solana', () => {
  it.each(['USDC', 'PYUSD'])('accepts a payment in %s, with and without a new token account', async (symbol) => {
    const terms = termsIn(symbol);
    for (const createsAccount of [true, false]) {
      const blob = await blobFor(terms, createsAccount);
      expect(await checkSolana(blob, shown(terms), fulfiller)).toEqual({
        ok: true,
        payment: { isSponsored: false, transaction: blob },
      });
    }
  });

  it('accepts a payment whose fee another account pays, and no payment by that account', async () => {
    const terms = termsIn('USDC');
    const blob = await blobFor(terms, true, sponsor);
    expect(await checkSolana(blob, shown(terms), fulfiller)).toEqual({
      ok: true,
      payment: { isSponsored: true, transaction: blob },
    });
    expect(await checkSolana(blob, shown(terms), sponsor)).toMatchObject({ ok: false });
  });

  it('refuses one whose fee payer is in an instruction, or is not alone beside the payer', async () => {
    const terms = termsIn('USDC');
    const blob = await blobFor(terms, true, sponsor);
    const { messageBytes } = getTransactionDecoder().decode(blob);
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes) as Message;
    const built = (change: Partial<Message>): Uint8Array => {
      const changed = { ...message, ...change };
      const signers = changed.header.numSignerAccounts;
      const bytes = getCompiledTransactionMessageEncoder().encode(changed);
      return Uint8Array.of(signers, ...new Uint8Array(64 * signers), ...bytes);
    };
    expect(built({})).toEqual(blob);
    /** With the fee payer in the place of an account of an instruction. */
    const withFeePayerIn = (instruction: number, place: number): Partial<Message> => ({
      instructions: message.instructions.map(({ accountIndices = [], ...one }, index) => ({
        ...one,
        accountIndices: index === instruction ? accountIndices.with(place, 0) : accountIndices,
      })),
    });
    const changed = [
      // The rent of the recipient's account, and the amount itself, from the fee payer.
      built(withFeePayerIn(2, 0)),
      built(withFeePayerIn(4, 3)),
      built({ header: { ...message.header, numSignerAccounts: 3 } }),
    ];
    for (const bytes of changed) expect(await checkSolana(bytes, shown(terms), fulfiller)).toMatchObject({ ok: false });
  });

  it.each(['USDC', 'PYUSD'])('refuses everything that tampering changes in %s', async (symbol) => {
    const terms = termsIn(symbol);
    const blob = await blobFor(terms);
    const taken: string[] = [];
    for (const [name, change] of await tamperings(terms, fulfiller)) {
      const checked = await checkSolana(unsigned(signedBy(blob, change)), shown(terms), fulfiller);
      if (checked.ok) taken.push(name);
    }
    expect(taken).toEqual([]);
  });

  it('refuses what only wallets may add', async () => {
    const terms = termsIn('USDC');
    const blob = await blobFor(terms);
    const guards = walletChanges(fulfiller).filter(([name]) => name.includes('guards'));
    expect(guards.length).toBeGreaterThan(2);
    for (const [, change] of guards)
      expect(await checkSolana(unsigned(signedBy(blob, change)), shown(terms), fulfiller)).toMatchObject({ ok: false });
  });

  it('names what is different', async () => {
    const terms = termsIn('USDC');
    const blob = await blobFor(terms);
    const other = termsIn('USDC');
    const differs = async (changes: Partial<typeof terms>, wallet = fulfiller): Promise<unknown> => {
      const checked = await checkSolana(blob, shown({ ...terms, ...changes }), wallet);
      return checked.ok ? [] : checked.differs;
    };
    expect(await differs({ amount: terms.amount + 1n })).toEqual(['amount']);
    expect(await differs({ requestor: other.requestor })).toEqual(['recipient']);
    expect(await differs({ reference: other.reference })).toEqual(['reference']);
    expect(await differs({ tokenAddress: termsIn('PYUSD').tokenAddress })).toContain('token');
    expect(await differs({}, other.requestor)).toContain('payer');
  });

  it('refuses bytes that are truncated, extended or invalid', async () => {
    const terms = termsIn('USDC');
    const blob = await blobFor(terms);
    for (const bytes of [blob.slice(0, -1), Uint8Array.of(...blob, 0), Uint8Array.of(), Uint8Array.of(1)])
      expect(await checkSolana(bytes, shown(terms), payer.publicKey.toBase58())).toMatchObject({
        ok: false,
        differs: ['malformed'],
      });
  });
});
