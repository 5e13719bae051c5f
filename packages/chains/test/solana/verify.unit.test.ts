import { describe, expect, it } from '@jest/globals';
import type { PaymentTerms } from '@pf/domain';
import { Keypair, TransactionInstruction, VersionedTransaction } from '@solana/web3.js';
import fc from 'fast-check';
import type { Differences } from '../../src/index.ts';
import { randomAddress } from '../../src/solana/address.ts';
import { decodeSigned } from '../../src/solana/signed-transaction.ts';
import { differences } from '../../src/solana/verify.ts';
import { type Change, changed, guard, type Rewrite, tamperings, walletChanges } from './changes.ts';
import { blobFor, fulfiller, payer, signedBy, termsIn } from './payments.ts';

const isTransfer = ({ data, keys }: TransactionInstruction): boolean => data[0] === 12 && keys.length >= 4;

async function differ(raw: Uint8Array, terms: PaymentTerms): Promise<Differences> {
  const decoded = decodeSigned(raw);
  if (!decoded.ok) throw new Error(decoded.problem);
  return differences(decoded.value, terms, fulfiller);
}

describe.each(['USDC', 'PYUSD'])('Solana verify of %s', (symbol) => {
  const terms = termsIn(symbol);
  const differsWith = async (change: Change | Rewrite | null, createsAccount = true): Promise<Differences> =>
    differ(signedBy(await blobFor(terms, createsAccount), change), terms);

  it('accepts a built transaction, with and without a new token account', async () => {
    expect(await differsWith(null, true)).toEqual({});
    expect(await differsWith(null, false)).toEqual({});
  });

  it.each(walletChanges(fulfiller))('accepts %s', async (_what, change) => {
    expect(await differsWith(change)).toEqual({});
  });

  it('accepts a blockhash that the wallet has refreshed', async () => {
    const fresh = randomAddress();
    const transaction = VersionedTransaction.deserialize(await blobFor(terms));
    transaction.message.recentBlockhash = fresh;
    transaction.sign([payer]);
    const decoded = decodeSigned(transaction.serialize());
    if (!decoded.ok) throw new Error(decoded.problem);
    expect(decoded.value.blockhash).toBe(fresh);
    expect(await differences(decoded.value, terms, fulfiller)).toEqual({});
  });

  it('names each field that differs, whatever it is changed to', async () => {
    const tried = await tamperings(terms, fulfiller);
    for (const [what, change] of tried) expect({ what, ...(await differsWith(change)) }).toHaveProperty([what]);
    expect(tried.length).toBeGreaterThan(30);
  });

  it('accepts the memo alone as the reference, before or after the transfer, as MPP clients pay', async () => {
    const alone: Change = (instructions) =>
      instructions.map((one) =>
        isTransfer(one) ? new TransactionInstruction({ ...one, keys: one.keys.slice(0, 4) }) : one,
      );
    expect(await differsWith(alone, false)).toEqual({});
    const memoLast: Change = (instructions, by) => {
      const changed = alone(instructions, by);
      return [...changed.slice(0, 2), ...changed.slice(3), ...changed.slice(2, 3)];
    };
    expect(await differsWith(memoLast, false)).toEqual({});
    const without: Change = (instructions, by) => alone(instructions, by).filter((_one, place) => place !== 2);
    expect(Object.keys(await differsWith(without, false))).toEqual(['memo']);
    const another = { ...terms, reference: termsIn(symbol).reference };
    expect(Object.keys(await differ(signedBy(await blobFor(terms, false), alone), another))).toEqual(['memo']);
  });

  it('refuses a payment for the terms of another intent', async () => {
    const raw = signedBy(await blobFor(terms));
    const other = termsIn(symbol);
    expect(Object.keys(await differ(raw, { ...terms, reference: other.reference }))).toEqual(['memo', 'reference']);
    expect(Object.keys(await differ(raw, { ...terms, requestor: other.requestor }))).toEqual([
      'token_account',
      'recipient',
    ]);
    expect(await differ(raw, { ...terms, amount: terms.amount + 1n })).toEqual({
      amount: { expected: '12345679', actual: '12345678' },
    });
  });

  it('refuses reordered, missing and repeated instructions', async () => {
    const places = [2, 3, 4];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...places), { minLength: 0, maxLength: 5 }), async (order) => {
        const isBuilt = order.join() === '2,3,4' || order.join() === '3,4';
        const differs = await differsWith((instructions) => [
          ...instructions.slice(0, 2),
          ...order.flatMap((place) => instructions[place] ?? []),
        ]);
        expect(Object.keys(differs).length === 0).toBe(isBuilt);
      }),
      { numRuns: 60 },
    );
  });
});

