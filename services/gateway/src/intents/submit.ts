import {
  type ChainAdapter,
  type Complete,
  type Differences,
  LACKS_FEE_PAYER,
  RpcUnavailableError,
  type SignedTransaction,
  type UnnamedPayment,
  type Verification,
} from '@pf/chains';
import { depositIdOf, OPERATIONS, submitIntentRequest } from '@pf/contracts';
import type { IntentOwner, SignedTransactions } from '@pf/database';
import {
  type Address,
  isPastClaim,
  liveSubmission,
  type PaymentIntent,
  type PreparedTransaction,
  type PublicIntent,
  refusalInProgress,
  refusalUnlessCreated,
  type Submission,
  submissionOf,
  termsOf,
  type TransactionHash,
  view,
} from '@pf/domain';
import { ApiError } from '../api-error.ts';
import { readBody } from '@pf/http';
import type { Holder } from '../api-keys.ts';
import type { Call, Endpoint } from '../endpoint.ts';
import type { Limiter } from '../limits/limiter.ts';
import { refused, rejected, requireAllowed } from '../refusals.ts';
import { cosign, cosignedBefore, type CosigningDependencies, type Handed, sponsorOn } from '../sponsors/cosigning.ts';
import { claimAndBroadcast, type ClaimDependencies } from './claim.ts';
import { requireCleanWallets, type ScreeningDependencies } from './clean-wallets.ts';
import { type Adapters, findRequestedIntent, pathId, payerOf, type RequestedIntent } from './lookup.ts';
import type { Looks } from './looks.ts';

export interface SubmitDependencies extends ClaimDependencies, ScreeningDependencies, CosigningDependencies {
  readonly adapters: Adapters;
  readonly limiter: Pick<Limiter, 'admitSubmit'>;
  readonly looks: Pick<Looks, 'find' | 'judge'>;
  readonly partitions: number;
  readonly signedTransactions: SignedTransactions;
}

/** What can be submitted: also what a sponsor of the account is to sign yet, which has no hash before that. */
type Payable = Complete | ({ readonly kind: 'handed' } & Handed);

/** A submitted transaction and the intent that it is to pay. */
interface SubmitRequest extends RequestedIntent {
  readonly signedTransactions: SignedTransactions;
  readonly submitted: Payable;
  readonly senderOf: SenderOf | undefined;
  readonly cosign: (handed: Handed) => Promise<SignedTransaction>;
  readonly fetchSent: (hash: TransactionHash) => Promise<SignedTransaction>;
  readonly judgeSent: (judge: () => Promise<Verification>) => Promise<Verification>;
}

/** The wallet that a transaction itself names as its payer. */
type SenderOf = (transaction: SignedTransaction) => Address | null;

/** What was submitted to pay an intent, and by whom. */
interface SubmittedPayment {
  readonly requested: RequestedIntent;
  readonly call: Pick<Call, 'holder' | 'request'>;
  readonly submitted: Payable;
  /** Without it, the request or the intent has to name the fulfiller. */
  readonly senderOf?: SenderOf;
}

/** The intent after a submission, and the transaction's hash. */
interface Submitting {
  readonly paid: PublicIntent;
  readonly hash: TransactionHash;
}

/** A verified transaction, for which the intent can be claimed. */
interface Payment {
  readonly prepared: PreparedTransaction;
  readonly signed: SignedTransaction;
  readonly isOut: boolean;
}

/** POST /intents/{id}/submit. */
export const submitIntent = (dependencies: SubmitDependencies): Endpoint => ({
  operation: OPERATIONS.submitIntent,
  async handle({ holder, request, response }) {
    const id = pathId(request, dependencies.partitions);
    const { signedTransaction, fulfiller } = await readBody(request, response, submitIntentRequest);
    const requested = await findRequestedIntent(dependencies, id, holder, fulfiller);
    await dependencies.limiter.admitSubmit(id, holder, request.ip);
    requireUnended(requested.intent);
    const submitted = await payableIn(dependencies, requested, holder, signedTransaction);
    const { paid, hash } = await submitPayment(dependencies, { requested, call: { holder, request }, submitted });
    return { status: 200, body: { intent: paid, txSignature: hash } };
  },
});

/**
 * Refuses, before anything is parsed, an intent that can have no answer but its state: it cannot be paid anymore, and
 * there is nothing that was submitted for it before, which might be repeated.
 */
export function requireUnended(intent: PaymentIntent): void {
  if (intent.submissions.length > 0 || intent.txSignature !== null) return;
  requireAllowed(refusalUnlessCreated(intent, 'it cannot be paid'));
}

/**
 * Judges a transaction by what it does, and makes it the payment of its intent, in the order of
 * docs/reference/contract.md. For a hash that the intent knows and that is past its claim, returns the current intent.
 * Otherwise checks the state, screens, verifies, stores the bytes, claims, broadcasts, records.
 * @throws ApiError where it is refused, or cannot be sent now
 */
