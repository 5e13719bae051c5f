import type { TransactionHash } from '@pf/domain';
import { describe, expect, it } from '@jest/globals';
import type { Address as SolanaAddress, Blockhash } from '@solana/kit';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import { handedIn, SolanaSponsoring } from '../../src/solana/sponsoring.ts';
import { randomAddress } from '../../src/solana/address.ts';
import { accountsOf, compilePayment } from '../../src/solana/payment.ts';
import { blobFor, fulfiller, signedBy, termsIn } from './payments.ts';

const sponsoring = new SolanaSponsoring();
const sponsor = Keypair.fromSeed(Uint8Array.from({ length: 32 }, () => 0xb2));
const terms = termsIn('USDC');
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const handedOver = async (): Promise<Uint8Array> => signedBy(await blobFor(terms, false, sponsor.publicKey.toBase58()));
/** What a sponsor makes of it. */
function returned(handed: Uint8Array, make: (transaction: VersionedTransaction) => void = () => undefined) {
  const transaction = VersionedTransaction.deserialize(handed);
  const [, ofPayer = new Uint8Array()] = transaction.signatures;
  make(transaction);
  transaction.sign([sponsor]);
  transaction.signatures[1] = ofPayer;
  return { hash: '' as TransactionHash, raw: transaction.serialize() };
}

describe('what a sponsor of Solana is handed', () => {
  it('is a transaction that its payer has signed, and its fee payer has not', async () => {
    const handed = await handedOver();
    expect(handedIn(handed)).not.toBeNull();
    const unsigned = await blobFor(terms, false, sponsor.publicKey.toBase58());
    const own = signedBy(await blobFor(terms, false));
    for (const other of [unsigned, own, returned(handed).raw, handed.subarray(1), new Uint8Array()])
      expect(handedIn(other)).toBeNull();
  });

  it('is compared with the intent, but for the signature that is missing', async () => {
    const handed = await handedOver();
    expect(await sponsoring.differences(handed, terms, fulfiller)).toEqual({});
    const another = { ...terms, amount: terms.amount + 1n };
    expect(await sponsoring.differences(handed, another, fulfiller)).toHaveProperty('amount');
    const forged = VersionedTransaction.deserialize(handed);
    forged.signatures[1] = Uint8Array.from({ length: 64 }, () => 1);
    expect(await sponsoring.differences(forged.serialize(), terms, fulfiller)).toHaveProperty('signature');
    // As the one who pays for a token account, the sponsor would be in an instruction.
    const involved = signedBy(await blobFor(terms, false, terms.requestor));
    expect(await sponsoring.differences(involved, { ...terms, requestor: randomAddress() }, fulfiller)).toHaveProperty(
      'recipient',
    );
  });

  it('costs the sponsor no more than twice what a build does', async () => {
    const accounts = await accountsOf(terms, fulfiller);
    const at = (unitPrice: bigint) =>
      signedBy(
        compilePayment(terms, accounts, {
          feePayer: sponsor.publicKey.toBase58() as SolanaAddress,
          createsAccount: false,
          unitLimit: 100_000,
          unitPrice,
          blockhash: randomAddress() as string as Blockhash,
          lastValidBlockHeight: 1n,
        }).raw,
      );
    expect(await sponsoring.differences(at(4_900_000n), terms, fulfiller)).toEqual({});
    expect(await sponsoring.differences(at(4_900_010n), terms, fulfiller)).toEqual({
      fee: { expected: 'at most 500000 lamports', actual: '500001 lamports' },
    });
  });

  it('is asked for by signTransaction, which sends nothing', async () => {
    const handed = await handedOver();
    const { method, params } = sponsoring.signCall(handed);
    expect([method, params]).toEqual([
      'signTransaction',
      { transaction: base64(handed), signer_key: sponsor.publicKey.toBase58(), sig_verify: false },
    ]);
  });
});

describe('what a sponsor of Solana returns', () => {
  it('is the same message with its signature, and nothing else', async () => {
    const handed = await handedOver();
    expect(await sponsoring.isSigned(handed, returned(handed))).toBe(true);
    const altered = returned(handed, ({ message }) => {
      message.recentBlockhash = randomAddress();
    });
    const garbled = returned(handed);
    const [first = 0] = garbled.raw.subarray(1, 2);
    const wronglySigned = { ...garbled, raw: garbled.raw.with(1, first ^ 1) };
    const signedAgain = VersionedTransaction.deserialize(garbled.raw);
    signedAgain.signatures[1] = Uint8Array.from({ length: 64 }, () => 1);
    const stripped = { ...garbled, raw: signedAgain.serialize() };
    for (const other of [altered, wronglySigned, stripped, { ...garbled, raw: handed }])
      expect(await sponsoring.isSigned(handed, other)).toBe(false);
  });
});