describe('Solana verify › signer', () => {
  const terms = termsIn('USDC');

  it('must be the fulfiller, with a signature of this message', async () => {
    const raw = signedBy(await blobFor(terms));
    const forged = raw.with(5, (raw[5] ?? 0) ^ 1);
    expect(Object.keys(await differ(forged, terms))).toEqual(['signature']);
    // Another transaction's signature by the same payer.
    const other = signedBy(await blobFor(termsIn('USDC')));
    expect(Object.keys(await differ(Uint8Array.from([...other.subarray(0, 65), ...raw.subarray(65)]), terms))).toEqual([
      'signature',
    ]);
  });

  it('must not be another wallet, even one that pays the same', async () => {
    const stranger = Keypair.generate();
    const decoded = decodeSigned(signedBy(await blobFor(terms)));
    if (!decoded.ok) throw new Error(decoded.problem);
    expect(await differences(decoded.value, terms, stranger.publicKey.toBase58() as typeof fulfiller)).toMatchObject({
      sender: { expected: stranger.publicKey.toBase58(), actual: fulfiller },
    });
  });
});

describe('Solana verify of a sponsored payment', () => {
  const terms = termsIn('USDC');
  const sponsor = Keypair.generate();
  const feePayer = sponsor.publicKey;
  const sponsored = async (change: Change | null = null, by: readonly Keypair[] = [payer, sponsor]) => {
    const built = VersionedTransaction.deserialize(await blobFor(terms, true, feePayer.toBase58()));
    const transaction = change === null ? built : changed(change)(built);
    transaction.sign([...by]);
    return transaction;
  };
  const differsIn = async (transaction: VersionedTransaction): Promise<Differences> =>
    differ(transaction.serialize(), terms);

  it('accepts the signatures of the payer and of any fee payer', async () => {
    const transaction = await sponsored();
    expect(transaction.message.header.numRequiredSignatures).toBe(2);
    expect(await differsIn(transaction)).toEqual({});
  });

  it('is not a transaction before its fee payer has signed', async () => {
    expect(decodeSigned((await sponsored(null, [payer])).serialize())).toMatchObject({
      ok: false,
      problem: 'lacks the signature of its fee payer',
    });
  });

  it('refuses a message that the fee payer has changed under the payer’s signature', async () => {
    const transaction = await sponsored();
    const [, ofPayer] = transaction.signatures;
    transaction.message.recentBlockhash = randomAddress();
    transaction.sign([sponsor]);
    transaction.signatures = transaction.signatures.map((made, place) => (place === 1 ? (ofPayer ?? made) : made));
    expect(await differsIn(transaction)).toMatchObject({ signature: {} });
  });

  it('refuses a signature that is not the fee payer’s', async () => {
    const transaction = await sponsored();
    transaction.signatures[0] = new Uint8Array(64).fill(7);
    expect(await differsIn(transaction)).toEqual({ feePayer: { expected: 'a valid signature', actual: null } });
  });

  it('refuses a fee payer in the accounts of an instruction, also as payer of the token account', async () => {
    const rent: Change = (instructions) =>
      instructions.map((one) =>
        one.keys.length === 6
          ? new TransactionInstruction({
              ...one,
              keys: one.keys.map((key, place) => (place === 0 ? { ...key, pubkey: feePayer } : key)),
            })
          : one,
      );
    const named: Change = (instructions) =>
      instructions.map((one) =>
        isTransfer(one)
          ? new TransactionInstruction({
              ...one,
              keys: [...one.keys, { pubkey: feePayer, isSigner: false, isWritable: false }],
            })
          : one,
      );
    expect(await differsIn(await sponsored(rent))).toMatchObject({
      feePayer: { expected: 'in no instruction', actual: 'account' },
      token_account: {},
    });
    expect(await differsIn(await sponsored(named))).toMatchObject({
      feePayer: { expected: 'in no instruction', actual: 'transfer' },
    });
  });

  it('accepts guards that assert the balance of the fee payer, as Phantom adds them', async () => {
    const guards: Change = (instructions) => [
      ...[4, 5, 6].map((discriminator) => guard(feePayer, discriminator)),
      ...instructions,
      guard(feePayer, 5),
    ];
    expect(await differsIn(await sponsored(guards))).toEqual({});
  });

  it('refuses a fee payer in any other instruction of the guards’ program', async () => {
    for (const kind of [0, 1, 2, 3, 7, 16, 17, 18]) {
      const named: Change = (instructions) => [...instructions, guard(feePayer, kind)];
      const differs = await differsIn(await sponsored(named));
      expect([kind, differs['feePayer']?.expected]).toEqual([kind, 'in no instruction']);
    }
  });

  it('refuses a third signer, and another payer behind the fee payer', async () => {
    const third = Keypair.generate();
    const memo: Change = (instructions) =>
      instructions.map((one) =>
        one.keys.length === 0 && one.programId.toBase58().startsWith('Memo')
          ? new TransactionInstruction({
              ...one,
              keys: [{ pubkey: third.publicKey, isSigner: true, isWritable: false }],
            })
          : one,
      );
    expect(await differsIn(await sponsored(memo, [payer, sponsor, third]))).toMatchObject({ memo: {} });
    const decoded = decodeSigned((await sponsored()).serialize());
    if (!decoded.ok) throw new Error(decoded.problem);
    const another = Keypair.generate().publicKey.toBase58() as typeof fulfiller;
    expect(await differences(decoded.value, terms, another)).toMatchObject({ sender: {}, signers: {} });
  });
});