export async function submitPayment(
  dependencies: SubmitDependencies,
  { requested, call: { holder, request }, submitted, senderOf }: SubmittedPayment,
): Promise<Submitting> {
  const { intent, adapter } = requested;
  const { id } = intent;
  const { signedTransactions } = dependencies;
  const submit: SubmitRequest = {
    ...requested,
    signedTransactions,
    submitted,
    senderOf,
    cosign: (handed) => cosign(dependencies, handed),
    fetchSent: (hash) => dependencies.looks.find(adapter, { id, hash, holder, ip: request.ip }),
    judgeSent: (judge) => dependencies.looks.judge(holder, judge),
  };
  const hash = submitted.kind === 'handed' ? null : hashOf(submitted);
  const earlier = hash === null ? undefined : submissionOf(intent, hash);
  if (hash !== null && isPastClaim(intent, hash)) {
    if (earlier?.status === 'live' && submitted.kind === 'signed') await broadcastAgain(adapter, submitted.transaction);
    return { paid: view(intent), hash };
  }
  const payment =
    earlier?.status === 'live' && submitted.kind !== 'handed'
      ? await resume({ ...submit, submitted }, earlier)
      : await begin(
          submit,
          (fulfiller) =>
            requireCleanWallets(dependencies, { ...intent, fulfiller }, { holder, what: 'submit', intentId: id }),
          (hash, unnamed) => reportUnnamed(dependencies, holder, intent, hash, unnamed),
        );
  const paid = await claimAndBroadcast(dependencies, { id, owner: holder, adapter, ...payment });
  return { paid, hash: payment.signed.hash };
}

/**
 * Decodes what was submitted. Of what a sponsor is to sign, a repeat gets the transaction that it has signed before.
 * @throws ApiError `transaction.malformed`
 */
async function payableIn(
  dependencies: SubmitDependencies,
  { intent, adapter }: RequestedIntent,
  holder: Holder,
  text: string,
): Promise<Payable> {
  const parsed = adapter.parseSubmitted(text);
  if (!parsed.ok) throw malformed(parsed.problem);
  if (parsed.value.kind !== 'handed') return parsed.value;
  const asked = await sponsorOn(dependencies, adapter, holder);
  if (!asked) throw malformed(LACKS_FEE_PAYER);
  const handed = { bytes: parsed.value.bytes, asked };
  const transaction = await cosignedBefore(dependencies.signedTransactions, intent, handed);
  return transaction ? { kind: 'signed', transaction } : { kind: 'handed', ...handed };
}

const malformed = (problem: string): ApiError =>
  new ApiError('transaction.malformed', { message: `signedTransaction ${problem}.`, param: 'signedTransaction' });

export const hashOf = (submitted: Complete): TransactionHash =>
  submitted.kind === 'signed' ? submitted.transaction.hash : submitted.hash;

/** Verifies a transaction that this intent does not know, or whose claim was released. */
async function begin(
  { adapter, signedTransactions, intent, submitted, named, senderOf, cosign, fetchSent, judgeSent }: SubmitRequest,
  screen: (fulfiller: Address) => Promise<void>,
  report: (hash: TransactionHash, payment: UnnamedPayment) => Promise<Told>,
): Promise<Payment> {
  requireAllowed(refusalUnlessCreated(intent, 'it cannot be paid'));
  const isOut = submitted.kind === 'sent';
  const read = async (fulfiller: Address | null) => {
    switch (submitted.kind) {
      case 'signed':
        return submitted.transaction;
      case 'sent':
        return fetchSent(submitted.hash);
      case 'handed':
        return cosigned(intent, submitted, payerOf(intent, fulfiller), cosign);
      default:
        return submitted satisfies never;
    }
  };
  const early = senderOf && intent.fulfiller === null ? await read(null) : null;
  const fulfiller = payerOf(intent, early && senderOf ? senderOf(early) : named);
  await screen(fulfiller);
  const signed = early ?? (await read(fulfiller));
  const verify = () => adapter.verify(signed, termsOf(intent), fulfiller, isOut);
  const verification = await (isOut ? judgeSent(verify) : verify());
  if (verification.kind === 'mismatch') {
    const { differs, unnamed } = verification;
    const told = unnamed === undefined ? 'nothing' : await report(signed.hash, unnamed);
    if (!isOut) throw differing(differs);
    throw new ApiError('transaction.mismatch', {
      message:
        `Transaction ${signed.hash} differs from this payment intent in ${Object.keys(differs).join(', ')}, so it ` +
        `does not pay the intent. ${TOLD[told]}`,
      details: differs,
    });
  }
  if (verification.kind === 'unseen')
    throw new ApiError('transaction.not_visible', {
      message: 'No node of the chain can show now what this transaction has paid. Retry the request.',
      details: { tx_signature: signed.hash },
    });
  if (verification.kind === 'rejected') throw rejected('transaction', intent.id, verification.reason);
  // Before the claim is in the log, so that every reader of the claim finds the bytes.
  if (verification.hasLanded !== true)
    await signedTransactions.keep({ intentId: intent.id, chain: intent.chain, hash: signed.hash, bytes: signed.raw });
  return { prepared: verification.transaction, signed, isOut };
}

