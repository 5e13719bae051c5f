import {
  type ChainAdapter,
  RpcUnavailableError,
  type SignedTransaction,
  type Submitted,
  type UnnamedPayment,
} from '@pf/chains';
import { OPERATIONS, submitIntentRequest } from '@pf/contracts';
import type { IntentOwner, SignedTransactions } from '@pf/database';
import {
  type Address,
  isPastClaim,
  type PaymentIntent,
  type PreparedTransaction,
  refusalUnlessCreated,
  type Submission,
  submissionOf,
  termsOf,
  type TransactionHash,
  view,
} from '@pf/domain';
import { ApiError } from '../api-error.ts';
import { readBody } from '@pf/http';
import type { Endpoint } from '../endpoint.ts';
import { requireAllowed } from '../refusals.ts';
import { claimAndBroadcast, type ClaimDependencies } from './claim.ts';
import { requireCleanWallets, type ScreeningDependencies } from './clean-wallets.ts';
import { type Adapters, findRequestedIntent, pathId, payerOf, type RequestedIntent } from './lookup.ts';

interface Dependencies extends ClaimDependencies, ScreeningDependencies {
  readonly adapters: Adapters;
  readonly partitions: number;
  readonly signedTransactions: SignedTransactions;
}

/** A submitted transaction and the intent that it is to pay. */
interface SubmitRequest extends RequestedIntent {
  readonly signedTransactions: SignedTransactions;
  readonly submitted: Submitted;
}

/** A verified transaction, for which the intent can be claimed. */
interface Payment {
  readonly prepared: PreparedTransaction;
  readonly signed: SignedTransaction;
  readonly isOut: boolean;
}

/**
 * POST /intents/{id}/submit, in the order of docs/reference/contract.md: parse and hash. For a hash that the intent
 * knows and that is past its claim, return the current intent. Otherwise check the state, screen, verify, store the
 * bytes, claim, broadcast, record.
 */
export const submitIntent = (dependencies: Dependencies): Endpoint => ({
  operation: OPERATIONS.submitIntent,
  async handle({ holder, request, response }) {
    const id = pathId(request, dependencies.partitions);
    const { signedTransaction, fulfiller } = await readBody(request, response, submitIntentRequest);
    const requested = await findRequestedIntent(dependencies, id, holder, fulfiller);
    const { intent, adapter } = requested;
    const submitted = parseSubmitted(adapter, signedTransaction);
    const submit: SubmitRequest = { ...requested, signedTransactions: dependencies.signedTransactions, submitted };

    const hash = hashOf(submitted);
    const earlier = submissionOf(intent, hash);
    if (isPastClaim(intent, hash)) {
      if (earlier?.status === 'live' && submitted.kind === 'signed')
        await broadcastAgain(adapter, submitted.transaction);
      return { status: 200, body: { intent: view(intent), txSignature: hash } };
    }
    const payment =
      earlier?.status === 'live'
        ? await resume(submit, earlier)
        : await begin(
            submit,
            (fulfiller) =>
              requireCleanWallets(dependencies, { ...intent, fulfiller }, { holder, what: 'submit', intentId: id }),
            (hash, unnamed) => reportUnnamed(dependencies, holder, intent, hash, unnamed),
          );
    return {
      status: 200,
      body: {
        intent: await claimAndBroadcast(dependencies, { id, owner: holder, adapter, ...payment }),
        txSignature: hash,
      },
    };
  },
});

function parseSubmitted(adapter: ChainAdapter, text: string): Submitted {
  const parsed = adapter.parseSubmitted(text);
  if (!parsed.ok)
    throw new ApiError('transaction.malformed', {
      message: `signedTransaction ${parsed.problem}.`,
      param: 'signedTransaction',
    });
  return parsed.value;
}

const hashOf = (submitted: Submitted): TransactionHash =>
  submitted.kind === 'signed' ? submitted.transaction.hash : submitted.hash;

