import type { Address, PaymentTerms } from '@pf/domain';
import type { ServiceCall } from '@pf/rpc';
import { z } from 'zod';
import type { Differences, SignedTransaction, Sponsoring } from '../port.ts';
import { decode, type DecodedTransaction, decodeSigned, isSignedBy } from './signed-transaction.ts';
import { differences } from './verify.ts';

const payerSigner = z.object({ signer_address: z.string() }).transform((result) => result.signer_address);
const signedByKora = z.object({ signed_transaction: z.string() }).transform((result) => result.signed_transaction);

/** Sponsors of Solana, by the JSON-RPC of Kora. They are asked to sign only: what is broadcast was checked here. */
export class SolanaSponsoring implements Sponsoring {
  readonly feePayerCall: ServiceCall<string> = { method: 'getPayerSigner', result: payerSigner };

  async differences(handed: Uint8Array, terms: PaymentTerms, fulfiller: Address): Promise<Differences> {
    return differences(requireHanded(handed), terms, fulfiller, 'later');
  }

  signCall(handed: Uint8Array): ServiceCall<string> {
    const [feePayer] = requireHanded(handed).accounts;
    return {
      method: 'signTransaction',
      // Its own signature is still missing, so it must not verify them all.
      params: { transaction: Buffer.from(handed).toString('base64'), signer_key: feePayer, sig_verify: false },
      result: signedByKora,
    };
  }

  /** The message is the same, and so is the payer's signature: a signature of the fee payer is all that was added. */
  async isSigned(handed: Uint8Array, { raw }: SignedTransaction): Promise<boolean> {
    const [before, after] = [requireHanded(handed), decodeSigned(raw)];
    if (!after.ok || !same(before.message, after.value.message)) return false;
    const [feePayer, payer] = before.accounts;
    if (feePayer === undefined || payer === undefined) return false;
    return same(before.signatures[payer], after.value.signatures[payer]) && (await isSignedBy(after.value, feePayer));
  }
}

/** A transaction of two signers that the second has signed, and the first, who pays the fee, has not. */
export function handedIn(raw: Uint8Array): DecodedTransaction | null {
  const decoded = decode(raw);
  if (!decoded.ok || decoded.value.signers !== 2) return null;
  const { accounts, signatures } = decoded.value;
  const [first, second] = accounts.map((account) => signatures[account] ?? null);
  return first === null && second !== null ? decoded.value : null;
}

function requireHanded(raw: Uint8Array): DecodedTransaction {
  const handed = handedIn(raw);
  if (handed === null) throw new Error('these bytes are not what was handed over');
  return handed;
}

const same = (one: Uint8Array | null | undefined, other: Uint8Array | null | undefined): boolean =>
  one !== null && one !== undefined && other !== null && other !== undefined && Buffer.from(one).equals(other);
