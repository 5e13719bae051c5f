import { type ChainAdapter, LACKS_FEE_PAYER, type SignedTransaction, type Sponsoring } from '@pf/chains';
import type { SignedTransactions, Sponsor } from '@pf/database';
import type { AccountId, Address, ChainId, PaymentIntent } from '@pf/domain';
import type { Holder } from '../api-keys.ts';
import type { Asking, SponsorCalls } from './sponsor-calls.ts';

/** The sponsor that an account has set for a chain; null if there is none. */
export type FindSponsor = (accountId: AccountId, chain: ChainId) => Promise<Sponsor | null>;

export interface CosigningDependencies {
  readonly findSponsor: FindSponsor;
  readonly sponsorCalls: Pick<SponsorCalls, 'ask' | 'refused'>;
}

/** What an account's sponsor is asked with on one chain. */
export interface AskedSponsor extends Asking {
  readonly sponsor: Sponsor;
  readonly adapter: ChainAdapter;
  readonly sponsoring: Sponsoring;
}

/** A transaction that its fulfiller has signed, and the sponsor that is to sign for its fee. */
export interface Handed {
  readonly bytes: Uint8Array;
  readonly asked: AskedSponsor;
}

/** The sponsor that the holder's account has set for the chain; null if there is none. */
export async function sponsorOn(
  { findSponsor }: Pick<CosigningDependencies, 'findSponsor'>,
  adapter: ChainAdapter,
  holder: Holder,
): Promise<AskedSponsor | null> {
  const { network, sponsoring } = adapter;
  if (!sponsoring) return null;
  const sponsor = await findSponsor(holder.accountId, network.chain);
  return sponsor ? { sponsor, adapter, sponsoring, network, holder } : null;
}

/** Whether the holder's account has set a paymaster for the chain. */
export async function hasPaymaster(
  { findSponsor }: Pick<CosigningDependencies, 'findSponsor'>,
  { network, paymasters }: ChainAdapter,
  { accountId }: Holder,
): Promise<boolean> {
  return paymasters !== null && (await findSponsor(accountId, network.chain)) !== null;
}

/**
 * The account that is to pay the fee, as the sponsor says; null where the payer does not sign for it.
 * @throws ApiError 422 `sponsor.refused`, 503 `sponsor.unavailable`
 */
export async function askFeePayer(
  { sponsorCalls }: CosigningDependencies,
  asked: AskedSponsor,
): Promise<Address | null> {
  const { feePayerCall } = asked.sponsoring;
  if (feePayerCall === null) return null;
  return sponsorCalls.ask(asked, feePayerCall, (text) => {
    const parsed = asked.adapter.parseAddress(text);
    if (!parsed.ok) throw sponsorCalls.refused(asked, `the address that it named ${parsed.problem}`);
    return parsed.value;
  });
}

/**
 * The transaction of a submission of this intent that the sponsor has made of what was handed over, if there is one:
 * then a repeat need not ask the sponsor again, which may sign with another signature.
 */
export async function cosignedBefore(
  signedTransactions: SignedTransactions,
  { chain, submissions }: PaymentIntent,
  { bytes, asked }: Handed,
): Promise<SignedTransaction | null> {
  const kept = await signedTransactions.find(
    chain,
    submissions.map(({ hash }) => hash),
  );
  for (const [hash, raw] of kept) {
    const signed = { hash, raw };
    if (await asked.sponsoring.isSigned(bytes, signed)) return signed;
  }
  return null;
}

/**
 * Asks the sponsor to sign for the fee of a transaction, which is known to pay its intent. What it returns is that
 * transaction with its signature, or nothing.
 * @throws ApiError 422 `sponsor.refused`, 503 `sponsor.unavailable`
 */
export async function cosign(
  { sponsorCalls }: CosigningDependencies,
  { bytes, asked }: Handed,
): Promise<SignedTransaction> {
  const { adapter, sponsoring } = asked;
  return sponsorCalls.ask(asked, sponsoring.signCall(bytes), async (text) => {
    const parsed = adapter.parseSubmitted(text);
    if (!parsed.ok) throw sponsorCalls.refused(asked, `what it returned ${parsed.problem}`);
    if (parsed.value.kind === 'handed') throw sponsorCalls.refused(asked, `what it returned ${LACKS_FEE_PAYER}`);
    if (parsed.value.kind === 'sent')
      throw sponsorCalls.refused(asked, 'it returned the hash of a transaction in place of a signed one');
    const { transaction } = parsed.value;
    if (!(await sponsoring.isSigned(bytes, transaction)))
      throw sponsorCalls.refused(asked, 'it returned another transaction than the payer has signed, or signed wrongly');
    return transaction;
  });
}
