import { type Address, formatAmount, type PaymentTerms } from '@pf/domain';
import type { ServiceCall } from '@pf/rpc';
import { z } from 'zod';
import type { Differences, SignedTransaction, Sponsoring } from '../port.ts';
import {
  decode,
  decodeSigned,
  feePayerOf,
  handedTo,
  sentBySender,
  signerOf,
  type TempoTransaction,
} from './signed-transaction.ts';
import { FEE_DECIMALS, feeOf } from './fees.ts';
import { differences } from './verify.ts';

/**
 * The most that a payer may have a sponsor pay: a tenth of a dollar. Whoever signs chooses gas and fee, and here it is
 * not the payer's money.
 */
const FEE_MAX = 100_000n;
const shown = (fee: bigint): string => `${formatAmount(fee, FEE_DECIMALS)} of the fee token`;

/** Sponsors of Tempo, by the call of its fee payer services and relays that signs, and sends nothing. */
export class TempoSponsoring implements Sponsoring {
  /** The payer does not sign for who pays the fee. */
  readonly feePayerCall = null;

  differences(handed: Uint8Array, terms: PaymentTerms, fulfiller: Address): Promise<Differences> {
    const transaction = requireHanded(handed);
    const fee = feeOf(transaction.gas ?? 0n, transaction.maxFeePerGas ?? 0n);
    return Promise.resolve({
      ...differences(transaction, terms, fulfiller),
      ...(fee > FEE_MAX && { fee: { expected: `at most ${shown(FEE_MAX)}`, actual: shown(fee) } }),
    });
  }

  signCall(handed: Uint8Array): ServiceCall<string> {
    return {
      method: 'eth_signRawTransaction',
      params: [handedTo(requireHanded(handed))],
      result: z.string(),
    };
  }

  /** Only the fee token and a signature for it were added: the payer has signed everything else. */
  isSigned(handed: Uint8Array, { raw }: SignedTransaction): Promise<boolean> {
    const [before, after] = [requireHanded(handed), decodeSigned(raw)];
    if (!after.ok || sentBySender(before) !== sentBySender(after.value)) return Promise.resolve(false);
    // Without such a signature the payer would pay the fee.
    if (after.value.feePayerSignature === undefined) return Promise.resolve(false);
    const sender = signerOf(after.value);
    return Promise.resolve(sender !== null && feePayerOf(after.value, sender) !== null);
  }
}

function requireHanded(raw: Uint8Array): TempoTransaction {
  const decoded = decode(raw);
  if (!decoded.ok) throw new Error(`these bytes are not what was handed over: one that ${decoded.problem}`);
  return decoded.value;
}