/** What the account was told of a payment that does not name the intent. */
type Told = 'claim' | 'claim_of_another' | 'nothing';
const TOLD: Readonly<Record<Told, string>> = {
  claim: 'It has moved the money without naming the intent, and the account that created the intent was told.',
  claim_of_another:
    'It has moved the money without naming the intent. The account that created the intent was told of it before, ' +
    'for another of its payment intents: ask the requestor before you pay again.',
  nothing: 'If it has moved money, ask the requestor before you pay again.',
};

/** The error for a transaction that was not broadcast. */
const differing = (differs: Differences): ApiError =>
  new ApiError('transaction.mismatch', {
    message:
      `The signed transaction differs from this payment intent in ${Object.keys(differs).join(', ')}. ` +
      'Nothing was broadcast: build it again, and sign it without changes.',
    details: differs,
  });

/**
 * Has the sponsor sign. Nothing but a payment of this intent reaches it, and nothing while another one is under way.
 */
async function cosigned(
  intent: PaymentIntent,
  handed: Handed,
  fulfiller: Address,
  cosign: SubmitRequest['cosign'],
): Promise<SignedTransaction> {
  if (liveSubmission(intent)) throw refused(refusalInProgress(intent));
  const differs = await handed.asked.sponsoring.differences(handed.bytes, termsOf(intent), fulfiller);
  if (Object.keys(differs).length > 0) throw differing(differs);
  return cosign(handed);
}

/**
 * Continues with a transaction for which the intent is claimed but whose broadcast is not recorded: it was verified.
 */
async function resume(
  {
    signedTransactions,
    intent,
    submitted,
    fetchSent,
  }: Omit<SubmitRequest, 'submitted'> & { readonly submitted: Complete },
  { hash, sender, nonce, lifetime, terms }: Submission,
): Promise<Payment> {
  const prepared: PreparedTransaction = { hash, sender, nonce, lifetime, terms };
  if (submitted.kind === 'signed') return { prepared, signed: submitted.transaction, isOut: false };
  const raw = (await signedTransactions.find(intent.chain, [hash])).get(hash);
  return raw
    ? { prepared, signed: { hash, raw }, isOut: false }
    : { prepared, signed: await fetchSent(hash), isOut: true };
}

/** Blocks have their time in whole seconds, and a chain's clock is not ours. */
const CLOCKS_DIFFER_MS = 5_000;

/**
 * Tells the account of a payment without a reference, which no watcher can find: once, for one intent, to which is
 * added for which others it is claimed. Not of one from before the intent, which cannot have been meant for it, nor
 * where the intent has as many reports as it may.
 */
async function reportUnnamed(
  { commands, intents, partitions }: Pick<SubmitDependencies, 'commands' | 'intents' | 'partitions'>,
  owner: IntentOwner,
  { id, chain, createdAt }: PaymentIntent,
  hash: TransactionHash,
  { transfer, at, isConfirmed }: UnnamedPayment,
): Promise<Told> {
  const since = createdAt - CLOCKS_DIFFER_MS;
  if (at < since) return 'nothing';
  if (!isConfirmed) throw new ApiError('transaction.not_visible', { details: { tx_signature: hash } });
  const landing = { hash, transfer };
  const { accountId, livemode } = owner;
  const arrival = { hash, index: transfer.index };
  const deposit = await intents.findDeposit(depositIdOf(accountId, chain, arrival, partitions), owner);
  // Its account has said what it pays: no other payer's word is asked for.
  if (deposit?.state === 'assigned') return 'claim_of_another';
  const reported = await intents.findReported(landing, owner, id, since);
  const data = { landing, ...(reported !== null && { alsoFor: id }) };
  const result = await commands.send({ type: 'report_transfer', intentId: reported ?? id, accountId, livemode, data });
  if (reported !== null) return 'claim_of_another';
  if (result.kind !== 'refused') return 'claim';
  if (result.refusal.code === 'intent.limit_reached') return 'nothing';
  throw refused(result.refusal);
}

/** Harmless, and useful if no node has the transaction. The response does not depend on the nodes. */
async function broadcastAgain(adapter: ChainAdapter, signed: SignedTransaction): Promise<void> {
  try {
    await adapter.broadcast(signed);
  } catch (error) {
    // The watcher also broadcasts it until it lands.
    if (!(error instanceof RpcUnavailableError)) throw error;
  }
}
