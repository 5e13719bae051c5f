import type { Address, ChainId, PaymentTerms, Reference } from '@pf/domain';
import * as SignatureEnvelope from 'ox/tempo/SignatureEnvelope';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import type { Hex } from 'viem';
import { Account } from 'viem/tempo';
import { networkOf, resolveToken, type Token } from '../../src/index.ts';

/** A good payment on Tempo's testnet without any chain: its terms, its payers, and ox's view of its transaction. */
export const CHAIN = 'eip155:42431' as ChainId;
export const network = networkOf(CHAIN);

/** What can sign: a key, a P256 key, a passkey. */
export const payer = Account.fromSecp256k1(`0x${'a1'.repeat(32)}`);
export const p256 = Account.fromP256(`0x${'a2'.repeat(32)}`);
export const passkey = Account.fromHeadlessWebAuthn(`0x${'a3'.repeat(32)}`, {
  rpId: 'wallet.example',
  origin: 'https://wallet.example',
});
export const sponsor = Account.fromSecp256k1(`0x${'a4'.repeat(32)}`);
/** A key that `payer` has lent out. */
export const lent = Account.fromSecp256k1(`0x${'a5'.repeat(32)}`, { access: payer });

export type Signer = Pick<typeof payer, 'sign'>;
export const addressOf = ({ address }: { readonly address: string }): Address => address as Address;

export const tokenOf = (symbol: string): Token => {
  const token = resolveToken(network, symbol);
  if (token === null) throw new Error(`Tempo has no ${symbol}`);
  return token;
};

export const terms: PaymentTerms = {
  chain: CHAIN,
  tokenAddress: tokenOf('USDC').address,
  amount: 12_345_678n,
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' as Address,
  reference: `0x${'5e'.repeat(32)}` as Reference,
};

const word = (hex: string): string => hex.padStart(64, '0');
const to = word(terms.requestor.slice(2).toLowerCase());
export const calldata: Hex = `0x95777d59${to}${word(terms.amount.toString(16))}${terms.reference.slice(2)}`;
export const usdc = terms.tokenAddress as string as Hex;

export type Envelope = TxEnvelopeTempo.TxEnvelopeTempo<false>;
export const good = {
  type: 'tempo',
  chainId: 42_431,
  calls: [{ to: usdc, data: calldata }],
  gas: 300_000n,
  maxFeePerGas: 20_000_000_000n,
  maxPriorityFeePerGas: 1_000_000n,
  feeToken: tokenOf('AlphaUSD').address as string as Hex,
  nonceKey: 2n ** 256n - 1n,
  nonce: 0n,
  validBefore: 1_800_000_000,
} as const satisfies Envelope;

/** The raw bytes of a transaction with this account's signature. */
export async function signed(envelope: Envelope = good, signer: Signer = payer): Promise<Buffer> {
  const signature = SignatureEnvelope.from(await signer.sign({ hash: TxEnvelopeTempo.getSignPayload(envelope) }));
  return Buffer.from(TxEnvelopeTempo.serialize(envelope, { signature }).slice(2), 'hex');
}

/** The same with another account to pay the fee. */
export async function sponsored(
  envelope: Envelope = good,
  signer: Signer & { readonly address: string } = payer,
): Promise<Buffer> {
  const unsigned = { ...envelope, feePayerSignature: null };
  const signature = SignatureEnvelope.from(await signer.sign({ hash: TxEnvelopeTempo.getSignPayload(unsigned) }));
  const approval = SignatureEnvelope.from(
    await sponsor.sign({ hash: TxEnvelopeTempo.getFeePayerSignPayload(unsigned, { sender: signer.address as Hex }) }),
  );
  if (approval.type !== 'secp256k1') throw new Error('sponsors sign with secp256k1');
  const { r, s, yParity } = approval.signature;
  if (yParity === undefined) throw new Error('a signature has a parity');
  return Buffer.from(
    TxEnvelopeTempo.serialize({ ...envelope, feePayerSignature: { r, s, yParity } }, { signature }).slice(2),
    'hex',
  );
}