/** Verifies a transaction that this intent does not know, or whose claim was released. */
async function begin(
  { adapter, signedTransactions, intent, submitted, named }: SubmitRequest,
  screen: (fulfiller: Address) => Promise<void>,
  report: (hash: TransactionHash, payment: UnnamedPayment) => Promise<boolean>,
): Promise<Payment> {
  requireAllowed(refusalUnlessCreated(intent, 'it cannot be paid'));
  const fulfiller = payerOf(intent, named);
  await screen(fulfiller);
  const isOut = submitted.kind === 'sent';
  const signed = isOut ? await fetchSent(adapter, submitted.hash) : submitted.transaction;
  const verification = await adapter.verify(signed, termsOf(intent), fulfiller, isOut);
  if (verification.kind === 'mismatch') {
    const { differs, unnamed } = verification;
    const isReported = unnamed !== undefined && (await report(signed.hash, unnamed));
    const names = Object.keys(differs).join(', ');
    throw new ApiError('transaction.mismatch', {
      message: isOut
        ? `Transaction ${signed.hash} differs from this payment intent in ${names}, so it does not pay the intent. ` +
          (isReported
            ? 'It has moved the money without naming the intent, and the account that created the intent was told.'
            : 'If it has moved money, ask the requestor before you pay again.')
        : `The signed transaction differs from this payment intent in ${names}. ` +
          'Nothing was broadcast: build it again, and sign it without changes.',
      details: differs,
    });
  }
  if (verification.kind === 'rejected') {
    const { reason } = verification;
    throw new ApiError('transaction.rejected', {
      message: `The chain would reject this transaction: ${reason}.`,
      details: { intent_id: intent.id, reason },
    });
  }
  // Before the claim is in the log, so that every reader of the claim finds the bytes.
  await signedTransactions.keep({ intentId: intent.id, chain: intent.chain, hash: signed.hash, bytes: signed.raw });
  return { prepared: verification.transaction, signed, isOut };
}

/**
 * Continues with a transaction for which the intent is claimed but whose broadcast is not recorded: it was verified.
 */
async function resume(
  { adapter, signedTransactions, intent, submitted }: SubmitRequest,
  { hash, sender, nonce, lifetime, terms }: Submission,
): Promise<Payment> {
  const prepared: PreparedTransaction = { hash, sender, nonce, lifetime, terms };
  if (submitted.kind === 'signed') return { prepared, signed: submitted.transaction, isOut: false };
  const raw = (await signedTransactions.find(intent.chain, [hash])).get(hash);
  return raw
    ? { prepared, signed: { hash, raw }, isOut: false }
    : { prepared, signed: await fetchSent(adapter, hash), isOut: true };
}

/** Blocks have their time in whole seconds, and a chain's clock is not ours. */
const CLOCKS_DIFFER_MS = 5_000;

/**
 * Tells the account of a payment without a reference, which no watcher can find.
 * @returns false for one from before the intent, which cannot have been meant for it
 */
async function reportUnnamed(
  { commands }: Pick<Dependencies, 'commands'>,
  { accountId, livemode }: IntentOwner,
  { id, createdAt }: PaymentIntent,
  hash: TransactionHash,
  { transfer, at, isConfirmed }: UnnamedPayment,
): Promise<boolean> {
  if (at < createdAt - CLOCKS_DIFFER_MS) return false;
  if (!isConfirmed) throw new ApiError('transaction.not_visible', { details: { tx_signature: hash } });
  const data = { landing: { hash, transfer } };
  await commands.require({ type: 'report_transfer', intentId: id, accountId, livemode, data });
  return true;
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

async function fetchSent(adapter: ChainAdapter, hash: TransactionHash): Promise<SignedTransaction> {
  const sent = await adapter.fetchSent(hash);
  if (!sent) throw new ApiError('transaction.not_visible', { details: { tx_signature: hash } });
  return sent;
}
