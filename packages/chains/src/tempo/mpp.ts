import type { Address, PaymentTerms, Reference } from '@pf/domain';
import { id } from 'ethers/hash';
import { parsePayload } from '../mpp.ts';
import type { Complete, MppMethod, Parsed, SignedTransaction, Submitted } from '../port.ts';
import { decodeSigned, signerOf } from './signed-transaction.ts';

/**
 * MPP's clients take no memo from a server. They write one of 32 bytes: a tag, a version, 10 bytes of the hash of the
 * realm, 10 of the client's own, 7 of the hash of the challenge's id.
 */
const TAG_AND_VERSION = `${id('mpp').slice(0, 10)}01`;
const FINGERPRINT_DIGITS = 20;
const NAME_DIGITS = TAG_AND_VERSION.length + FINGERPRINT_DIGITS;

/** Each intent is a realm of its own, so the realm's fingerprint in a memo names the intent. */
const realmOf = ({ reference }: Pick<PaymentTerms, 'reference'>): string => reference;

/** How the memo of an MPP payment begins that names this intent: 15 bytes. */
export const mppNameOf = (terms: Pick<PaymentTerms, 'reference'>): string =>
  `${TAG_AND_VERSION}${id(realmOf(terms)).slice(2, 2 + FINGERPRINT_DIGITS)}`;

/** The same part of a memo; null for a memo that no MPP client wrote. @param memo 32 bytes, lower case */
export const mppNameIn = (memo: Reference): string | null =>
  memo.startsWith(TAG_AND_VERSION) ? memo.slice(0, NAME_DIGITS) : null;

/** The reference that a memo stands for in a payment to these terms: an MPP memo that names them counts as theirs. */
export const referenceIn = (memo: Reference, terms: Pick<PaymentTerms, 'reference'>): Reference =>
  mppNameIn(memo) === mppNameOf(terms) ? terms.reference : memo;

/** Tempo by the Machine Payments Protocol: the client signs a transfer with such a memo, or sends it itself. */
export class TempoMpp implements MppMethod {
  readonly name = 'tempo';
  readonly #parseSubmitted: (text: string) => Parsed<Submitted>;

  constructor(parseSubmitted: (text: string) => Parsed<Submitted>) {
    this.#parseSubmitted = parseSubmitted;
  }

  charge(terms: PaymentTerms): ReturnType<MppMethod['charge']> {
    const { chain, amount, tokenAddress, requestor } = terms;
    return {
      realm: realmOf(terms),
      request: {
        amount: amount.toString(),
        currency: tokenAddress,
        recipient: requestor,
        methodDetails: { chainId: Number(chain.split(':')[1]), supportedModes: ['pull', 'push'] },
      },
    };
  }

  parse(payload: unknown): Parsed<Complete> {
    return parsePayload(payload, ['transaction', 'signature'], ['hash', 'hash'], this.#parseSubmitted);
  }

  senderOf({ raw }: SignedTransaction): Address | null {
    const decoded = decodeSigned(raw);
    return decoded.ok ? signerOf(decoded.value) : null;
  }
}
